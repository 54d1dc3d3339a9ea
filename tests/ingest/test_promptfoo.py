"""promptfoo's results: tests as cases, providers as models, code refused by name."""
# ruff: noqa: E501 - a table reads better with one line a case

import copy

import pytest

from metrics.ingest import load_combined, read_combined
from tests.ingest.files import list_problems, write


def result(test=0, prompt=0, provider="gpt", answer="Paris", **more):
    return {
        "testIdx": test, "promptIdx": prompt, "promptId": "p", "provider": {"id": "openai:" + provider, "label": provider},
        "prompt": {"raw": f"Answer: q{test}", "label": "Answer: {{question}}"},
        "vars": {"question": f"q{test}", "expected": "Paris", "context": ["c1", "c2"], "topic": "towns"},
        "response": {"output": answer, "tokenUsage": {"total": 12, "prompt": 8}, "cached": False},
        "success": True, "score": 1, "namedScores": {"tone": 0.5}, "latencyMs": 540, "cost": 0.001, "error": None,
        "testCase": {"description": "capital", "assert": [{"type": "equals", "value": "Paris"}]},
    } | more  # fmt: skip


def document(*results):
    return {
        "evalId": "e",
        "results": {"version": 3, "timestamp": "t", "results": list(results), "stats": {}},
        "config": {},
    }


RESULTS = document(
    result(), result(provider="llama", prompt=1, answer="Lyon", cost=0), result(1), result(1, 1, "llama")
)


def test_suite_and_outputs(tmp_path):
    suite, outputs = read_combined(write(tmp_path, "r.json", RESULTS))
    assert (suite.name, suite.task, outputs.models) == ("r", "text", ("gpt", "llama"))
    shown = [{name: value for name, value in row.items() if value is not None} for row in suite.cases.to_pylist()]
    assert shown[0] == {
        "case_id": "0", "question": "q0", "expected_answers": ["Paris"], "metadata.topic": "towns",
        "metadata.description": "capital", "metadata.promptfoo.success": "true", "metadata.promptfoo.score": "1",
        "metadata.promptfoo.namedScores.tone": "0.5", "conditions": 'regexp("\\AParis\\z")',
        "metadata.promptfoo.assert": '[{"type":"equals","value":"Paris"}]',
    }  # fmt: skip
    first = outputs.outputs.to_pylist()[0]
    assert [first[name] for name in ("case_id", "model", "run", "answer", "retrieved_contexts", "duration_s", "cost_usd", "tokens")] == [
        "0", "gpt", 1, "Paris", ["c1", "c2"], 0.54, 0.001, 12,
    ]  # fmt: skip
    assert outputs.outputs["answer"].to_pylist() == ["Paris", "Lyon", "Paris", "Paris"]


def test_several_prompts_are_several_models(tmp_path):
    _, outputs = read_combined(write(tmp_path, "r.json", document(result(), result(prompt=3))))
    assert outputs.models == ("gpt (prompt 1)", "gpt (prompt 2)")


QUESTIONS = {
    "the only variable": ({"city": "Paris?"}, "Paris?"), "a usual name": ({"Query": "Q", "tone": "mild"}, "Q"),
    "the prompt": ({"a": "1", "b": "2"}, "Answer: q0"), "none": ({}, "Answer: q0"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "question"), QUESTIONS.values(), ids=QUESTIONS.keys())
def test_questions(tmp_path, given, question):
    suite, _ = read_combined(write(tmp_path, "r.json", document(result(vars=given))))
    assert suite.cases["question"].to_pylist() == [question]
    assert suite.cases["expected_answers"].to_pylist() == [["Paris"]]


def test_prompts_that_differ_leave_the_variables_and_errors_no_answer(tmp_path):
    rows = [
        result(vars={"a": "1", "b": "2"}),
        result(prompt=1, vars={"a": "1", "b": "2"}, prompt_=0) | {"prompt": {"raw": "other"}},
    ]
    suite, _ = read_combined(write(tmp_path, "r.json", document(*rows)))
    assert suite.cases["question"].to_pylist() == ['{"a":"1","b":"2"}']
    failed = result(0, 1, "llama", response=None, error="429", success=False)
    _, outputs = read_combined(write(tmp_path, "r.json", document(result(), failed)))
    assert outputs.outputs["answer"].to_pylist() == ["Paris", None]
    assert outputs.outputs["metadata.promptfoo.error"].to_pylist() == [None, "429"]


TABLES = {  # the table that promptfoo writes of results, as older and newer versions do
    "marks": 'question,[openai:a] Q: {{question}},[openai:b] Q: {{question}}\nq1,[PASS] Paris,"[FAIL] Expected it\n---\nLyon"\nq2,[PASS] x,[ERROR] 429\n',
    "columns": 'question,[openai:a] Q,Status,Score,Grader Reason,[openai:b] Q,Status,Score,Grader Reason\nq1,Paris,PASS,1,,Lyon,FAIL,0,Expected it\nq2,x,PASS,1,,,ERROR,0,429\n',
}  # fmt: skip


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_results_as_a_table(tmp_path, text):
    suite, outputs = read_combined(write(tmp_path, "r.csv", text))
    assert suite.cases["question"].to_pylist() == ["q1", "q2"]
    rows = [
        tuple(
            row[name]
            for name in (
                "case_id",
                "model",
                "answer",
                "metadata.promptfoo.success",
                "metadata.promptfoo.failureReason",
                "metadata.promptfoo.error",
            )
        )
        for row in outputs.outputs.to_pylist()
    ]
    assert sorted(rows, key=str) == [
        ("0", "openai:a", "Paris", "true", None, None), ("0", "openai:b", "Lyon", "false", "Expected it", None),
        ("1", "openai:a", "x", "true", None, None), ("1", "openai:b", None, "false", None, "429"),
    ]  # fmt: skip


PROBLEMS = {
    "no object": (3, "r.json, row 2: found 3; expected a result with testIdx, provider, vars and response"),
    "no test": ({"testIdx": None}, "r.json, row 2, column testIdx: found nothing; expected a whole number of at least 0"),
    "no provider": ({"provider": {}}, "r.json, row 2, column provider: found {}; expected a provider's id"),
    "vars": ({"vars": [1]}, "r.json, row 2, column vars: found [1]; expected an object"),
    "response": ({"response": "x"}, "r.json, row 2, column response: found 'x'; expected an object with output"),
    "latency": ({"latencyMs": -1}, "r.json, row 2, column latencyMs: found -1; expected a number of at least 0"),
    "cost": ({"cost": "much"}, "r.json, row 2, column cost: found 'much'; expected a number of at least 0"),
    "javascript": ({"vars": {"question": "javascript:1+1"}}, "r.json, row 2, column vars.question: found 'javascript:1+1'; expected plain text: cells that begin with javascript: are code and are refused"),
    "python in a list": ({"vars": {"question": "q", "context": ["a", "python:f.py"]}}, "r.json, row 2, column vars.context: found 'python:f.py'; expected plain text: cells that begin with python: are code and are refused"),
    "a file as expected": ({"vars": {"question": "q", "expected": "file:///etc/passwd"}}, "r.json, row 2, column vars.expected: found 'file:///etc/passwd'; expected plain text: cells that begin with file:// are code and are refused"),
    "answered twice": ({"testIdx": 0, "vars": result()["vars"], "response": {"output": "Rome"}}, "r.json, row 2, column case_id: found case '0' of model 'gpt' again, first in row 1; expected one answer per case, model and run (repeats: a column run)"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "text"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path, change, text):
    wrong = result(1) | copy.deepcopy(change) if isinstance(change, dict) else change
    path = write(tmp_path, "r.json", document(result(), wrong))
    assert list_problems(read_combined, path) == [text]
    loaded = load_combined(path, keep_good_rows=True)
    assert len(loaded.value[1].outputs) == 1
    assert [str(problem) for problem in loaded.problems] == [text]
