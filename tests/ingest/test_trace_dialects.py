"""Every framework's messages and calls are read with their arguments and results, or refused with where and what."""

import csv
import json

import pandas as pd
import pytest

from metrics.core.suite import Suite
from metrics.ingest import read_outputs
from metrics.ingest.load import outputs_from_frame
from metrics.ingest.traces.stored_trace import read_trace
from metrics.text.agents.call_matching import Call, ExpectedCallsError, expected_calls
from metrics.text.agents.traces import TraceError, steps_of
from tests.ingest.files import write
from tests.ingest.test_traces import hold_spoilt
from tests.ingest.trace_dialects import ARGS, CALLS, CONVERSATIONS, STRANGE, A, Q, R

LISTS = {name: document for name, document in CONVERSATIONS.items() if isinstance(document, list) and len(document) > 1}


@pytest.mark.parametrize("document", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
def test_a_conversation_of_every_framework(document):
    trace = read_trace(json.dumps(document))
    call, *others = [step for step in trace.steps if step.kind == "call"]
    assert (call.tool, call.arguments, call.error, others) == ("look", ARGS, None, [])
    assert call.result in (R, {"output": R})
    said = [(step.role, step.text) for step in trace.steps if step.kind == "message"]
    assert said in ([("user", Q), ("assistant", A)], [("user", Q), ("model", A)])
    assert (trace.question, trace.answer, steps_of(trace.text)) == (Q, A, tuple(trace.steps))


@pytest.mark.parametrize("document", CALLS.values(), ids=CALLS.keys())
def test_a_call_of_every_framework(document):
    (call,) = [step for step in read_trace(json.dumps(document)).steps if step.kind == "call"]
    assert (call.tool, call.arguments) == ("look", ARGS)


@pytest.mark.parametrize("document", [*CALLS.values(), *LISTS.values()], ids=[*CALLS, *LISTS])
def test_what_is_expected_is_read_from_the_same_forms(document):
    assert expected_calls(json.dumps(document)) == (Call("look", ARGS),)


@pytest.mark.parametrize(("document", "found"), STRANGE.values(), ids=STRANGE.keys())
def test_what_is_not_understood_is_refused(document, found):
    with pytest.raises(TraceError) as wrong:
        read_trace(json.dumps(document))
    assert str(wrong.value).startswith(found)
    with pytest.raises(ExpectedCallsError, match=r"^call \d+ "):
        expected_calls(json.dumps(document))


@pytest.mark.parametrize("column", ["trace", "messages", "trajectory", "tools_called"])
def test_the_same_by_every_door(tmp_path, column):
    documents = [*CONVERSATIONS.values(), *CALLS.values(), ["look"]]
    rows = [{"case_id": str(place), "answer": "x", column: each} for place, each in enumerate(documents)]
    suite = Suite.from_rows("s", "text", [{"case_id": row["case_id"], "question": "?"} for row in rows])
    cells = tmp_path / "m.csv"
    with cells.open("w", newline="") as file:
        lines = csv.DictWriter(file, rows[0])
        lines.writeheader()
        lines.writerows(row | {column: json.dumps(row[column])} for row in rows)
    read = [read_outputs(path, suite=suite) for path in (write(tmp_path, "m.jsonl", rows), cells)]
    for outputs in [*read, outputs_from_frame(pd.DataFrame(rows), suite=suite)]:
        traces = map(steps_of, outputs.outputs["trace"].to_pylist())
        calls = [(step.tool, step.arguments) for steps in traces for step in steps if step.kind == "call"]
        assert calls == [("look", ARGS)] * (len(documents) - 1) + [("look", None)]


PARALLEL = [
    {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {}}, {"name": "b", "args": {}}]},
    {"type": "tool", "content": "1"}, {"type": "tool", "content": "2"},
]  # fmt: skip


@pytest.mark.parametrize(("messages", "results"), [
    (PARALLEL, {"a": "1", "b": "2"}),
    ([PARALLEL[0], {"type": "tool", "content": "2", "name": "b"}, PARALLEL[1]], {"a": "1", "b": "2"}),
    ([PARALLEL[0], {"type": "ai", "content": "", "tool_calls": [{"name": "c", "args": {}}]}, PARALLEL[1]],
     {"a": None, "b": None, "c": "1"}),
], ids=["in their order", "by name", "those of the last message"])  # fmt: skip
def test_results_without_ids(messages, results):
    assert {step.tool: step.result for step in read_trace(json.dumps(messages)).steps} == results


def test_the_numbered_calls_of_dspy():
    trace = read_trace(
        json.dumps({"thought_0": "I look.", "tool_name_0": "look", "tool_args_0": ARGS, "observation_0": R})
    )
    assert [(step.kind, step.text or step.tool, step.arguments, step.result) for step in trace.steps] == [
        ("reasoning", "I look.", None, None), ("call", "look", ARGS, R),
    ]  # fmt: skip


FAILED = {
    "Bedrock": {"toolResult": {"toolUseId": "k", "content": [{"text": "no"}], "status": "error"}},
    "Vercel": {"type": "tool-look", "toolCallId": "k", "state": "output-error", "input": {}, "errorText": "no"},
    "pydantic-ai": {"part_kind": "retry-prompt", "tool_name": "look", "tool_call_id": "k", "content": "no"},
    "AutoGen": {"content": "no", "name": "look", "call_id": "k", "is_error": True},
    "Anthropic": {"type": "tool_result", "tool_use_id": "k", "content": "no", "is_error": True},
}


@pytest.mark.parametrize("part", FAILED.values(), ids=FAILED.keys())
def test_a_failed_call_says_so(part):
    asked = {"role": "assistant", "tool_calls": [{"id": "k", "function": {"name": "look", "arguments": "{}"}}]}
    (call,) = read_trace(json.dumps([asked, {"role": "user", "content": [part]}])).steps
    assert (call.tool, call.error) in (("look", "failed"), ("look", "no"))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_spoilt_conversations_are_read_or_refused(name):
    hold_spoilt(CONVERSATIONS[name], name, 40)
