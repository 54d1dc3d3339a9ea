"""H2O Eval Studio's test suites and test labs."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, load_suite, read_combined, read_suite
from metrics.ingest.formats.h2o import condition
from metrics.text.conditions import parse_condition
from tests.ingest.files import list_problems, write


def case(key="k1", **more):
    return {
        "key": key,
        "prompt": "Who?",
        "categories": ["qa"],
        "relationships": [],
        "expected_output": "Luiz",
        "constraints": ["Luiz", ["a", "REGEXP:b+"]],
    } | more


SUITE = {
    "name": "N",
    "description": "D",
    "tests": [
        {"key": "t1", "documents": ["https://x/y.pdf"], "test_cases": [case(), case("k2", constraints=[], condition='"x"', relationships=[{"type": "perturbation_source", "target": "k1", "target_type": "test_case"}])]},
        {"key": "t2", "test_cases": [case("k3", prompt="What?", categories=[], expected_output="", constraints=None)]},
    ],
}  # fmt: skip


def shown(row):
    return {name: value for name, value in row.items() if value is not None}


def test_suite(tmp_path):
    path = write(tmp_path, "s.json", SUITE)
    rows = [shown(row) for row in read_suite(path).cases.to_pylist()]
    base = {"question": "Who?", "expected_answers": ["Luiz"], "tags": ["qa"], "group": "t1"}
    base["metadata.documents"] = '["https://x/y.pdf"]'
    assert rows == [
        base | {"case_id": "k1", "conditions": '"Luiz" AND ("a" OR regexp("b+"))'},
        base | {"case_id": "k2", "conditions": '"x"', "perturbs": "k1", "perturbation": "perturbed"},
        {"case_id": "k3", "question": "What?", "group": "t2"},
    ]
    assert (inspect(path).role, inspect(path).rows) == ("suite", 3)


CONDITIONS = {
    "one": (["Paris"], "in Paris", "in Lyon"), "all": (["Paris", "1889"], "Paris 1889", "Paris"),
    "any within": ([["Paris", "Lyon"], "1889"], "Lyon 1889", "Nice 1889"),
    "expression": (["REGEXP:15?,969 [Mm]illion"], "15,969 million", "969 million"),
    "quotes": (['say "hi"'], 'they say "hi"', "they say hi"), "backslash": (["a\\b"], "a\\b", "ab"),
    "quoted expression": (['REGEXP:^"x\\s*"$'], '"x  "', "x"), "a lone text": ("Paris", "Paris", "paris"),
}  # fmt: skip


@pytest.mark.parametrize(("constraints", "good", "wrong"), CONDITIONS.values(), ids=CONDITIONS.keys())
def test_conditions_mean_what_the_constraints_mean(constraints, good, wrong):
    read = parse_condition(str(condition(constraints)))
    assert [read.holds(read.terms_in(text)) for text in (good, wrong)] == [True, False]


PROBLEMS = {
    "no object": (3, ["s.json, row 2: found 3; expected an object with key and prompt"]),
    "no key": (case(None), ["s.json, row 2, column key: found nothing; expected a text"]),
    "no prompt": (case("k9", prompt=""), ["s.json, row 2, column prompt: found ''; expected a text"]),
    "a key twice": (case(categories=["other"]), ["s.json, row 2, column case_id: found 'k1' again, first in row 1; expected every case once (several models' answers: a file of outputs, or one combined file)"]),
    "constraints": (case("k9", constraints=[1]), ["s.json, row 2, column constraints: found [1]; expected texts, REGEXP:expressions, or lists of them"]),
    "code": (case("k9", expected_output="python:f"), ["s.json, row 2, column expected_answers: found ['python:f']; expected plain text: cells that begin with python: are code and are refused"]),
    "a source that is not there": (case("k9", relationships=[{"type": "perturbation_source", "target": "k0"}]), ["s.json, row 2, column perturbs: found 'k0'; expected the case_id of a case in this file"]),
}  # fmt: skip


@pytest.mark.parametrize(("wrong", "texts"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path, wrong, texts):
    path = write(tmp_path, "s.json", {"tests": [{"key": "t", "test_cases": [case(), wrong]}]})
    assert list_problems(read_suite, path) == texts
    loaded = load_suite(path, keep_good_rows=True)
    assert (loaded.value.cases["case_id"].to_pylist(), loaded.value.left_out) == (["k1"], 1)


def test_a_test_without_cases(tmp_path):
    with pytest.raises(InputError, match="column tests: found test 2 without test_cases; expected an array test_cases"):
        read_suite(write(tmp_path, "s.json", {"tests": [*SUITE["tests"][:1], {"key": "t"}]}))


def entry(key="k1", model="m1", **more):
    return {"key": f"{key}_{model}", "input": "Who?", "corpus": ["x.pdf"], "context": ["c1", "c2"], "categories": ["qa"], "relationships": [], "expected_output": "Luiz",
            "output_constraints": [], "output_condition": '"Luiz"', "actual_output": "Luiz.", "actual_duration": 1.5, "cost": 0.25, "model_key": model, "test_key": "t1"} | more  # fmt: skip


LAB = {
    "name": "L",
    "raw_dataset": {"inputs": []},
    "dataset": {"inputs": [entry(), entry(model="m2", actual_output="No."), entry("k2", relationships=[{"type": "perturbation_source", "target": "k1_m1"}])]},
    "models": [{"key": "m1", "name": "RAG", "llm_model_name": "llama"}, {"key": "m2", "name": "", "llm_model_name": ""}],
}  # fmt: skip


def test_lab(tmp_path):
    path = write(tmp_path, "l.json", LAB)
    suite, outputs = read_combined(path)
    assert [shown(row) for row in suite.cases.to_pylist()][1] == {
        "case_id": "k2", "question": "Who?", "expected_answers": ["Luiz"], "conditions": '"Luiz"', "tags": ["qa"], "group": "t1",
        "perturbs": "k1", "perturbation": "perturbed", "metadata.corpus": '["x.pdf"]',
    }  # fmt: skip
    assert shown(outputs.outputs.to_pylist()[0]) == {
        "case_id": "k1", "model": "llama", "run": 1, "answer": "Luiz.", "retrieved_contexts": ["c1", "c2"], "duration_s": 1.5, "cost_usd": 0.25,
    }  # fmt: skip
    assert outputs.models == ("llama", "m2")
    assert inspect(path).role == "combined"


def test_labs_without_keys_and_models_of_one_name(tmp_path):
    rows = [
        {name: value for name, value in row.items() if name != "key"}
        for row in (entry(), entry(model="m2"), entry(input="What?"))
    ]
    suite, outputs = read_combined(write(tmp_path, "l.json", {"dataset": {"inputs": rows}, "models": LAB["models"]}))
    assert (suite.cases["case_id"].to_pylist(), len(outputs.outputs)) == (["1", "2"], 3)
    models = [{"key": "m1", "llm_model_name": "x"}, {"key": "m2", "llm_model_name": "x"}]
    _, outputs = read_combined(write(tmp_path, "l.json", LAB | {"models": models}))
    assert outputs.models == ("x (m1)", "x (m2)")
