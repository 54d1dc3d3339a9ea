"""Steps of stored traces, and which calls of them were wasted: worked ones, and every small case by hand."""
# ruff: noqa: E501 - a table reads better with one line a case

import json

import pytest
from hypothesis import given, strategies as st

from metrics.text.agents.traces import Step, TraceError, efficiency, looping, steps_of

STEPS = {
    "a call": ({"tool": "a", "arguments": {"q": 1}}, Step("call", tool="a", arguments={"q": 1})),
    "a call by other names": ({"name": "a", "args": [1], "output": "x"}, Step("call", tool="a", arguments=[1], result="x")),
    "DeepEval's": ({"name": "a", "input_parameters": {"q": 1}, "output": 2}, Step("call", tool="a", arguments={"q": 1}, result=2)),
    "a failed call": ({"tool": "a", "error": {"code": 3}}, Step("call", tool="a", error='{"code": 3}')),
    "no error": ({"tool": "a", "error": False}, Step("call", tool="a")),
    "an error that only says so": ({"tool": "a", "error": True}, Step("call", tool="a", error="failed")),
    "times": ({"tool": "a", "started": "2026-01-01T00:00:00Z", "seconds": 2}, Step("call", tool="a", started="2026-01-01T00:00:00Z", seconds=2.0)),
    "what it took": ({"tool": "a", "tokens": 12, "cost_usd": 0.5, "depth": 1}, Step("call", tool="a", tokens=12, cost_usd=0.5, depth=1)),
    "times that are none": ({"tool": "a", "started": 3, "seconds": -1}, Step("call", tool="a")),
    "a message": ({"role": "user", "text": "hi"}, Step("message", role="user", text="hi")),
    "a message of a named role": ({"role": "tool", "name": "a", "output": "x"}, Step("message", role="tool", text="x")),
    "a named step": ({"name": "plan", "text": "x"}, Step("message", text="x")),
    "reasoning": ({"kind": "reasoning", "role": "a", "text": "hm"}, Step("reasoning", role="a", text="hm")),
    "text that is an object": ({"text": {"a": 1}}, Step("message", text='{"a": 1}')),
    "text alone": ("hi", Step("message", text="hi")),
    "nothing": ({}, Step("message")),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "expected"), STEPS.values(), ids=STEPS.keys())
def test_a_step(entry: object, expected: Step) -> None:
    assert steps_of(json.dumps([entry])) == steps_of(json.dumps({"steps": [entry]})) == (expected,)
    assert steps_of(json.dumps([expected.as_record()])) == (expected,)


@pytest.mark.parametrize(("text", "message"), [
    ("{", "the trace is not JSON: "),
    ("{}", "the trace has no list of steps but an object with nothing"),
    ('{"a": 1, "steps": 3}', "the trace has no list of steps but an object with a, steps"),
    ("3", "the trace has no list of steps but no list"),
    ('["a", 3]', "step 2 is int, not an object"),
    ("[" * 99 + "]" * 99, "nested deeper than 64 levels"),
    (json.dumps([{}] * 20_001), "20,001 steps, more than 20,000"),
])  # fmt: skip
def test_what_is_no_trace(text: str, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        steps_of(text)


def calls(spelled: str) -> list[Step]:
    """`aAb`: a call of tool a, one of a that fails, one of b."""
    return [Step("call", tool=letter.lower(), error="failed" if letter.isupper() else None) for letter in spelled]


@pytest.mark.parametrize(("spelled", "redundant", "failed", "loops"), [
    ("", (), (), ()), ("abc", (), (), ()), ("aba", (2,), (), ()), ("Aa", (), (0,), ()), ("AaA", (2,), (0, 2), (1, 2)),
    ("AAA", (), (0, 1, 2), (1, 2)), ("aa", (1,), (), ()), ("abab", (2, 3), (), ()),
    ("xababab", (3, 4, 5, 6), (), (3, 4, 5, 6)), ("ababa", (2, 3, 4), (), ()),
    ("abababa", (2, 3, 4, 5, 6), (), (2, 3, 4, 5, 6)),
])  # fmt: skip
def test_wasted_calls(spelled, redundant, failed, loops):
    told = Step("message", text="between")
    found = efficiency([step for call in calls(spelled) for step in (told, call)])
    assert (found.calls, found.redundant, found.failed, found.looping) == (len(spelled), redundant, failed, loops)
    assert found.wasted == tuple(sorted({*redundant, *failed, *loops}))


def test_arguments_are_equal_in_any_order_and_by_type() -> None:
    same = [Step("call", tool="a", arguments={"x": 1, "y": [2]}), Step("call", tool="a", arguments={"y": [2], "x": 1})]
    assert efficiency(same).redundant == (1,)
    other = [Step("call", tool="a", arguments={"x": 1}), Step("call", tool="a", arguments={"x": "1"}), *calls("a")]
    assert efficiency(other).redundant == ()


@given(st.text("ab", max_size=14) | st.text("abc", max_size=9))
def test_loops_are_those_that_a_search_of_every_stretch_finds(keys: str) -> None:
    found: set[int] = set()
    for length in range(1, len(keys) // 3 + 1):
        for start in range(len(keys)):
            for stop in range(start + 3 * length, len(keys) + 1):
                if all(keys[place] == keys[place - length] for place in range(start + length, stop)):
                    found.update(range(start + length, stop))
    assert looping(keys) == tuple(sorted(found))
