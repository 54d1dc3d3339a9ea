"""Answers that a workspace already has for a suite, and its cases as a table to be answered."""

import pyarrow as pa
import pytest

from metrics.core.errors import RunNotFound
from metrics.core.suite import Outputs, Suite
from metrics.ingest import read_outputs
from metrics.store import Workspace
from metrics.suites.outputs_on_file import outputs_on_file, read_on_file, to_answer
from tests.engine.engine_scenes import finished

CASES = [{"case_id": f"c{n}", "question": f"{n}?", "expected_answers": ["yes"]} for n in range(4)]
SUITE = Suite.from_rows("desk", "text", CASES)


def answers(cases: range, *models: str) -> Outputs:
    return Outputs.from_rows([{"case_id": f"c{n}", "model": model, "answer": "yes"} for n in cases for model in models])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Two runs of the same outputs, one of others, and one of another task."""
    found = Workspace(tmp_path_factory.mktemp("workspace"))
    first = answers(range(3), "small", "large")
    finished(found, SUITE, first, "rouge", name="one")
    finished(found, SUITE, first, "bleu", name="two")
    finished(found, SUITE, answers(range(1), "third"), "rouge", name="three")
    classes = Suite.from_rows("classes", "classification", [{"case_id": "c2", "question": "?", "label": "a"}])
    labels = [{"case_id": "c2", "model": "m", "label": "a", "score": 1.0}]
    finished(found, classes, Outputs.from_rows([{"case_id": "c2", "model": "m"}], labels), "classification")
    return found


def test_outputs_of_the_same_task_that_share_cases_are_offered_once(workspace):
    found = outputs_on_file(workspace.runs(), SUITE)
    assert [(each.run, each.models, each.cases) for each in found] == [
        ("three", ("third",), 1), ("two", ("small", "large"), 3),
    ]  # fmt: skip
    kept = SUITE.restricted(pa.array(["c2", "c3"]))
    assert [(each.run, each.cases) for each in outputs_on_file(workspace.runs(), kept)] == [("two", 1)]


def test_only_the_answers_to_the_suites_cases_are_read(workspace):
    kept = SUITE.restricted(pa.array(["c2", "c3"]))
    third, two = (each.fingerprint for each in outputs_on_file(workspace.runs(), SUITE))
    outputs, missing = read_on_file(workspace, two, kept)
    assert outputs.outputs.select(["case_id", "model"]).to_pylist() == [
        {"case_id": "c2", "model": "small"}, {"case_id": "c2", "model": "large"},
    ]  # fmt: skip
    assert missing == 2
    with pytest.raises(RunNotFound, match="answer no case of 'desk'; choose others"):
        read_on_file(workspace, third, kept)


def test_the_table_to_be_answered_comes_back_as_outputs(tmp_path):
    table = to_answer(SUITE)
    assert table is not None
    assert list(table.columns) == ["case_id", "question", "answer"]
    table.assign(answer="yes").to_csv(tmp_path / "small.csv", index=False)
    outputs = read_outputs(tmp_path / "small.csv", suite=SUITE)
    assert outputs.models == ("small",)
    assert outputs.outputs["answer"].to_pylist() == ["yes"] * 4
    assert to_answer(Suite.from_rows("boxes", "detection", [{"case_id": "a"}])) is None
