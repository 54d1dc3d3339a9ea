"""The column of expected calls: every spelling becomes the stored form, and what is none is a problem of its row."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.ingest import read_combined, read_suite
from metrics.text.agents.call_matching import Call, expected_calls
from metrics.text.agents.traces import Step, steps_of
from tests.ingest.files import write

CALLS = [{"name": "add", "args": {"a": 1}}, {"name": "stop", "args": {}}]
STORED = (Call("add", {"a": 1}), Call("stop", {}))
TEXT = json.dumps(CALLS).replace('"', '""')


@pytest.mark.parametrize(("name", "content"), [
    ("s.jsonl", [{"case_id": "1", "question": "q", "expected_calls": CALLS}]),
    ("s.json", [{"case_id": "1", "question": "q", "reference_tool_calls": CALLS}]),
    ("s.csv", f'case_id,question,expected_tools\n1,q,"{TEXT}"\n'),
    ("s.parquet", [{"case_id": "1", "question": "q", "expectedTrajectory": json.dumps(CALLS)}]),
    ("s.csv", f'case_id,expected_tool_calls\n1,"{TEXT}"\n'),
])  # fmt: skip
def test_by_every_name_and_format(tmp_path, name, content):
    [stored] = read_suite(write(tmp_path, name, content)).cases["expected_calls"].to_pylist()
    assert expected_calls(stored) == STORED


@pytest.mark.parametrize("arguments", [r'{"a": "x\ud800y"}', {"a": "x\ud800y"}], ids=["a text", "an object"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_half_of_a_surrogate_pair_in_arguments_is_replaced(tmp_path, kind, arguments):
    cell = json.dumps([{"name": "add", "arguments": arguments}])
    quoted = cell.replace('"', '""')
    row = {"case_id": "1", "question": "q", "expected_calls": cell}
    content = [row] if kind == "jsonl" else f'{",".join(row)}\n1,q,"{quoted}"\n'
    [stored] = read_suite(write(tmp_path, f"s.{kind}", content)).cases["expected_calls"].to_pylist()
    assert expected_calls(stored) == (Call("add", {"a": "x\ufffdy"}),)


def test_a_trace_of_our_own_has_no_half_of_a_surrogate_pair_in_its_arguments(tmp_path):
    steps = json.dumps({"steps": [{"kind": "call", "tool": "add", "arguments": {"a": "x\ud800y"}}]}).replace('"', '""')
    file = write(tmp_path, "c.csv", f'case_id,question,model,answer,trace\n1,q,m,a,"{steps}"\n')
    stored = read_combined(file)[1].outputs["trace"][0].as_py()
    assert "ud800" not in stored
    assert steps_of(stored) == (Step("call", tool="add", arguments={"a": "x\ufffdy"}),)


def test_beside_the_trace_in_one_file(tmp_path):
    """DeepEval's names: what was called and what should have been."""
    row = {"input": "q", "expected_tools": CALLS, "tools_called": [{"name": "add", "input_parameters": {"a": 1}}]}
    suite, outputs = read_combined(write(tmp_path, "c.json", [row]))
    assert expected_calls(suite.cases["expected_calls"][0].as_py()) == STORED
    assert steps_of(outputs.outputs["trace"][0].as_py()) == (Step("call", tool="add", arguments={"a": 1}),)


def test_problems_say_what_was_found(tmp_path):
    file = write(
        tmp_path, "s.csv", 'case_id,question,expected_calls\n1,q,\n2,q,search(Paris)\n3,q,"{""name"": ""a""}"\n'
    )
    with pytest.raises(InputError) as failure:
        read_suite(file)
    told = [(problem.row, problem.found.split(":")[0]) for problem in failure.value.problems]
    assert told == [(3, "no JSON"), (4, "an object with name")]
    assert failure.value.problems[0].expected.startswith("a JSON list of calls such as [{")
