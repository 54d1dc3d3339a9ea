"""Traces of every kind become steps; question and answer come from them; bad ones are listed, hostile ones too."""
# ruff: noqa: E501 - tables read better with one line a case

import json
import random
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import load_outputs, read_outputs
from metrics.ingest.traces.stored_trace import EXPECTED, read_trace
from metrics.text.agents.traces import Step, TraceError, steps_of
from tests.ingest.files import write
from tests.ingest.trace_samples import CASES, CHAT, KINDS, export, span, tool_call


@pytest.fixture
def suite():
    return Suite.from_rows("s", "text", CASES)


@pytest.mark.parametrize(("document", "expected"), KINDS.values(), ids=KINDS.keys())
def test_a_trace_of_every_kind(document, expected):
    trace = read_trace(json.dumps(document))
    untimed = [
        Step(**{**plain(step), "started": None, "seconds": None, "tokens": None, "depth": None}) for step in trace.steps
    ]
    assert (untimed, steps_of(trace.text)) == (expected, tuple(trace.steps))
    again = read_trace(trace.text)
    assert (again.steps, again.text) == (tuple(trace.steps), trace.text)
    asked = [step.text for step in expected if step.role == "user"]
    said = [step.text for step in expected if step.role == "assistant" and step.kind == "message"]
    assert (trace.question, trace.answer) == (next(iter(asked), None), said[-1] if said else None)


def plain(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__slots__}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "tool", "tool_call_id": "?", "content": "x"}], [Step("message", role="tool", text="x")]),
        ([{"role": "assistant", "content": "", "tool_calls": [tool_call("{bad", "")]}],
         [Step("call", tool="get_weather", arguments="{bad")]),
        ([{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
          {"role": "function", "name": "f", "content": "1"}], [Step("call", tool="f", arguments={}, result="1")]),
        ([{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]}],
         [Step("message", role="user", text="see"), Step("message", role="user", text="[image]")]),
        ([{"type": "web_search_call", "id": "w", "status": "failed", "action": {"query": "q"}}],
         [Step("call", tool="web_search", arguments={"query": "q"}, error="failed", id="w")]),
        ([{"role": "assistant", "content": None, "refusal": "I cannot."}],
         [Step("message", role="assistant", text="I cannot.")]),
        ([{"role": "user", "content": "a\x00b \ud800"}], [Step("message", role="user", text="a\x00b \ufffd")]),
    ],
    ids=["an answer nobody asked for", "arguments that are no JSON", "functions of old", "a picture", "a hosted tool",
         "a refusal", "NUL and half a surrogate pair"],
)  # fmt: skip
def test_odd_messages(messages, expected):
    assert read_trace(json.dumps(messages)).steps == expected


BAD = {
    "no JSON": ("Thought: I call a tool", "no JSON: Expecting value at line 1, column 1"),
    "half of it": ('[{"role": "user"', "no JSON: "), "a number": ("7", "int 7"),
    "an object of something else": ('{"a": 1, "b": 2}', "an object with a, b"),
    "nothing": ("{}", "an object with nothing"),
    "a message without a role": ('[{"role": "user", "content": "a"}, {"content": "b"}]', "message 2 has no role"),
    "a message that is none": ('[{"role": "user", "content": "a"}, "b"]', "message 2 is str, not an object"),
    "spans of a web server": (
        json.dumps(export(span("GET /", 0, 1) | {"attributes": []})), "1 spans, none with gen_ai",
    ),
    "steps that are none": ('{"steps": [1]}', "step 1 is int, not an object"),
    "nested deep": ("[" * 5_000 + "]" * 5_000, "no JSON: nested deeper than 64 levels"),
    "NaN": ('{"steps": [{"tool": "a", "seconds": NaN}]}', "no JSON: NaN"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), BAD.values(), ids=BAD.keys())
def test_bad_traces_are_listed_with_their_row(suite, tmp_path, text, found):
    rows = [{"case_id": "c1", "trace": json.dumps(CHAT)}, {"case_id": "c2", "trace": text}]
    path = write(tmp_path, "m.jsonl", rows)
    with pytest.raises(InputError) as caught:
        read_outputs(path, suite=suite)
    (problem,) = caught.value.problems
    assert (problem.row, problem.column, problem.expected) == (2, "trace", EXPECTED)
    assert problem.found.startswith(found)
    kept = load_outputs(path, suite=suite, keep_good_rows=True)
    assert kept.value.outputs["answer"].to_pylist() == ["It rains."]
    assert (kept.value.left_out, kept.missing) == (1, 1)


def test_no_more_steps_than_are_read_again(monkeypatch):
    monkeypatch.setattr("metrics.ingest.traces.stored_trace.MOST_STEPS", 3)
    with pytest.raises(TraceError, match="4 steps, more than 3"):
        read_trace(json.dumps(CHAT))


ODD = [
    None, True, 0, -1, 2**60, 1.5, "", "x", "\x00", "\ud800", [], {}, [[]], [None], {"": None}, "[" * 300, {"role": []},
    {"type": "tool_use"}, {"stringValue": {}}, {"kvlistValue": {"values": [1]}}, "9" * 400, "x" * 50_000, {"attributes": 3},
]  # fmt: skip


def spoilt(value: Any, draw: random.Random) -> Any:
    """The value with some part of it replaced, dropped or doubled."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        if draw.random() < 0.1:
            return {key: inner for key, inner in value.items() if key != name}
        return value | {name: spoilt(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        place = draw.randrange(len(value))
        if draw.random() < 0.1:
            return [*value, value[place]]
        return [*value[:place], spoilt(value[place], draw), *value[place + 1 :]]
    return draw.choice(ODD)


def hold_spoilt(good: Any, seed: str, times: int) -> None:
    """Check that what is left of a document after some changes is read, or refused with words."""
    draw = random.Random(seed)
    for _ in range(times):
        document = good
        for _ in range(draw.randint(1, 4)):
            document = spoilt(document, draw)
        try:
            trace = read_trace(json.dumps(document))
        except TraceError as failure:
            assert str(failure)  # noqa: PT017 - both outcomes are good
            continue
        trace.text.encode()
        assert len(steps_of(trace.text)) == len(trace.steps)


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_traces_are_read_or_refused(kind):
    hold_spoilt(KINDS[kind][0], kind, 60)
