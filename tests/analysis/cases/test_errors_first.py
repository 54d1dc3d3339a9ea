"""Images are listed by their errors where a metric has no value per case, and it is said what counts as one."""

from pathlib import Path

import pytest

from metrics.analysis.cases.case_pages import error_words
from metrics.analysis.cases.case_table import case_table
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

SHOWN = {"both": {"a": 1, "b": 1}, "most": {"a": 0, "b": 3}, "tie": {"a": 2, "b": 1}, "none": {"a": 0, "b": 0}}


@pytest.fixture
def run(workspace: Path) -> Run:
    """Images with three objects, of which each model misses as many as SHOWN says; a false box of each scores 0.1."""
    cases = [{"case_id": case, "image_width": 640, "image_height": 480} for case in SHOWN]
    truths, outputs, predictions = [], [], []
    for case, missed in SHOWN.items():
        boxes = [
            {"case_id": case, "label": "cat", "x": 90.0 * x, "y": 9.0, "width": 50.0, "height": 50.0} for x in range(3)
        ]
        truths += [box | {"area": 2500.0} for box in boxes]
        outputs += [{"case_id": case, "model": model} for model in "ab"]
        for model, count in missed.items():
            predictions += [box | {"model": model, "score": 0.9} for box in boxes[count:]]
            predictions.append(boxes[0] | {"y": 300.0, "model": model, "score": 0.1})
    truths = [row | {"annotation_id": place} for place, row in enumerate(truths, 1)]
    suite = Suite.from_rows("cats", "detection", cases, truths)
    return finished(Workspace(), suite, Outputs.from_rows(outputs, predictions), "coco_summary")


def test_the_order_is_that_of_the_errors_shown(run: Run) -> None:
    """Law: the mean of the errors shown in a row never rises, and they count from the score that is said on."""
    table = case_table(run, "coco_summary", "AP")
    places = [row["position"] for row in table.cases]
    shown = [[int(table.cells[place, model]["value"]) for model in "ab"] for place in places]
    assert shown == [[2, 1], [0, 3], [1, 1], [0, 0]]
    assert error_words(run, "coco_summary", "AP") == "errors (score ≥ 0.11, IoU ≥ 0.5)"


def test_a_metric_with_values_is_ordered_by_them(workspace: Path) -> None:
    suite = Suite.from_rows("t", "text", [{"case_id": "c", "question": "q", "expected_answers": ["yes"]}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m", "answer": "no"}])
    assert error_words(finished(Workspace(), suite, outputs, "rouge"), "rouge", "rougeL") is None
