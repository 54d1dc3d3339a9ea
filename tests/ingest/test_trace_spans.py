"""Traces of OpenTelemetry: times, tokens, failed calls, large exports."""

import json
from typing import Any

import pytest

from metrics.ingest.traces.stored_trace import read_trace
from metrics.text.agents.traces import Step, TraceError
from tests.ingest.trace_samples import CHAT, HEARD, export, span


def failing(**status: Any) -> list[Step]:
    made = span("execute_tool a", 0, 1, operation__name="execute_tool", tool__name="a")
    return list(read_trace(json.dumps(export(made | status))).steps)


def test_what_counts_as_a_failed_call():
    assert failing(status={"code": 2, "message": "timeout"})[0].error == "timeout"
    assert failing(status={"code": "STATUS_CODE_ERROR"})[0].error == "failed"
    caught = {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "boom"}}]}
    assert failing(status={"code": 2}, events=[caught])[0].error == "boom"
    assert failing(status={"code": 1})[0].error is None
    for result, error in (
        ("Error: no such table\nmore", "Error: no such table"),
        ('{"error": {"code": 3}}', '{"code": 3}'),
        ('{"isError": true, "content": []}', "failed"),
        ('{"error": null}', None),
        ("No error at all", None),
    ):
        steps = read_trace(json.dumps([*CHAT[:2], {"role": "tool", "tool_call_id": "k", "content": result}])).steps
        assert steps[-1].error == error


def test_huge_traces():
    spans = [span(f"chat {place}", place, place + 1, input__messages=json.dumps(HEARD * 20)) for place in range(200)]
    assert read_trace(json.dumps(export(*spans))).steps
    with pytest.raises(TraceError, match="characters, more than"):
        read_trace(" " * 20_000_001)


def test_each_step_has_the_times_tokens_cost_and_depth_of_its_span():
    """An agent that asks a model, and a tool that asks another one inside."""
    parents = {"chat a": "agent", "execute_tool b": "agent", "chat c": "execute_tool b"}
    usage = {"usage__input_tokens": 30, "usage__output_tokens": 5, "usage__cost": 0.25}
    spans = [
        span("agent", 0, 9, operation__name="invoke_agent"),
        span("chat a", 1, 3, input__messages=said("user", "Go."), output__messages=said("assistant", "Ok."), **usage),
        span("execute_tool b", 3, 8, operation__name="execute_tool", tool__name="b", tool__call__id="k"),
        span("chat c", 4, 6, output__messages=said("assistant", "Inner."), usage__output_tokens=7),
    ]  # fmt: skip
    for each in spans:
        each |= {"spanId": each["name"], "parentSpanId": parents.get(each["name"], "")}
    trace = read_trace(json.dumps(export(*spans)))
    told = [(one.text or one.tool, one.seconds, one.tokens, one.cost_usd, one.depth) for one in trace.steps]
    assert told == [
        ("Go.", None, None, None, None), ("Ok.", 2.0, 35, 0.25, None), ("b", 5.0, None, None, None),
        ("Inner.", 2.0, 7, None, 1),
    ]  # fmt: skip
    assert trace.tokens == 42
    assert [step.started and step.started[17:19] for step in trace.steps] == [None, "21", "23", "24"]
    assert list(read_trace(trace.text).steps) == list(trace.steps)


def said(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
