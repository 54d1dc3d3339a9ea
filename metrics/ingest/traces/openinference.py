"""OpenInference's attributes of a span (Phoenix) under the names of OpenTelemetry's GenAI conventions."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from metrics.ingest.traces.chat_traces import decoded
from metrics.text.agents.traces import text_of

MARK = "openinference"
DEEPEST = 32  # parts of a name that are looked at
WHOLE = ("value", "content", "arguments", "parameters")  # whose names are not attributes but the user's
SIDES = ("input", "output")
PLACE = re.compile(r"[0-9]{1,5}")
Tree = dict[str, Any]


def gen_ai(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an OpenInference span says, as gen_ai.* attributes; nothing for other spans.

    Names may be joined (`llm.input_messages.0.message.role`), nested, or both. An LLM span is a chat with its messages,
    tokens and cost, a TOOL span a call with its arguments and result; any other holds what happens inside it.
    """
    if not any(name.startswith(MARK) for name in attributes):
        return {}
    tree = _tree(attributes)
    kind = text_of(_at(tree, "openinference.span.kind")).upper()
    if kind == "LLM":
        return _chat(tree)
    if kind == "TOOL":
        given, result = (decoded(_at(tree, f"{side}.value")) for side in SIDES)
        return _known({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": _at(tree, "tool.name"),
            "gen_ai.tool.call.id": _at(tree, "tool.id") or _at(tree, "tool_call.id"),
            "gen_ai.tool.call.arguments": decoded(_at(tree, "tool.parameters")) if given is None else given,
            "gen_ai.tool.call.result": result,
        })  # fmt: skip
    return {"gen_ai.operation.name": "invoke_agent"} if kind else {}


def _chat(tree: Tree) -> dict[str, Any]:
    found: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    for side, role in zip(SIDES, ("user", "assistant"), strict=True):
        messages = [_message(entry) for entry in _entries(_at(tree, f"llm.{side}_messages"))]
        value = _at(tree, f"{side}.value")
        if not messages and value is not None:
            messages = [{"role": role, "content": text_of(value)}]
        found[f"gen_ai.{side}.messages"] = [message for message in messages if message]
    parts = [_at(tree, f"llm.token_count.{part}") for part in ("prompt", "completion")]
    if parts == [None, None]:
        parts[0] = _at(tree, "llm.token_count.total")
    found |= zip(("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"), parts, strict=True)
    return _known(found | {"gen_ai.usage.cost": _at(tree, "llm.cost.total")})


def _message(entry: Any) -> dict[str, Any]:
    inner = entry.get("message") if isinstance(entry, Mapping) else None
    if not isinstance(inner, Mapping) or not inner.get("role"):
        return {}
    parts = [text for part in _entries(inner.get("contents")) if (text := text_of(_at(part, "message_content.text")))]
    calls = [
        {"id": _at(call, "tool_call.id"), "name": _at(call, "tool_call.function.name"),
         "arguments": _at(call, "tool_call.function.arguments")}
        for call in _entries(inner.get("tool_calls"))
    ]  # fmt: skip
    return _known({
        "role": text_of(inner["role"]), "content": inner.get("content") or "\n".join(parts) or None,
        "tool_calls": calls or None, "tool_call_id": inner.get("tool_call_id"),
    })  # fmt: skip


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _tree(value: Any, depth: int = 0) -> Any:
    """Return objects with joined names as nested ones: {"a.b": 1, "a": {"c": 2}} is {"a": {"b": 1, "c": 2}}."""
    if depth > DEEPEST:
        return value
    if isinstance(value, list):
        return [_tree(entry, depth + 1) for entry in value]
    if not isinstance(value, Mapping):
        return value
    found: Tree = {}
    for name, inner in value.items():
        *above, last = str(name).split(".", DEEPEST)
        place = found
        for part in above:
            there = place.get(part)
            place[part] = place = there if isinstance(there, dict) else {}
        made, there = inner if last in WHOLE else _tree(inner, depth + 1), place.get(last)
        place[last] = {**there, **made} if isinstance(there, dict) and isinstance(made, dict) else made
    return found


def _at(tree: Any, path: str) -> Any:
    for part in path.split("."):
        tree = tree.get(part) if isinstance(tree, Mapping) else None
    return tree


def _entries(value: Any) -> Iterator[Any]:
    """Yield the entries of a list, or of an object with the places 0, 1, … as names, in order."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, Mapping):
        places = {int(name): inner for name, inner in value.items() if PLACE.fullmatch(name)}
        yield from (places[place] for place in sorted(places))
