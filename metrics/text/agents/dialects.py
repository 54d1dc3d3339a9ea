"""Messages and calls as frameworks write them, in one spelling: texts, thoughts, calls, results and media, in order.

OpenAI (chat, Responses, old functions), Anthropic, Gemini, Bedrock Converse, Vercel AI SDK, LangChain, pydantic-ai,
AutoGen, smolagents, Inspect, Haystack, LlamaIndex, OpenTelemetry. Names are compared in snake case (toolUseId is
tool_use_id). What looks like a call and is none of these is refused: a call that is lost would be a wrong number.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from metrics.text.agents.message_parts import (
    AIDES,
    CALL_KINDS,
    CALLS,
    LIKE_A_CALL,
    OUTPUTS,
    RESULT_KINDS,
    THOUGHTS,
    UNTOLD,
    WRAPPED_CALLS,
    WRAPPED_RESULTS,
    Part,
    call_parts,
    called_parts,
    content_value,
    fold_keys,
    is_call,
    joined_text,
    kind_of,
    objects_in,
    parts_of,
    result_part,
    unwrap,
)
from metrics.text.agents.traces import Kind, TraceError, text_of
from metrics.text.json_text import JsonError, read_json

ROLES = {  # a role, or a message's type without `Message`, `MessageChunk` or `Event`: our name
    **{role: role for role in ("system", "developer", "user", "assistant", "tool", "function", "model")},
    "human": "user", "ai": "assistant", "gpt": "assistant", "bot": "assistant", "chatbot": "assistant",
    "agent": "assistant", "observation": "tool", "function_execution_result": "tool", "tool_call_execution": "tool",
    "tool_call_request": "assistant", "request": "user", "response": "assistant",
}  # fmt: skip
SENDERS = ("source", "author", "from", "sender")
BARE_TYPES = ("human", "ai", "system", "tool", "function", "function_execution_result")  # of LangChain, AutoGen
SUFFIX = re.compile(r"(_message)?(_chunk|_event)?$")
CONTENTS = ("parts", "content", "blocks", "contents", "items", "value", "message")  # where a message keeps what it says
MESSAGE_CALLS = ("tools_called", "tool_calls", "invalid_tool_calls", "tool_invocations", "tool_uses")
MESSAGE_RESULTS = ("tool_results", "tool_responses")
# what a message tells something by
TOLD = {"parts", "content", "blocks", "contents", "items", *MESSAGE_CALLS, *MESSAGE_RESULTS, *WRAPPED_CALLS, "refusal",
        "tool_call_id", "reasoning_content", "reasoning", "additional_kwargs"}  # fmt: skip
STATED = {*TOLD, "text", "value", "message"}
# beside them, names of tools that are offered, and repetitions
NO_CALLS = {*MESSAGE_CALLS, *MESSAGE_RESULTS, *WRAPPED_CALLS, *WRAPPED_RESULTS, "tools", "functions", "available_tools",
            "tool_choice", "tool_call_chunks", "function", "tool", "tool_call_error", "actions"}  # fmt: skip
CALL_TAG = re.compile(r"<tool_call>\s*(\{[^<]*\})\s*</tool_call>")


class Message(NamedTuple):
    """A message: who said it, and its parts."""

    role: str
    parts: list[Part]


def message_of(message: Any, where: str = "message") -> Message:
    """Return a message, or an item, step or call that stands in its place. Raises TraceError naming `where` it is."""
    if isinstance(message, list | tuple) and len(message) == 2 and isinstance(message[0], Mapping):
        message = {"action": message[0], "observation": message[1]}  # LangChain's intermediate steps
    if not isinstance(message, Mapping):
        raise TraceError(f"{where} is {type(message).__name__}, not an object")
    given = unwrap(fold_keys(message))
    kind, role = kind_of(given), _role(given)
    if kind in UNTOLD:
        return Message(role, [])
    if isinstance(given.get("action"), Mapping) and "observation" in given:
        given = unwrap(fold_keys(given["action"])) | {"observation": given["observation"]}
        return Message("assistant", [*_reasoning(given), *call_parts(given, where)])
    if kind in CALLS or kind in OUTPUTS:
        return Message(role, parts_of(given, where))
    if kind in THOUGHTS and not given.get("role"):
        return Message("assistant", [Part("reasoning", joined_text([given.get("summary"), given.get("content")]))])
    if (step := _memory_step(given, where)) is not None:
        return step
    if not role and (is_call(given) or kind in (*CALL_KINDS, *RESULT_KINDS)):
        return Message("assistant", [*_reasoning(given), *parts_of(given, where)])
    if not role and _is_step(given):
        role = "assistant"
    if not role:
        raise TraceError(f"{where} has no role")
    _refuse_unknown(given, where)
    return Message(role, _parts_said(given, role, kind, where))


def is_message(value: Any) -> bool:
    """Return whether a value is a message, or an item or step in its place, and not a step of our own."""
    if not isinstance(value, Mapping):
        return isinstance(value, list) and len(value) == 2 and isinstance(value[0], Mapping) and is_call(value[0])
    given = unwrap(fold_keys(value))
    return is_chat_message(value) or isinstance(given.get("action"), Mapping) or _is_step(given) or _is_memory(given)


def is_chat_message(value: Any) -> bool:
    """Return whether a value is beyond doubt a message or an item of a conversation, and no record of a table."""
    if not isinstance(value, Mapping) or value.get("kind") in get_args(Kind):
        return False
    given = unwrap(fold_keys(value))
    if kind_of(given) in (*CALLS, *OUTPUTS, *THOUGHTS):
        return True
    return _role(given) in ROLES.values() and bool(TOLD & given.keys() or "from" in given)


def _is_memory(given: Mapping[str, Any]) -> bool:
    """Return whether an object is a step in the memory of an agent of smolagents."""
    alone = ({"task", "task_images"}, {"system_prompt"}, {"plan"})
    known = "step_number" in given or {"plan", "timing"} <= given.keys()
    return known or any(given and set(given) <= names for names in alone)


def _is_step(given: Mapping[str, Any]) -> bool:
    """Return whether an object without a role is a step of a model: of Vercel's generateText, a run of OpenAI's."""
    return bool(given.keys() & {"finish_reason", *MESSAGE_CALLS}) and "tool" not in given


def calls_in(entry: Any, where: str) -> list[Part]:
    """Return the calls of a message, a part or a call itself; none where it has none. Raises TraceError."""
    parts = message_of(entry, where).parts if is_message(entry) else parts_of(entry, where)
    return [part for part in parts if part.kind == "call"]


def _parts_said(given: Mapping[str, Any], role: str, kind: str, where: str) -> list[Part]:
    """Return the parts of a message: what was thought, said, called, and what calls gave."""
    name = next((name for name in CONTENTS if name in given), "")
    content = given.get(name)
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):  # an event of Google's ADK
        content, name = content["parts"], "parts"
    if given.get("from") in WRAPPED_CALLS and isinstance(content, str):  # of ShareGPT
        return _called_parts(objects_in(_json(content, where), where, "a call"), where)
    listed = content if isinstance(content, list) else [content]
    if role in ("assistant", "model"):
        listed = [piece for part in listed for piece in (_pieces(part, where) if isinstance(part, str) else [part])]
    parts = [made for part in listed for made in parts_of(part, where)]
    if kind == "thought":
        return [part._replace(kind="reasoning") for part in parts]
    results = [
        result_part(fold_keys(each)) for field in MESSAGE_RESULTS if field in given for each in objects_in(given[field])
    ]
    if role in ("tool", "function") and name != "parts" and not any(part.kind == "result" for part in parts):
        return results or [_result_said(given, content)]
    if content is None and isinstance(given.get("text"), str):
        parts.append(Part("text", given["text"]))
    if "refusal" in given:
        parts.append(Part("text", text_of(given["refusal"])))
    made = _calls_beside(given, parts, where)
    parts = [*made, *parts] if given.get("tools_called") else [*parts, *made]  # of DeepEval, called for the answer
    return [*_reasoning(given), *parts, *results]


def _called_parts(calls: Iterable[Any], where: str) -> list[Part]:
    return [part for call in calls for part in called_parts(call, where)]


def _result_said(given: Mapping[str, Any], content: Any) -> Part:
    """Return the message of a tool as the result that its content is."""
    more = given["additional_kwargs"] if isinstance(given.get("additional_kwargs"), Mapping) else {}
    names = {
        "id": given.get("tool_call_id") or more.get("tool_call_id"),
        "name": given.get("name") or given.get("function"),
    }
    failed = given.get("error") or (given.get("status") == "error" and "failed")
    return result_part({**names, "content": content_value(content), "error": failed or None})


def _calls_beside(given: Mapping[str, Any], parts: Sequence[Part], where: str) -> list[Part]:
    """Return the calls that a message has beside its content, but for those that its parts have told already."""
    calls = [each for field in MESSAGE_CALLS if field in given for each in objects_in(given[field], where, field)]
    if "parts" in given and any(part.kind == "call" for part in parts):  # of Vercel, told again in the parts
        return []
    more = fold_keys(given["additional_kwargs"]) if isinstance(given.get("additional_kwargs"), Mapping) else {}
    old = given.get("function_call") or more.get("function_call")
    calls = calls or objects_in(more.get("tool_calls")) or objects_in(old)
    if not calls:
        return []
    known = {part.id for part in parts if part.kind == "call" and part.id}
    return [part for part in _called_parts(calls, where) if part.id not in known]


def _pieces(text: str, where: str) -> list[Any]:
    """Return a text with the calls that Qwen's and Hermes' models write into it as parts of their own."""
    pieces: list[Any] = []
    for place, piece in enumerate(CALL_TAG.split(text)):
        pieces.append({"tool_call": _json(piece, where)} if place % 2 else piece)
    return [piece for piece in pieces if piece]


def _json(text: str, where: str) -> Any:
    try:
        return read_json(text).value
    except JsonError as failure:
        raise TraceError(f"{where} has a call that is no JSON: {failure}") from None


def _reasoning(given: Mapping[str, Any]) -> list[Part]:
    names = ("reasoning_content", "reasoning", "thought", "thinking")
    return [Part("reasoning", given[name]) for name in names if isinstance(given.get(name), str)][:1]


def _memory_step(given: Mapping[str, Any], where: str) -> Message | None:
    """Return a step of smolagents' memory; None for anything else."""
    for name, role in (("task", "user"), ("system_prompt", "system")):
        if isinstance(given.get(name), str) and _is_memory(given):
            return Message(role, [Part("text", given[name])])
    if isinstance(given.get("plan"), str):
        return Message("assistant", [Part("reasoning", given["plan"])])
    if "step_number" not in given:
        return Message("assistant", [Part("text", text_of(given["output"]))]) if given.keys() == {"output"} else None
    parts = [Part("reasoning", joined_text(given.get("model_output")))]
    for call in objects_in(given.get("tool_calls"), where, "tool_calls"):
        parts += call_parts(fold_keys(call), where)
    last = parts[-1] if parts[-1].kind == "call" else Part("call")
    if given.get("observations") is not None or given.get("error"):
        parts.append(Part("result", "", last.id, "", given.get("observations"), given.get("error")))
    if given.get("is_final_answer") or last.tool == "final_answer":
        stated = last.value.get("answer", last.value) if isinstance(last.value, Mapping) else last.value
        output = given.get("action_output")
        parts.append(Part("text", text_of(stated if output is None else output)))
    return Message("assistant", parts)


def _role(given: Mapping[str, Any]) -> str:
    """Return who a message is by: its role, type, or sender; "" where it tells none."""
    role = given.get("role")
    if isinstance(role, Mapping):
        role = fold_keys(role).get("label")
    if isinstance(role, str) and role:
        return ROLES.get(role.lower(), role.lower())
    kind = kind_of(given)
    named = SUFFIX.sub("", kind)
    if named in ROLES and (named != kind or named in BARE_TYPES or ("kind" in given and "parts" in given)):
        return "" if isinstance(given.get("function"), Mapping) else ROLES[named]
    sender = next((given[name] for name in SENDERS if isinstance(given.get(name), str)), None)
    told = named != kind or ("from" in given and "value" in given) or isinstance(given.get("content"), Mapping)
    return ROLES.get(sender.lower(), "assistant") if sender is not None and told else ""


def _refuse_unknown(given: Mapping[str, Any], where: str) -> None:
    if given.keys().isdisjoint(STATED):
        objects = [name for name, value in given.items() if name not in AIDES and objects_in(value)]
        if objects:
            raise TraceError(f"{where} has {', '.join(objects)[:80]}, which is not understood")
    for name, value in given.items():
        if name in NO_CALLS or name in TOLD or name in AIDES or not isinstance(value, list | Mapping):
            continue
        if (LIKE_A_CALL.search(name) and value) or any(is_call(each) for each in objects_in(value)):
            raise TraceError(f"{where} has {name}, which is not understood")
