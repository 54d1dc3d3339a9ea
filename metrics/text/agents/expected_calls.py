"""Expected calls: the calls of tools that an agent should make, as tools and data sets write them down."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from metrics.text.agents.dialects import calls_in, is_message
from metrics.text.agents.message_parts import WRITTEN_CALL, is_call
from metrics.text.agents.traces import TraceError
from metrics.text.json_text import JsonError, read_json

MOST_CALLS = 200
MAX_CALL_SHOWN = 300  # characters of a call
CALLS_FORM = 'a JSON list of calls such as [{"name": "search", "arguments": {"query": "Paris"}}], in order'
_json = json.JSONEncoder(ensure_ascii=False).encode  # made once: json.dumps makes one for every value


class ExpectedCallsError(ValueError):
    """Expected calls that cannot be read; the text says what was found."""


class Call(NamedTuple):
    """A call of a tool: its name, and its arguments by name; None where they are not stated."""

    tool: str
    arguments: Mapping[str, Any] | None


def expected_calls(text: str) -> tuple[Call, ...]:
    """Return the calls that a JSON text lists, in their order. Raises ExpectedCallsError for anything else.

    Each is an object with `name` and `arguments` (or `args`, `input_parameters`, `input`, …), a call as a framework
    writes it (metrics.text.agents.dialects), or the bare name of a tool. Without arguments, any are right; with {},
    none. A list of messages stands for the calls in them. An empty list means that no tool should be called.

    >>> expected_calls('[{"name": "add", "arguments": {"a": 1}}, "stop"]')
    (Call(tool='add', arguments={'a': 1}), Call(tool='stop', arguments=None))
    """
    try:
        document = read_json(text).value
    except JsonError as failure:
        raise ExpectedCallsError(f"no JSON: {failure}") from None
    if not isinstance(document, list):
        kind = f"an object with {', '.join(map(str, list(document)[:8]))}" if isinstance(document, dict) else "no list"
        raise ExpectedCallsError(kind[:200])
    calls = tuple(call for place, entry in enumerate(document, 1) for call in _calls(entry, place))
    if len(calls) > MOST_CALLS:
        raise ExpectedCallsError(f"{len(calls):,} calls, more than {MOST_CALLS}")
    return calls


def calls_json(calls: tuple[Call, ...]) -> str:
    """Return the JSON text of expected calls, as it is stored."""
    listed = [
        {"name": call.tool} | ({} if call.arguments is None else {"arguments": dict(call.arguments)}) for call in calls
    ]
    return json.dumps(listed, ensure_ascii=False)


def call_text(call: Call) -> str:
    """Return a call in one line of at most 300 characters: add(a=1, b="x"); without stated arguments, add(…)."""
    if call.arguments is None:
        return f"{call.tool}(…)"
    given = [f"{name}={_json(value)}" for name, value in call.arguments.items()]
    text = f"{call.tool}({', '.join(given)})"
    return text if len(text) <= MAX_CALL_SHOWN else text[: MAX_CALL_SHOWN - 1] + "…"


def named_arguments(value: Any) -> dict[str, Any]:
    """Return the arguments of a call by name: of an object, or the JSON text of one; anything else is one `input`."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(JsonError):
            value = read_json(value).value
    if value is None or value == "":
        return {}
    return dict(value) if isinstance(value, Mapping) else {"input": value}


def _calls(entry: Any, place: int) -> list[Call]:
    """Return the call that an entry is, or those of a message."""
    if isinstance(entry, str) and entry and not WRITTEN_CALL.fullmatch(entry):
        return [Call(entry, None)]
    if not isinstance(entry, Mapping):
        raise ExpectedCallsError(f"call {place} is {json.dumps(entry, ensure_ascii=False)[:80]}, not an object")
    bare = not is_message(entry) and not is_call(entry) and isinstance(entry.get("name"), str)
    try:
        parts = calls_in({"tool": entry["name"], **entry} if bare else entry, f"call {place}")
    except TraceError as failure:
        raise ExpectedCallsError(str(failure)) from None
    if any(not part.tool for part in parts) or not (parts or is_message(entry)):
        raise ExpectedCallsError(f"call {place} has no name but {', '.join(map(str, list(entry)[:8])) or 'nothing'}")
    return [Call(part.tool, None if part.value is None else named_arguments(part.value)) for part in parts]
