"""Messages and calls as frameworks write them, in one spelling: texts, thoughts, calls, results and media, in order.

OpenAI (chat, Responses, old functions), Anthropic, Gemini, Bedrock Converse, Vercel AI SDK, LangChain, pydantic-ai,
AutoGen, smolagents, Inspect, Haystack, LlamaIndex, OpenTelemetry. Names are compared in snake case (toolUseId is
tool_use_id). What looks like a call and is none of these is refused: a call that is lost would be a wrong number.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from metrics.text.agents.traces import ARGUMENTS, RESULT, TOOL, Kind, TraceError, text_of

CALLS = {  # items of the Responses API that are calls: where arguments and result are
    "function_call": ("arguments", "output"), "custom_tool_call": ("input", "output"),
    "mcp_call": ("arguments", "output"), "web_search_call": ("action", "results"),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"), "image_generation_call": ("revised_prompt", "status"),
    "computer_call": ("action", "output"), "local_shell_call": ("action", "output"),
}  # fmt: skip
OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
NOT_COMPLETED = ("failed", "incomplete", "cancelled")
ROLES = {  # a role, or a message's type without `Message`, `MessageChunk` or `Event`: our name
    **{role: role for role in ("system", "developer", "user", "assistant", "tool", "function", "model")},
    "human": "user", "ai": "assistant", "gpt": "assistant", "bot": "assistant", "chatbot": "assistant",
    "agent": "assistant", "observation": "tool", "function_execution_result": "tool", "tool_call_execution": "tool",
    "tool_call_request": "assistant", "request": "user", "response": "assistant",
}  # fmt: skip
SENDERS = ("source", "author", "from", "sender")
PART_ROLES = {"system_prompt": "system", "instructions": "system", "user_prompt": "user"}  # of pydantic-ai
SUFFIX = re.compile(r"(_message)?(_chunk|_event)?$")
KINDS = ("type", "part_kind", "block_type", "content_type", "kind")
CONTENTS = ("parts", "content", "blocks", "contents", "value")  # where a message keeps what it says
IDS = ("tool_call_id", "tool_use_id", "call_id", "tool_id", "id")
NAMES = (*TOOL, "name")
CALL_KINDS = ("tool_call", "tool_use", "server_tool_use", "server_tool_call", "function_call", "builtin_tool_call",
              "dynamic_tool", "mcp_tool_use", "toolcall")  # fmt: skip
RESULT_KINDS = ("tool_result", "tool_call_response", "server_tool_call_response", "tool_return", "function_result",
                "builtin_tool_return", "retry_prompt", "mcp_tool_result", "tool_error")  # fmt: skip
WRAPPED_CALLS = ("function_call", "tool_use", "tool_call", "tool_invocation", "executable_code")
WRAPPED_RESULTS = ("function_response", "tool_result", "tool_call_result", "tool_response", "code_execution_result")
GIVEN = (*ARGUMENTS, "server_tool_call", "raw_input")  # a call's arguments
GOT = (*RESULT, "tool_output", "content", "outputs", "server_tool_call_response", "value")  # a call's result
ERRORS = ("error", "error_text", "tool_call_error")
THOUGHTS = ("reasoning", "thinking", "thought", "reasoning_content", "redacted_thinking")
TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal", "system_prompt", "user_prompt", "instructions")
MEDIUM = re.compile(r"(?:input_|output_)?(image|audio|video|file|document|media|inline_data|file_data)(?:_url|_file)?")
UNTOLD = ("step_start", "step_end", "cache_point", "model_client_streaming_chunk")  # marks, and pieces told again whole
MESSAGE_CALLS = ("tools_called", "tool_calls", "invalid_tool_calls", "tool_invocations", "tool_uses")
MESSAGE_RESULTS = ("tool_results", "tool_responses")
# beside them, names of tools that are offered, and repetitions
NO_CALLS = {*MESSAGE_CALLS, *MESSAGE_RESULTS, *WRAPPED_CALLS, *WRAPPED_RESULTS, "tools", "functions", "available_tools",
            "tool_choice", "tool_call_chunks", "function", "tool", "tool_call_error", "actions"}  # fmt: skip
LIKE_A_CALL = re.compile(r"(^|_)(tool|function|call|invocation|action)s?(_|$)")
AIDES = {"metadata", "usage", "timing", "token_usage", "model_usage", "annotations", "cache_control", "extra"}


class Part(NamedTuple):
    """What a message says, thinks, calls or got: `value` are a call's arguments (None: not stated), or a result.

    `text` is that of a text or thought, or the kind of a medium; `role` who said it where it differs from the message.
    """

    kind: Literal["text", "reasoning", "call", "result", "media"]
    text: str = ""
    id: str = ""
    tool: str = ""
    value: Any = None
    error: Any = None
    role: str = ""


class Message(NamedTuple):
    """A message: who said it, and its parts."""

    role: str
    parts: list[Part]


def snake(name: Any) -> str:
    """Return a name in snake case: toolUseId and tool-use-id are tool_use_id."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", str(name)).lower().replace("-", "_")


def folded(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return an object with its names in snake case."""
    return {snake(name): inner for name, inner in value.items()}


def message_of(message: Any, where: str = "message") -> Message:
    """Return a message, or an item, step or call that stands in its place. Raises TraceError naming `where` it is."""
    if isinstance(message, list | tuple) and len(message) == 2 and isinstance(message[0], Mapping):
        message = {"action": message[0], "observation": message[1]}  # LangChain's intermediate steps
    if not isinstance(message, Mapping):
        raise TraceError(f"{where} is {type(message).__name__}, not an object")
    given = _unwrapped(folded(message))
    kind, role = _kind(given), _role(given)
    if kind in UNTOLD:
        return Message(role, [])
    if isinstance(given.get("action"), Mapping) and "observation" in given:
        given = _unwrapped(folded(given["action"])) | {"observation": given["observation"]}
        return Message("assistant", [*_reasoning(given), *_call(given, where)])
    if kind in CALLS or kind in OUTPUTS:
        return Message(role, parts_of(given, where))
    if kind in THOUGHTS and not given.get("role"):
        return Message("assistant", [Part("reasoning", _joined([given.get("summary"), given.get("content")]))])
    if (step := _memory_step(given, where)) is not None:
        return step
    if not role and (is_call(given) or kind in (*CALL_KINDS, *RESULT_KINDS)):
        return Message("assistant", [*_reasoning(given), *parts_of(given, where)])
    if not role and ({"finish_reason", "tool_calls"} & given.keys()):
        role = "assistant"  # a step of Vercel's generateText
    if not role:
        raise TraceError(f"{where} has no role")
    _refuse_unknown(given, where)
    return Message(role, _said(given, role, kind, where))


def is_message(value: Any) -> bool:
    """Return whether a value is a message, or an item or step in its place, and not a step of our own."""
    if not isinstance(value, Mapping):
        return isinstance(value, list) and len(value) == 2 and isinstance(value[0], Mapping) and is_call(value[0])
    given = _unwrapped(folded(value))
    kind = _kind(given)
    if value.get("kind") in get_args(Kind):
        return False
    if kind in (*CALLS, *OUTPUTS, *THOUGHTS) or isinstance(given.get("action"), Mapping):
        return True
    told = {*CONTENTS, *MESSAGE_CALLS, *WRAPPED_CALLS, "tool_call_id", "refusal"} - {"value"}
    if _role(given) in ROLES.values() and (told & given.keys() or "from" in given):
        return True
    return "step_number" in given or (bool(given.keys() & {"task", "system_prompt", "plan"}) and "tool" not in given)


def is_call(value: Any) -> bool:
    """Return whether an object is a call: it names a tool, and has its arguments or is `tool` by name."""
    if not isinstance(value, Mapping):
        return False
    given = _unwrapped(folded(value))
    if any(isinstance(given.get(name), Mapping) for name in (*WRAPPED_CALLS, "function")):
        return True
    named = any(isinstance(given.get(name), str) for name in TOOL)
    return named or (isinstance(given.get("name"), str) and any(name in given for name in GIVEN))


def is_foreign_call(value: Any) -> bool:
    """Return whether an object is a call in another spelling than a step of our own has."""
    if not isinstance(value, Mapping) or value.get("kind") in get_args(Kind):
        return False
    own = any(isinstance(value.get(name), str) for name in NAMES) and _kind(folded(value)) not in CALL_KINDS
    return not own and is_call(value)


def calls_in(entry: Any, where: str) -> list[Part]:
    """Return the calls of a message, a part or a call itself; none where it has none. Raises TraceError."""
    parts = message_of(entry, where).parts if is_message(entry) else parts_of(entry, where)
    return [part for part in parts if part.kind == "call"]


def parts_of(part: Any, where: str = "message") -> list[Part]:
    """Return what a part of a message is; TraceError for what looks like a call and is not understood."""
    if not isinstance(part, Mapping):
        return [Part("text", text_of(part))]
    given = _unwrapped(folded(part))
    raw = str(_first(given, KINDS) or "")
    kind = _kind(given)
    for name in WRAPPED_CALLS:
        if isinstance(given.get(name), Mapping):
            inner = folded(given[name])
            return _call(inner | {"id": _first(inner, IDS) or _first(given, IDS)}, where, snake(name))
    for name in WRAPPED_RESULTS:
        if isinstance(given.get(name), Mapping):
            return [_result(folded(given[name]))]
    if kind in CALLS:
        return _call(given, where, kind.removesuffix("_call"), *CALLS[kind])
    if kind in OUTPUTS or kind in RESULT_KINDS or {"is_error", "call_id", "content"} <= given.keys():
        return [_result(given)]
    if kind.startswith("tool_") and kind not in CALL_KINDS and "tool_call_id" in given:  # of Vercel, named by its type
        return _call({**given, "tool_name": raw.removeprefix("tool-")}, where)
    if (
        kind in CALL_KINDS
        or isinstance(given.get("function"), Mapping)
        or ((not kind or LIKE_A_CALL.search(kind)) and is_call(given))
    ):
        return _call(given, where)
    of_bedrock = isinstance(given.get("reasoning_content"), Mapping)
    if kind in THOUGHTS or of_bedrock or given.get("thought") is True:
        texts = (*TEXTS, "thinking", "reasoning", "content", "reasoning_content")
        return [Part("reasoning", _joined(next((given[name] for name in texts if given.get(name)), "")))]
    text = next((given[name] for name in (kind, "text", "content") if isinstance(given.get(name), str)), None)
    if kind in TEXTS or (not kind and text is not None):
        return [Part("text", text if text is not None else _joined(part), role=PART_ROLES.get(kind, ""))]
    if (medium := medium_of(part)) is not None:
        return [Part("media", medium)]
    if kind in UNTOLD:
        return []
    if LIKE_A_CALL.search(kind) or any(LIKE_A_CALL.search(name) and given[name] for name in given):
        raise TraceError(f"{where} has a part {raw or ', '.join(given)[:80]!r}, which is not understood")
    return [Part("text", _joined(part))]


def medium_of(part: Any) -> str | None:
    """Return the kind of the picture, sound, video or file that a part of a message is; None for other parts."""
    if not isinstance(part, Mapping) or any(isinstance(part.get(name), str) for name in ("text", "content")):
        return None
    given, kind = folded(part), _kind(folded(part))
    names = [kind] if kind else [name for name in given if isinstance(given[name], Mapping)]  # of Gemini and Bedrock
    name, found = next(((name, found) for name in names if (found := MEDIUM.fullmatch(name))), ("", None))
    if found is None:
        return None
    inner = folded(given[name]) if isinstance(given.get(name), Mapping) else given
    described = text_of(_first(inner, ("mime_type", "media_type"))).partition("/")[0]
    return (
        described
        if described in ("image", "audio", "video")
        else found[1].removesuffix("_data").replace("inline", "file")
    )


def _said(given: Mapping[str, Any], role: str, kind: str, where: str) -> list[Part]:
    name = next((name for name in CONTENTS if name in given), "")
    content = given.get(name)
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):  # an event of Google's ADK
        content, name = content["parts"], "parts"
    listed = content if isinstance(content, list) else [content]
    parts = [made for part in listed for made in parts_of(part, where)]
    if kind == "thought":
        return [part._replace(kind="reasoning") for part in parts]
    results = [_result(folded(each)) for field in MESSAGE_RESULTS for each in _objects(given.get(field))]
    if role in ("tool", "function") and name != "parts" and not any(part.kind == "result" for part in parts):
        if results:
            return results
        more = given["additional_kwargs"] if isinstance(given.get("additional_kwargs"), Mapping) else {}
        names = {
            "id": given.get("tool_call_id") or more.get("tool_call_id"),
            "name": given.get("name") or given.get("function"),
        }
        failed = given.get("error") or (given.get("status") == "error" and "failed")
        return [_result({**names, "content": _content(content), "error": failed or None})]
    if content is None and isinstance(given.get("text"), str):
        parts.append(Part("text", given["text"]))
    parts += [Part("text", text_of(given.get("refusal")))]
    calls = [each for field in MESSAGE_CALLS for each in _objects(given.get(field), where, field)]
    more = folded(given["additional_kwargs"]) if isinstance(given.get("additional_kwargs"), Mapping) else {}
    if not any(part.kind == "call" for part in parts) or "parts" not in given:  # of Vercel, told again in the parts
        old = given.get("function_call") or more.get("function_call")
        calls = calls or _objects(more.get("tool_calls")) or _objects(old)
        known = {part.id for part in parts if part.kind == "call" and part.id}
        made = [part for call in calls for part in _call(_unwrapped(folded(call)), where)]
        made = [part for part in made if part.id not in known]
        parts = [*made, *parts] if given.get("tools_called") else [*parts, *made]  # of DeepEval, called for the answer
    return [*_reasoning(given), *parts, *results]


def _reasoning(given: Mapping[str, Any]) -> list[Part]:
    names = ("reasoning_content", "reasoning", "thought", "thinking")
    return [Part("reasoning", given[name]) for name in names if isinstance(given.get(name), str)][:1]


def _memory_step(given: Mapping[str, Any], where: str) -> Message | None:
    """Return a step of smolagents' memory; None for anything else."""
    for name, role in (("task", "user"), ("system_prompt", "system")):
        if isinstance(given.get(name), str) and not given.keys() & {*CONTENTS, "role", "tool"}:
            return Message(role, [Part("text", given[name])])
    if isinstance(given.get("plan"), str):
        return Message("assistant", [Part("reasoning", given["plan"])])
    if "step_number" not in given:
        return Message("assistant", [Part("text", text_of(given["output"]))]) if given.keys() == {"output"} else None
    parts = [Part("reasoning", _joined(given.get("model_output")))]
    for call in _objects(given.get("tool_calls"), where, "tool_calls"):
        parts += _call(folded(call), where)
    last = parts[-1] if parts[-1].kind == "call" else Part("call")
    if given.get("observations") is not None or given.get("error"):
        parts.append(Part("result", "", last.id, "", given.get("observations"), given.get("error")))
    if given.get("is_final_answer") or last.tool == "final_answer":
        stated = last.value.get("answer", last.value) if isinstance(last.value, Mapping) else last.value
        output = given.get("action_output")
        parts.append(Part("text", text_of(stated if output is None else output)))
    return Message("assistant", parts)


def _call(given: Mapping[str, Any], where: str, tool: str = "", *names: str) -> list[Part]:
    """Return a call, and its result where it is told beside."""
    named = folded(given["function"]) if isinstance(given.get("function"), Mapping) else given
    arguments, results = ((names[0],), (names[1],)) if names else (GIVEN, GOT)
    name = next((named[each] for each in NAMES if isinstance(named.get(each), str) and named[each]), tool)
    value = _first(named, arguments) if named.keys() & set(arguments) or names else _first(given, arguments)
    if not names and value is None and (strange := _strange(named, arguments, results)):
        raise TraceError(f"{where} calls {name or 'a tool'} with {strange}, which is not understood")
    if tool == "executable_code":
        value = {"code": given.get("code")}
    id = text_of(_first(given, IDS))
    made = [Part("call", "", id, name, value)]
    failed = _first(given, ERRORS) or (given["status"] if given.get("status") in NOT_COMPLETED else None)
    result = _first({**given, **named}, [each for each in results if each not in arguments])
    return made if result is None and not failed else [*made, Part("result", "", id, name, _content(result), failed)]


def _strange(named: Mapping[str, Any], *known: Sequence[str]) -> str:
    """Return the name of an object that may be a call's arguments, and is none of the known ones; "" without one."""
    others = {*NAMES, *IDS, *KINDS, *ERRORS, *AIDES, *(name for names in known for name in names)}
    return next(
        (name for name, value in named.items() if isinstance(value, Mapping) and value and name not in others), ""
    )


def _result(given: Mapping[str, Any]) -> Part:
    value = _first(given, GOT)
    if isinstance(value, Mapping) and set(value) <= {"type", "value"} and "value" in value:  # Vercel's typed output
        value = value["value"]
    error = _first(given, ERRORS)
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        error = error["message"]
    failed = given.get("is_error") is True or given.get("status") in ("error", *NOT_COMPLETED)
    failed = failed or _kind(given) in ("retry_prompt", "tool_error")
    origin = folded(given["origin"]) if isinstance(given.get("origin"), Mapping) else {}  # of Haystack
    tool = next((each[name] for each in (given, origin) for name in NAMES if isinstance(each.get(name), str)), "")
    status = text_of(given["status"]) if given.get("status") in NOT_COMPLETED else "failed"
    id = text_of(_first(given, IDS) or _first(origin, IDS))
    return Part("result", "", id, tool, _content(value), error or (status if failed else None))


def _unwrapped(given: dict[str, Any]) -> dict[str, Any]:
    """Return the message that another one wraps: LangChain's constructors and dumps, {"message": …}."""
    for name in ("kwargs", "data", "message"):
        inner = given.get(name)
        if isinstance(inner, Mapping) and not given.keys() & {"role", "content", "parts", *TOOL}:
            id, kind = given.get("id"), given.get("type")
            kind = id[-1] if isinstance(id, list) and id else kind
            return ({} if kind is None else {"type": kind}) | folded(inner)
    return given


def _kind(given: Mapping[str, Any]) -> str:
    return snake(next((given[name] for name in KINDS if isinstance(given.get(name), str)), ""))


def _role(given: Mapping[str, Any]) -> str:
    """Return who a message is by: its role, type, or sender; "" where it tells none."""
    role = given.get("role")
    if isinstance(role, Mapping):
        role = folded(role).get("label")
    if isinstance(role, str) and role:
        return ROLES.get(role.lower(), role.lower())
    kind = SUFFIX.sub("", _kind(given))
    if kind in ROLES and not isinstance(given.get("function"), Mapping):
        return ROLES[kind]
    sender = next((given[name] for name in SENDERS if isinstance(given.get(name), str)), None)
    return "" if sender is None else ROLES.get(sender.lower(), "assistant")


def _refuse_unknown(given: Mapping[str, Any], where: str) -> None:
    for name, value in given.items():
        if LIKE_A_CALL.search(name) and name not in NO_CALLS and isinstance(value, list | Mapping) and value:
            raise TraceError(f"{where} has {name}, which is not understood")


def _objects(value: Any, where: str = "", name: str = "") -> list[Mapping[str, Any]]:
    """Return the objects in a list, or an object as a list of one; TraceError for others, where that is told."""
    listed = value if isinstance(value, list) else [] if value is None else [value]
    wrong = next((each for each in listed if not isinstance(each, Mapping)), None)
    if where and wrong is not None:
        raise TraceError(f"{where} has {name} with {type(wrong).__name__} {text_of(wrong)[:60]}, not an object")
    return [each for each in listed if isinstance(each, Mapping)]


def _first(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _content(content: Any) -> Any:
    """Return a tool's result: the text or JSON of its parts where it has some, else the value."""
    parts = content if isinstance(content, list) else []
    if len(parts) == 1 and isinstance(parts[0], Mapping) and set(parts[0]) == {"json"}:  # of Bedrock
        return parts[0]["json"]
    typed = parts and all(
        isinstance(part, Mapping) and ({"type", "block_type"} & part.keys() or set(part) == {"text"}) for part in parts
    )
    return _joined(parts) if typed else content


def _joined(value: Any) -> str:
    """Return the text in a part or in nested lists of parts; for a part without text, its type in brackets."""
    if isinstance(value, list):
        return "\n".join(text for text in map(_joined, value) if text)
    if not isinstance(value, Mapping):
        return text_of(value)
    given = folded(value)
    for name in ("text", "content", "refusal", "thinking"):
        if isinstance(given.get(name), str) and given.get("type") != "blob":
            return str(given[name])
    for name in ("reasoning_text", "thinking", "summary"):  # of Bedrock, Mistral
        if isinstance(given.get(name), list | Mapping):
            return _joined(given[name])
    kind = str(given.get("modality") or given.get("type") or "")
    return f"[{kind.removeprefix('input_').removesuffix('_url')}]" if kind else json.dumps(value, ensure_ascii=False)
