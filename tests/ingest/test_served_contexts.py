"""Contexts that stand in a suite: what was retrieved for all models serves those that bring none."""

import pytest

from metrics.core.suite import Suite
from metrics.ingest import load_outputs, outputs_from_frame, read_suite, suite_from_frame
from tests.ingest.files import write

PASSAGES = [["one", "two"], ["three"]]
FORMS = {
    "JSON": ("s.csv", 'id,question,contexts\n1,who,"[""one"", ""two""]"\n2,why,"[""three""]"\n'),
    "Python": ("s.csv", "id,question,contexts\n1,who,\"['one', 'two']\"\n2,why,['three']\n"),
    "semicolons": ("s.csv", "id,question,contexts\n1,who,one;two\n2,why,three\n"),
    "native": ("s.jsonl", [{"id": n, "question": f"q{n}", "contexts": each} for n, each in enumerate(PASSAGES, 1)]),
    "Parquet": ("s.parquet", [{"id": n, "question": "q", "retrieved_contexts": e} for n, e in enumerate(PASSAGES, 1)]),
}  # fmt: skip


def suite_of(folder, form) -> Suite:
    return read_suite(write(folder, *FORMS[form]))


@pytest.mark.parametrize("form", FORMS)
def test_contexts_of_the_suite_serve_every_model(tmp_path, form):
    suite = suite_of(tmp_path, form)
    files = [write(tmp_path, f"{name}.csv", f"id,answer\n2,{name}\n1,b\n") for name in ("big", "small")]
    outputs = load_outputs(files, suite=suite).value
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [PASSAGES[1], PASSAGES[0]] * 2
    said = [(line.file, line.use, line.count) for line in outputs.receipt if line.place == "retrieved_contexts"]
    assert said == [("big.csv", "used", 2), ("small.csv", "used", 2)]


def test_a_model_that_brings_its_own_keeps_them(tmp_path):
    suite = suite_of(tmp_path, "JSON")
    own = outputs_from_frame(
        [{"id": "1", "answer": "a", "contexts": ["mine"]}, {"id": "2", "answer": "b"}], suite=suite
    )
    assert own.outputs["retrieved_contexts"].to_pylist() == [["mine"], None]
    ids = outputs_from_frame([{"id": "1", "answer": "a", "context_ids": ["x"]}], suite=suite)
    assert ids.outputs["retrieved_contexts"].to_pylist() == [None]


@pytest.mark.parametrize("row", [{"label": "cat"}, {"true_value": 1.5}, {"question": "who", "passage": "p"}])
def test_other_columns_and_tasks_are_served_nothing(row):
    suite = suite_from_frame([{"id": "1", "contexts": ["a"], **row} if "passage" not in row else {"id": "1", **row}])
    answer = {"prediction": "cat"} if suite.task == "classification" else {"predicted_value": 1.0, "answer": "x"}
    assert outputs_from_frame([{"id": "1", **answer}], suite=suite).outputs["retrieved_contexts"].to_pylist() == [None]


def test_the_suite_keeps_what_is_no_list(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", 'id,question,contexts\n1,who,"[""a"", nul"\n2,why,b\n'))
    assert suite.cases["metadata.contexts"].to_pylist() == ['["a", nul', '["b"]']
    outputs = outputs_from_frame([{"id": "1", "answer": "a"}, {"id": "2", "answer": "b"}], suite=suite)
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [None, ["b"]]
