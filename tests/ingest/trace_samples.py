"""One conversation as traces of every kind, and what it has to become."""
# ruff: noqa: E501 - tables read better with one line a case

import json
from datetime import UTC, datetime
from typing import Any

from metrics.text.agents.traces import Step

WEATHER, SUM = "Weather in Paris?", "What is 2 + 2?"
CASES = [{"case_id": "c1", "question": WEATHER}, {"case_id": "c2", "question": SUM}]
CALL = Step("call", tool="get_weather", arguments={"city": "Paris"}, result="rainy", id="k")
ASKED, SAID = Step("message", role="user", text=WEATHER), Step("message", role="assistant", text="It rains.")
THOUGHT = Step("reasoning", role="assistant", text="I look it up.")


def tool_call(arguments: Any = '{"city": "Paris"}', id: str = "k") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": WEATHER},
    {"role": "assistant", "content": None, "reasoning_content": "I look it up.", "tool_calls": [tool_call()]},
    {"role": "tool", "tool_call_id": "k", "content": "rainy"}, {"role": "assistant", "content": "It rains."},
]  # fmt: skip
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": WEATHER}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look it up."},
            {"type": "tool_use", "id": "k", "name": "get_weather", "input": {"city": "Paris"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k", "content": "rainy"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
]
ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": WEATHER}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look it up."}]},
    {"type": "function_call", "id": "fc_1", "call_id": "k", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": "k", "output": "rainy"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains."}]},
]


def parts(role: str, *listed: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(listed)}


HEARD = [parts("user", {"type": "text", "content": WEATHER})]
WANTED = [
    parts(
        "assistant", {"type": "reasoning", "content": "I look it up."},
        {"type": "tool_call", "id": "k", "name": "get_weather", "arguments": {"city": "Paris"}},
    )
]  # fmt: skip
GAVE = [parts("tool", {"type": "tool_call_response", "id": "k", "response": "rainy"})]
REPLIED = [parts("assistant", {"type": "text", "content": "It rains."})]
START = 1_700_000_000_000_000_000
SECOND = 10**9


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP spells it."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": name, "value": typed(item)} for name, item in value.items()]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(name: str, begin: float, end: float, trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    """A span of OTLP, from `begin` to `end` seconds; in names of attributes `__` stands for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return {
        "traceId": trace, "spanId": name, "name": name,
        "startTimeUnixNano": str(int(START + begin * SECOND)), "endTimeUnixNano": str(int(START + end * SECOND)),
        "attributes": [{"key": key, "value": typed(value)} for key, value in named.items()], "status": {},
    }  # fmt: skip


def export(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    attributes = [{"key": key, "value": typed(value)} for key, value in resource.items()]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}]}


def agent_spans(structured: bool = False) -> list[dict[str, Any]]:
    """An agent that asks a model twice and calls a tool between; messages as JSON text, or as values."""
    write = (lambda value: value) if structured else json.dumps
    first = [WANTED[0] | {"finish_reason": "tool_call"}]
    return [
        span("invoke_agent", 0, 6, operation__name="invoke_agent", input__messages=write(HEARD),
             output__messages=write(REPLIED), usage__input_tokens=999),
        span("chat 1", 1, 2, operation__name="chat", input__messages=write(HEARD), output__messages=write(first),
             usage__input_tokens=30, usage__output_tokens=5),
        span("execute_tool get_weather", 3, 3.5, operation__name="execute_tool", tool__name="get_weather",
             tool__call__id="k", tool__call__result="rainy"),
        span("chat 2", 4, 5, operation__name="chat", input__messages=write(HEARD + WANTED + GAVE),
             output__messages=write(REPLIED), usage__input_tokens=60, usage__output_tokens=7),
    ]  # fmt: skip


def flat(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans as the console exporter prints them: a context, times as text, attributes by name."""

    def written(time: str) -> str:
        return datetime.fromtimestamp(int(time) / SECOND, UTC).isoformat()

    return [
        {
            "name": each["name"], "context": {"trace_id": "0x1", "span_id": each["spanId"]},
            "start_time": written(each["startTimeUnixNano"]), "end_time": written(each["endTimeUnixNano"]),
            "status": {"status_code": "UNSET"},
            "attributes": {entry["key"]: next(iter(entry["value"].values())) for entry in each["attributes"]},
        }
        for each in spans
    ]  # fmt: skip


def old_events() -> dict[str, Any]:
    """A chat span that tells the conversation by events, as the conventions did before 1.37."""
    made = span("chat", 0, 1, operation__name="chat", system="openai")
    tool_calls = [{"id": "k", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]
    told = [
        ("gen_ai.user.message", {"content": WEATHER}),
        ("gen_ai.assistant.message", {"tool_calls": json.dumps(tool_calls)}),
        ("gen_ai.tool.message", {"id": "k", "content": "rainy"}),
        ("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": "It rains."})}),
    ]
    made["events"] = [
        {
            "name": name,
            "timeUnixNano": str(START),
            "attributes": [{"key": k, "value": typed(v)} for k, v in own.items()],
        }
        for name, own in told
    ]
    return made


def numbered() -> dict[str, Any]:
    """A span whose conversation stands in numbered attributes."""
    named = {
        "prompt__0__role": "user", "prompt__0__content": WEATHER, "completion__0__role": "assistant",
        "completion__0__tool_calls__0__id": "k", "completion__0__tool_calls__0__name": "get_weather",
        "completion__0__tool_calls__0__arguments": '{"city": "Paris"}',
    }  # fmt: skip
    return span("openai.chat", 0, 1, **named)


KINDS: dict[str, tuple[Any, list[Step]]] = {
    "OpenAI's messages": (CHAT, [ASKED, THOUGHT, CALL, SAID]),
    "an object with messages": ({"messages": CHAT, "model": "m"}, [ASKED, THOUGHT, CALL, SAID]),
    "Anthropic's blocks": (BLOCKS, [ASKED, THOUGHT, CALL, SAID]),
    "Responses items": (ITEMS, [ASKED, THOUGHT, CALL, SAID]),
    "a response": ({"object": "response", "input": WEATHER, "output": ITEMS[1:]}, [ASKED, THOUGHT, CALL, SAID]),
    "a chat completion": ({"object": "chat.completion", "choices": [{"message": CHAT[3]}]}, [SAID]),
    "spans, messages as text": (export(*agent_spans()), [ASKED, THOUGHT, CALL, SAID]),
    "spans, messages as values": (export(*agent_spans(structured=True)), [ASKED, THOUGHT, CALL, SAID]),
    "spans, flat": (flat(agent_spans()), [ASKED, THOUGHT, CALL, SAID]),
    "spans, out of order": (export(*reversed(agent_spans())), [ASKED, THOUGHT, CALL, SAID]),
    "spans under a name": ({"spans": flat(agent_spans())}, [ASKED, THOUGHT, CALL, SAID]),
    "spans with events": (export(old_events()), [ASKED, CALL, SAID]),
    "spans with numbered attributes": ([numbered()], [ASKED, Step("call", tool="get_weather", arguments={"city": "Paris"}, id="k")]),
    "steps of our own": ({"steps": [{"role": "user", "text": WEATHER}, {"tool": "a"}]}, [ASKED, Step("call", tool="a")]),
    "DeepEval's calls": ([{"name": "a", "output": 2}], [Step("call", tool="a", result=2)]),
}  # fmt: skip
