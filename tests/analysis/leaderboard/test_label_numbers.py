"""Curves and numbers per class, with a name for each line."""

from pathlib import Path

import pytest

from metrics.analysis import curve_columns, curves, label_metrics, label_numbers
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

BY = "classification_text"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four mails, two spam; `twice` answers two times and is wrong once in the second, `once` is right."""
    truth = ("spam", "ham", "spam", "ham")
    cases = [{"case_id": f"c{place}", "expected_answers": [one]} for place, one in enumerate(truth)]
    outputs = [
        {"case_id": f"c{place}", "model": model, "run": repeat, "answer": "ham" if (repeat, place) == (2, 0) else one}
        for model, repeats in (("twice", (1, 2)), ("once", (1,)))
        for repeat in repeats
        for place, one in enumerate(truth)
    ]
    folder = tmp_path_factory.mktemp("mails")
    return finished(Workspace(folder), Suite.from_rows("mails", "text", cases), Outputs.from_rows(outputs), BY)


def test_a_line_is_named_by_its_model_and_its_repeat_where_there_are_several(run: Run, tmp_path: Path) -> None:
    found = curves(run, BY)
    assert set(found["series"]) == {"twice #1", "twice #2", "once"}
    assert (found["series"].str.partition(" ")[0] == found["model"]).all()
    assert set(curve_columns(run)) == {BY}
    assert {"label", "predicted", "count"} <= set(curve_columns(run)[BY])
    assert curve_columns(finished(Workspace(tmp_path), text_suite(), text_outputs(), "rouge")) == {}


def test_numbers_per_class_are_of_each_repeat_and_their_mean(run: Run) -> None:
    assert "recall" in label_metrics(run)[BY]
    rows = label_numbers(run, BY, ["recall"])
    of_spam = rows[rows["label"] == "spam"].set_index("series")["value"].to_dict()
    assert of_spam == {"twice #1": 1.0, "twice #2": 0.5, "twice": 0.75, "once": 1.0}
