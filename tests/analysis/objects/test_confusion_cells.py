"""What a cell of a confusion matrix counts: cases of a classification, pixels of a segmentation."""

from pathlib import Path

import pytest

from metrics.analysis import confused
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.page_scenes import masks_run

BY = "classification_text"
NONE = "(none)"
ANSWERS = (("no", "Yes"), ("yes", " no "), ("no", "NO"), ("yes", "perhaps"), ("no", ""), ("yes", "no"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows(
        "answers",
        "text",
        [{"case_id": f"c{place}", "expected_answers": [one]} for place, (one, _) in enumerate(ANSWERS)],
    )
    outputs = [{"case_id": f"c{place}", "model": "m", "answer": answer} for place, (_, answer) in enumerate(ANSWERS)]
    return finished(
        Workspace(tmp_path_factory.mktemp("answers")), suite, Outputs.from_rows(outputs), BY,
        parameters={BY: {"casefold": True}},
    )  # fmt: skip


@pytest.mark.parametrize(("labels", "predicted", "cases"), [
    pytest.param(["yes"], ["no"], ["c1", "c5"], id="wrong"),
    pytest.param(["no"], ["no"], ["c2"], id="right"),
    pytest.param(["yes"], [NONE], ["c3"], id="no-label-of-the-suite"),
    pytest.param(["yes", "no"], ["yes", "no"], ["c0", "c1", "c2", "c5"], id="several-cells"),
    pytest.param(["yes"], ["yes"], [], id="nothing"),
])  # fmt: skip
def test_cases_of_a_cell(answers: Run, labels: list[str], predicted: list[str], cases: list[str]) -> None:
    found = confused(answers, BY, ("m", 1), labels, predicted)
    assert (found.rows["case_id"].tolist(), found.total) == (cases, len(cases))
    assert confused(answers, BY, ("m", 2), labels, predicted).total == 0, "there is no second repeat"


def test_pixels_of_a_cell(tmp_path: Path) -> None:
    """`late` takes 1,600 pixels of sky for road, in picture p0 for water, and there all the road too."""
    run = masks_run(tmp_path)

    def cell(truth: str, predicted: str) -> list[tuple[str, int]]:
        found = confused(run, "segmentation_iou", ("late", 1), [truth], [predicted])
        assert found.total == len(found.rows)
        return list(found.rows.itertuples(index=False, name=None))

    assert cell("sky", "road") == [("p1", 1600), ("p2", 1600), ("p3", 1600)]
    assert (cell("road", "water"), cell("water", "road")) == ([("p0", 4800)], [])
