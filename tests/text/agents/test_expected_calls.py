"""Expected calls as tools and data sets write them, and what is none."""

import json

import pytest

from metrics.text.agents.call_matching import Call, ExpectedCallsError, calls_json, expected_calls, named_arguments

ADD = Call("add", {"a": 1})
FORMS = {
    "ours": ([{"name": "add", "arguments": {"a": 1}}], (ADD,)),
    "RAGAS": ([{"name": "add", "args": {"a": 1}}], (ADD,)),
    "DeepEval": ([{"name": "add", "input_parameters": {"a": 1}, "output": 2, "description": None}], (ADD,)),
    "OpenAI": ([{"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}], (ADD,)),
    "messages": ([{"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "stop"}}]}], (Call("stop", None),)),
    "no arguments": ([{"name": "add", "arguments": {}}], (Call("add", {}),)),
    "any arguments": (["add", {"name": "add"}, {"tool": "add", "args": None}], (Call("add", None),) * 3),
    "arguments without names": ([{"name": "add", "arguments": [1, 2]}], (Call("add", {"input": [1, 2]}),)),
    "none": ([], ()),
}  # fmt: skip


@pytest.mark.parametrize(("written", "calls"), FORMS.values(), ids=FORMS.keys())
def test_a_form(written: object, calls: tuple[Call, ...]) -> None:
    assert (expected_calls(json.dumps(written)), expected_calls(calls_json(calls))) == (calls, calls)


@pytest.mark.parametrize(("text", "message"), [
    ("search(Paris)", "no JSON: "), ('{"name": "add"}', "an object with name"), ("3", "no list"),
    ('["add", 3]', "call 2 is 3, not an object"), ('[{"arguments": {}}]', "call 1 has no name but arguments"),
    (json.dumps(["a"] * 201), "201 calls, more than 200"),
])  # fmt: skip
def test_what_is_none(text: str, message: str) -> None:
    with pytest.raises(ExpectedCallsError) as failure:
        expected_calls(text)
    assert str(failure.value).startswith(message)


@pytest.mark.parametrize(
    ("value", "named"),
    [(None, {}), ("", {}), ('{"a": 1}', {"a": 1}), ("{a", {"input": "{a"}), ("x", {"input": "x"}), (3, {"input": 3})],
)
def test_arguments_by_name(value: object, named: dict[str, object]) -> None:
    assert named_arguments(value) == named
