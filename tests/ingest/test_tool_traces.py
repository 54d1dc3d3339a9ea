"""Traces in exports of Langfuse and Phoenix: when each step happened, how long it took, its tokens and its cost."""

import json
from contextlib import suppress
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.ingest import read_combined
from metrics.ingest.traces.stored_trace import read_trace, trace_of
from metrics.text.agents.traces import Step, TraceError, steps_of
from tests.ingest.files import write
from tests.ingest.test_tool_exports import ODD, observation
from tests.random_seeds import LONG

ASKED = [{"role": "user", "content": "Capital?"}]
ARGUMENTS = '{"q": "Paris"}'
FOUND = "Paris is the capital."
CALL = {"id": "k1", "type": "function", "function": {"name": "search", "arguments": ARGUMENTS}}
AGAIN = [
    *ASKED, {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "k1", "content": FOUND},
]  # fmt: skip
STEPS = [  # text or tool, second it started, seconds, tokens, dollars
    ("Capital?", None, None, None, None),
    ("search", 1.6, 0.4, 12, 0.002),
    ("Paris", 2.1, 1.9, 12, 0.003),
]


def at(second: float) -> str:
    return f"2024-01-01T00:00:{second:06.3f}+00:00"


def times(start: float, end: float) -> dict[str, str]:
    return {"startTime": at(start), "endTime": at(end)}


def langfuse() -> list[dict[str, Any]]:
    """An agent that asks its model, calls a tool and asks again; the export gives calls no id."""
    inside = {"parentObservationId": "root"}
    return [
        observation(id="root", type="AGENT", model=None, input="Capital?", output="Paris", usageDetails={})
        | times(0, 4),
        observation(id="g2", input=AGAIN, calculatedTotalCost=0.003) | inside | times(2.1, 4),
        observation(id="g1", input=ASKED, output={"role": "assistant", "tool_calls": [CALL]}, calculatedTotalCost=0.002)
        | inside | times(0.5, 1.5),
        observation(id="t", type="TOOL", name="search", input=json.loads(ARGUMENTS), output=FOUND, usageDetails={})
        | inside | times(1.6, 2),
    ]  # fmt: skip


def inference(kind: str, start: float, end: float, id: str, parent: str | None, **attributes: Any) -> dict[str, Any]:
    """A span of OpenInference, its attributes flat, as OpenTelemetry exports them."""
    joined = {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "name": "search" if kind == "TOOL" else id, "context": {"trace_id": "t1", "span_id": id}, "parent_id": parent,
        "start_time": at(start), "end_time": at(end), "status_code": "OK", "status_message": "",
        "attributes": {"openinference.span.kind": kind, **joined},
    }  # fmt: skip


def listed(side: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Messages as OpenInference's numbered attributes."""
    found: dict[str, Any] = {}
    for place, message in enumerate(messages):
        prefix = f"llm.{side}_messages.{place}.message."
        found |= {prefix + name: message[name] for name in ("role", "content", "tool_call_id") if message.get(name)}
        for number, call in enumerate(message.get("tool_calls", ())):
            start = f"{prefix}tool_calls.{number}.tool_call."
            found |= {start + "id": call["id"], start + "function.name": call["function"]["name"],
                      start + "function.arguments": call["function"]["arguments"]}  # fmt: skip
    return found


def phoenix() -> list[dict[str, Any]]:
    """The same agent as spans of OpenInference."""
    usage = {"llm__token_count__prompt": 9, "llm__token_count__completion": 3, "llm__token_count__total": 12}
    first = {"role": "assistant", "tool_calls": [CALL]}
    return [
        inference("AGENT", 0, 4, "root", None, input__value="Capital?", output__value="Paris"),
        inference("LLM", 0.5, 1.5, "g1", "root", llm__cost__total=0.002, llm__model_name="gpt-4o", **usage,
                  **listed("input", ASKED), **listed("output", [first])),
        inference("TOOL", 1.6, 2, "t", "root", input__value=ARGUMENTS, output__value=FOUND),
        inference("LLM", 2.1, 4, "g2", "root", llm__cost__total=0.003, **usage, **listed("input", AGAIN),
                  **listed("output", [{"role": "assistant", "content": "Paris"}])),
    ]  # fmt: skip


def nested(value: dict[str, Any]) -> dict[str, Any]:
    """Attributes as Phoenix's JSON nests them, places in lists as names of their own."""
    tree: dict[str, Any] = {}
    for name, inner in value.items():
        *above, last = name.split(".")
        place = tree
        for part in above:
            place = place.setdefault(part, {})
        place[last] = inner
    return tree


def told(steps: Any) -> list[tuple[Any, ...]]:
    """What STEPS says of steps."""

    def second(step: Step) -> float | None:
        return float(step.started[17:].removesuffix("+00:00")) if step.started else None

    return [(step.text or step.tool, second(step), step.seconds, step.tokens, step.cost_usd) for step in steps]


EXPORTS = {
    "Langfuse, observations": langfuse(),
    "Langfuse, a trace with observations": [
        {"id": "t1", "timestamp": at(0), "input": "Capital?", "output": "Paris", "sessionId": None, "public": False,
         "observations": langfuse()},
    ],
    "Phoenix, flat attributes": phoenix(),
    "Phoenix, nested attributes": [span | {"attributes": nested(span["attributes"])} for span in phoenix()],
    "Phoenix, names of a frame": [
        {name: value for name, value in span.items() if name not in ("attributes", "context")}
        | {f"context.{name}": value for name, value in span["context"].items()}
        | {f"attributes.{name}": value for name, value in span["attributes"].items()}
        for span in phoenix()
    ],
}  # fmt: skip


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_steps_have_their_times_tokens_and_cost(tmp_path, export):
    _, outputs = read_combined(write(tmp_path, "a.json", export))
    (row,) = outputs.outputs.to_pylist()
    steps = steps_of(row["trace"])
    assert told(steps) == STEPS
    assert (steps[1].arguments, steps[1].result) == ({"q": "Paris"}, FOUND)
    assert (row["answer"], row["tokens"], row["cost_usd"]) == ("Paris", 24, pytest.approx(0.005))


@pytest.mark.parametrize("export", [langfuse(), phoenix()], ids=["Langfuse", "Phoenix"])
def test_odd_values_in_a_step_are_read_or_refused(tmp_path, export):
    """Whatever stands in an entry of a step, the file is read, or ends in a list of problems."""
    changes = [(place, name, odd) for place, one in enumerate(export) for name in one for odd in ODD.values()]
    for place, name, odd in changes if LONG else changes[::5]:  # of the eight odd values each comes with other names
        changed = [*export[:place], export[place] | {name: odd}, *export[place + 1 :]]
        with suppress(InputError):
            read_combined(write(tmp_path, "a.json", json.dumps(changed)))


def test_odd_attributes_of_openinference_are_read_or_refused():
    odd_names = {"llm": "x", "llm.input_messages": {"0": 1, "x": {}}, "llm.output_messages.0.message": [1], "tool": []}
    for place, span in enumerate(phoenix()):
        attributes = span["attributes"]
        changes = [{name: odd} for name in attributes for odd in ODD.values()]
        for change in [*changes, *({name: odd} for name, odd in odd_names.items())]:
            spans = phoenix()
            spans[place] |= {"attributes": attributes | change}
            with suppress(TraceError):
                trace_of(spans)


def test_spans_of_openinference_are_a_trace_in_which_a_failed_tool_says_why():
    spans = phoenix()
    spans[2] |= {"status": {"code": "ERROR", "message": "timeout"}}
    del spans[2]["attributes"]["output.value"]
    trace = read_trace(json.dumps(spans))
    assert [step.error for step in trace.steps if step.kind == "call"] == ["timeout"]
    trace = read_trace(json.dumps(phoenix()))
    assert told(trace.steps) == STEPS
    assert (trace.seconds, trace.tokens, trace.cost_usd) == (4.0, 24, pytest.approx(0.005))
    again = read_trace(trace.text)
    assert (again.cost_usd, list(again.steps)) == (trace.cost_usd, list(trace.steps))


def test_calls_without_ids_and_a_trace_of_one_generation(tmp_path):
    count = 300
    calls = [{"id": f"k{place}", "function": {"name": "search", "arguments": "{}"}} for place in range(count)]
    spans = [inference("LLM", 0, 1, "g", None, **listed("output", [{"role": "assistant", "tool_calls": calls}]))]
    spans += [inference("TOOL", 2, 3, f"t{place}", None, output__value=str(place)) for place in range(count)]
    steps = read_trace(json.dumps(spans)).steps
    assert [step.result for step in steps] == [str(place) for place in range(count)]
    for export in (langfuse()[:2], phoenix()[:2]):
        _, outputs = read_combined(write(tmp_path, "a.json", export))
        assert [row.get("trace") for row in outputs.outputs.to_pylist()] == [None]
