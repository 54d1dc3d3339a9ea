"""Conversations as traces: OpenAI's messages and Responses items, Anthropic's blocks, OpenTelemetry's parts."""

import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from metrics.text.agents.traces import Step, TraceError, error_text, text_of
from metrics.text.json_text import JsonError, read_json

ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model")
CALLS = {  # items of the Responses API that are calls: where arguments and result are
    "function_call": ("arguments", "output"), "custom_tool_call": ("input", "output"),
    "mcp_call": ("arguments", "output"), "web_search_call": ("action", "results"),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"), "image_generation_call": ("revised_prompt", "status"),
    "computer_call": ("action", "output"), "local_shell_call": ("action", "output"),
}  # fmt: skip
OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
ITEMS = ("message", "reasoning", *CALLS, *OUTPUTS)
NOT_COMPLETED = ("failed", "incomplete", "cancelled")
FAILED = ("error:", "traceback (most recent call last)")  # how a failed call's result begins


def is_conversation(listed: list[Any]) -> bool:
    """Return whether a list begins like messages of a chat or items of the Responses API."""
    first = listed[0] if listed else None
    if not isinstance(first, Mapping):
        return False
    content = {"content", "parts", "tool_calls", "function_call", "tool_call_id"} & first.keys()
    return (first.get("role") in ROLES and bool(content)) or first.get("type") in ITEMS


class Conversation:
    """Steps built message by message: a result belongs to the call with its id, or without ids to the last call."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._places: dict[str, int] = {}
        self._asked: dict[str, deque[str]] = {}  # ids of calls, by tool

    def add(self, message: Any, where: str = "message") -> None:
        """Add one message or item; TraceError naming `where` it is for anything else."""
        if not isinstance(message, Mapping):
            raise TraceError(f"{where} is {type(message).__name__}, not an object")
        kind, role = (value if isinstance(value := message.get(name), str) else "" for name in ("type", "role"))
        problem = text_of(message["status"]) if message.get("status") in NOT_COMPLETED else None
        if kind in CALLS:
            arguments, result = (message.get(name) for name in CALLS[kind])
            tool = text_of(message.get("name")) or kind.removesuffix("_call")
            id = text_of(message.get("call_id") or message.get("id"))
            self.call(id, tool, arguments)
            self.answer(id, result, message.get("error") or problem)
        elif kind in OUTPUTS:
            self.answer(text_of(message.get("call_id")), message.get("output"), problem)
        elif kind == "reasoning" and not role:
            self._part("assistant", {**message, "text": [message.get("summary"), message.get("content")]})
        elif not role:
            raise TraceError(f"{where} has no role")
        else:
            self._message(role, message)

    def _message(self, role: str, message: Mapping[str, Any]) -> None:
        content = message.get("parts", message.get("content"))
        if role in ("tool", "function") and "parts" not in message:
            self.answer(text_of(message.get("tool_call_id")), _content(content), None, text_of(message.get("name")))
            return
        for name in ("reasoning_content", "reasoning"):
            if isinstance(message.get(name), str):
                self._text("reasoning", role, message[name])
        for part in content if isinstance(content, list) else [content, message.get("refusal")]:
            self._part(role, part)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else [message.get("function_call")]:
            if isinstance(call, Mapping):
                function = call["function"] if isinstance(call.get("function"), Mapping) else call
                self.call(text_of(call.get("id")), text_of(function.get("name")), function.get("arguments"))

    def _part(self, role: str, part: Any) -> None:
        if not isinstance(part, Mapping):
            self._text("message", role, text_of(part))
            return
        kind = part.get("type")
        if kind in ("tool_call", "tool_use", "server_tool_use", "server_tool_call"):
            arguments = next((part[name] for name in ("arguments", "input", "server_tool_call") if name in part), None)
            self.call(text_of(part.get("id")), text_of(part.get("name")), arguments)
        elif kind in ("tool_call_response", "tool_result", "server_tool_call_response"):
            names = ("response", "result", "content", "server_tool_call_response")
            result = next((part[name] for name in names if name in part), None)
            error = "failed" if part.get("is_error") is True else None
            self.answer(text_of(part.get("id") or part.get("tool_use_id")), _content(result), error)
        elif kind in ("reasoning", "thinking"):
            text = part.get("text") or part.get("thinking") or part.get("content")
            self._text("reasoning", role, _joined(text))
        else:
            self._text("message", role, _joined(part))

    def _text(self, kind: str, role: str, text: str) -> None:
        if text.strip():
            self.steps.append(Step("reasoning" if kind == "reasoning" else "message", role=role, text=text))

    def call(
        self, id: str, tool: str, arguments: Any, started: str | None = None, seconds: float | None = None
    ) -> None:
        """Add a call of a tool; for a known id, complete the call with what is new."""
        given = decoded(arguments)
        place = self._places.get(id) if id else None
        if place is not None:
            known = self.steps[place]
            more = known.arguments if known.arguments is not None else given
            self.steps[place] = replace(
                known, tool=known.tool or tool, arguments=more, started=started or known.started,
                seconds=known.seconds if seconds is None else seconds,
            )  # fmt: skip
            return
        self._places[id] = len(self.steps)
        tool = tool or "unnamed tool"
        if id:
            self._asked.setdefault(tool, deque()).append(id)
        self.steps.append(Step("call", tool=tool, arguments=given, id=id, started=started, seconds=seconds))

    def requested(self, tool: str) -> str:
        """Return the id of the first call of a tool without a result, each id once; empty where there is none."""
        ids = self._asked.get(tool, deque())
        while ids:
            step = self.steps[self._places[id := ids.popleft()]]
            if step.result is None and step.error is None and step.seconds is None:
                return id
        return ""

    def answer(self, id: str, result: Any, error: Any = None, tool: str = "") -> None:
        """Add the result of the call with that id; without such a call, a message of the tool."""
        place = self._places.get(id)
        value = decoded(result)
        if place is None:
            self._text("message", "tool", text_of(value))
            return
        known = self.steps[place]
        found = error_text(error) or _failure(value) or known.error
        kept = value if value is not None else known.result
        self.steps[place] = replace(known, result=kept, error=found, tool=known.tool or tool)
        if not id:  # without ids, as in the old function-calling API, results follow their calls
            del self._places[id]


def conversation(listed: Iterable[Any]) -> list[Step]:
    """Return the steps of messages or items, in order."""
    made = Conversation()
    for place, message in enumerate(listed, 1):
        made.add(message, f"message {place}")
    return made.steps


def decoded(value: Any) -> Any:
    """Return the object or list that a JSON text holds; any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return read_json(value).value
    except JsonError:
        return value


def _failure(result: Any) -> str | None:
    """Return the error that a result reports: an object with an error, or a text that begins with one."""
    if isinstance(result, Mapping):
        flagged = result.get("is_error") is True or result.get("isError") is True
        return error_text(result.get("error")) or ("failed" if flagged else None)
    if isinstance(result, str) and result.lstrip().lower().startswith(FAILED):
        return result.strip().splitlines()[0][:300]
    return None


def _content(content: Any) -> Any:
    """Return a tool's result: the text of its parts where it has some, else the value."""
    parts = content if isinstance(content, list) else []
    typed = parts and all(isinstance(part, Mapping) and "type" in part for part in parts)
    return _joined(parts) if typed else content


def _joined(value: Any) -> str:
    """Return the text in a part or in nested lists of parts; for a part without text, its type in brackets."""
    if isinstance(value, list):
        return "\n".join(text for text in map(_joined, value) if text)
    if not isinstance(value, Mapping):
        return text_of(value)
    for name in ("text", "content", "refusal"):
        if isinstance(value.get(name), str) and value.get("type") != "blob":
            return str(value[name])
    kind = str(value.get("modality") or value.get("type") or "")
    return f"[{kind.removeprefix('input_').removesuffix('_url')}]" if kind else json.dumps(value, ensure_ascii=False)
