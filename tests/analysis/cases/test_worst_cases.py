"""The worst cases behind a cell, with the answers."""

from pathlib import Path

import pandas as pd
import pytest

from metrics.analysis import cases, worst_cases
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("worst")
    return finished(
        Workspace(folder), text_suite(30), text_outputs(30, repeats=2), "rouge", "looping_detection", parameters=MARKED
    )


def test_they_are_those_of_the_list_of_cases(run: Run) -> None:
    found = worst_cases(run, "rouge", "rougeL", "poor", tag="even", most=5)
    listed = cases(run, "rouge", "rougeL", 5, model="poor", tag="even")
    assert found.total == listed.total == 30
    assert found.rows[list(listed.rows)].equals(listed.rows)


def test_each_row_has_the_answer_of_its_model_and_repeat(run: Run) -> None:
    found = worst_cases(run, "rouge", "rougeL", "poor").rows
    outputs = run.outputs.outputs.to_pandas().set_index(["case_id", "model", "run"])["answer"]
    keys = list(zip(found["case_id"], found["model"], found["run"], strict=True))
    assert (len(keys), found["answer"].tolist()) == (20, [outputs[key] for key in keys])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("one line", "one line"), ("\n\n  first\nsecond", "first"), ("first\r\nsecond", "first"), ("", ""),
        (None, None), ("x" * 500, "x" * 159 + "…"), ("x" * 160, "x" * 160),
    ],
    ids=["one-line", "blank-lines-before", "windows", "empty", "none", "long", "as long as it may be"],
)  # fmt: skip
def test_the_first_line_of_an_answer(tmp_path: Path, answer: str | None, expected: str | None) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": "c", "question": "q", "expected_answers": ["a"]},
                                          {"case_id": "d", "question": "q", "expected_answers": ["a"]}])  # fmt: skip
    outputs = Outputs.from_rows(
        [{"case_id": "c", "model": "m", "answer": answer}, {"case_id": "d", "model": "m", "answer": "a"}]
    )
    run = finished(Workspace(tmp_path), suite, outputs, "rouge")
    found = worst_cases(run, "rouge", "rougeL", "m").rows.set_index("case_id")["answer"]
    assert (None if pd.isna(found["c"]) else found["c"]) == expected


def test_an_image_has_no_answer_and_its_number_of_errors(pictures: Run) -> None:
    model, evaluator = "shy", pictures.match_names()[0]
    found = worst_cases(pictures, evaluator, pictures.evaluator(evaluator).metrics[0].name, model).rows
    assert found["answer"].isna().all()
    assert found["errors"].is_monotonic_decreasing
    assert found["errors"].iloc[0] > 0


@pytest.mark.parametrize("predicted", [True, False], ids=["predicted", "nothing-predicted"])
def test_the_answer_of_a_classification_is_the_label_scored_highest(tmp_path: Path, predicted: bool) -> None:
    """Without a score a label counts as certain."""
    rows = [{"case_id": name, "question": "?", "label": "cat"} for name in ("sure", "torn", "mute")]
    given = [("sure", "dog", None), ("sure", "cat", 0.9), ("torn", "dog", 0.6), ("torn", "cat", 0.4)]
    labels = [{"case_id": case, "model": "m", "label": label, "score": score} for case, label, score in given]
    outputs = [{"case_id": row["case_id"], "model": "m"} for row in rows]
    suite = Suite.from_rows("s", "classification", rows, labels=("cat", "dog"))
    made = Outputs.from_rows(outputs, labels if predicted else None)
    found = worst_cases(finished(Workspace(tmp_path), suite, made, "classification"), "classification", "accuracy", "m")
    pairs = zip(found.rows["case_id"], found.rows["answer"], strict=True)
    answers = {case_id: None if pd.isna(label) else label for case_id, label in pairs}
    said = {"sure": "dog", "torn": "dog", "mute": None}
    assert answers == (said if predicted else dict.fromkeys(said))
