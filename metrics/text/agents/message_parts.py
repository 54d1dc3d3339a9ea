"""Parts of messages as frameworks write them, in one spelling: texts, thoughts, calls, results and media."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from metrics.text.agents.traces import ARGUMENTS, RESULT, TOOL, Kind, TraceError, first_of, text_of

CALLS = {  # items of the Responses API that are calls: where arguments and result are
    "function_call": ("arguments", "output"), "custom_tool_call": ("input", "output"),
    "mcp_call": ("arguments", "output"), "web_search_call": ("action", "results"),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"), "image_generation_call": ("revised_prompt", "status"),
    "computer_call": ("action", "output"), "local_shell_call": ("action", "output"),
}  # fmt: skip
OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
NOT_COMPLETED = ("failed", "incomplete", "cancelled")
PART_ROLES = {"system_prompt": "system", "instructions": "system", "user_prompt": "user"}  # of pydantic-ai
KINDS = ("type", "part_kind", "block_type", "content_type", "$type", "kind")
IDS = ("tool_call_id", "tool_use_id", "call_id", "tool_id", "id")
NAMES = (*TOOL, "name")
CALL_KINDS = ("tool_call", "tool_use", "server_tool_use", "server_tool_call", "function_call", "builtin_tool_call",
              "dynamic_tool", "mcp_tool_use", "toolcall")  # fmt: skip
RESULT_KINDS = ("tool_result", "tool_call_response", "server_tool_call_response", "tool_return", "function_result",
                "builtin_tool_return", "retry_prompt", "mcp_tool_result", "tool_error")  # fmt: skip
WRAPPED_CALLS = ("function_call", "tool_use", "tool_call", "tool_invocation", "executable_code",
                 "custom")  # fmt: skip
WRAPPED_RESULTS = ("function_response", "tool_result", "tool_call_result", "tool_response", "code_execution_result")
GIVEN = (*ARGUMENTS, "server_tool_call", "raw_input")  # a call's arguments
GOT = (*RESULT, "tool_output", "content", "outputs", "server_tool_call_response", "value")  # a call's result
ERRORS = ("error", "error_text", "tool_call_error")
THOUGHTS = ("reasoning", "thinking", "thought", "reasoning_content", "redacted_thinking")
TEXTS = ("text", "input_text", "output_text", "summary_text", "refusal", "system_prompt", "user_prompt", "instructions")
MEDIUM = re.compile(r"(?:input_|output_)?(image|audio|video|file|document|media|inline_data|file_data)(?:_url|_file)?")
UNTOLD = ("step_start", "step_end", "cache_point", "model_client_streaming_chunk")  # marks, and pieces told again whole
WRITTEN_CALL = re.compile(r"\s*[A-Za-z_][\w.]*\(.*\)\s*|\s*tool='.*", re.DOTALL)  # a call as Python writes it
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


@lru_cache(4_096, typed=True)  # names come again with every message; 1, 1.0 and True are three
def snake(name: Any) -> str:
    """Return a name in snake case: toolUseId and tool-use-id are tool_use_id."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", str(name)).lower().replace("-", "_")


def fold_keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return an object with its names in snake case."""
    return {snake(name): inner for name, inner in value.items()}


def is_call(value: Any) -> bool:
    """Return whether an object is a call: it names a tool, and has its arguments or is `tool` by name."""
    if not isinstance(value, Mapping):
        return False
    given = unwrap(fold_keys(value))
    if any(name in given and isinstance(given[name], Mapping) for name in (*WRAPPED_CALLS, "function")):
        return True
    named = any(isinstance(given.get(name), str) for name in TOOL)
    return named or (isinstance(given.get("name"), str) and any(name in given for name in GIVEN))


def is_foreign_call(value: Any) -> bool:
    """Return whether an object is a call in another spelling than a step of our own has."""
    if not isinstance(value, Mapping) or value.get("kind") in get_args(Kind):
        return False
    own = any(isinstance(value.get(name), str) for name in NAMES) and kind_of(fold_keys(value)) not in CALL_KINDS
    return not own and is_call(value)


def parts_of(part: Any, where: str = "message") -> list[Part]:
    """Return what a part of a message is; TraceError for what looks like a call and is not understood."""
    if isinstance(part, str) or not isinstance(part, Mapping):
        return [Part("text", text_of(part))]
    given = unwrap(fold_keys(part))
    raw = str(first_of(given, KINDS) or "")
    kind = kind_of(given)
    for name in WRAPPED_CALLS:
        if name in given and isinstance(given[name], Mapping):
            inner = fold_keys(given[name])
            return call_parts(inner | {"id": first_of(inner, IDS) or first_of(given, IDS)}, where, snake(name))
    for name in WRAPPED_RESULTS:
        if name in given and isinstance(given[name], Mapping):
            return [result_part(fold_keys(given[name]))]
    if kind in CALLS:
        return call_parts(given, where, kind.removesuffix("_call"), *CALLS[kind])
    if kind in OUTPUTS or kind in RESULT_KINDS or {"is_error", "call_id", "content"} <= given.keys():
        return [result_part(given)]
    if kind.startswith("tool_") and kind not in CALL_KINDS and "tool_call_id" in given:  # of Vercel, named by its type
        return call_parts({**given, "tool_name": raw.removeprefix("tool-")}, where)
    if (
        kind in CALL_KINDS
        or isinstance(given.get("function"), Mapping)
        or ((not kind or LIKE_A_CALL.search(kind)) and is_call(given))
    ):
        return call_parts(given, where)
    of_bedrock = isinstance(given.get("reasoning_content"), Mapping)
    if kind in THOUGHTS or of_bedrock or given.get("thought") is True:
        texts = (*TEXTS, "thinking", "reasoning", "content", "reasoning_content")
        return [Part("reasoning", joined_text(next((given[name] for name in texts if given.get(name)), "")))]
    text = next((given[name] for name in (kind, "text", "content") if isinstance(given.get(name), str)), None)
    if kind in TEXTS or (not kind and text is not None):
        return [Part("text", text if text is not None else joined_text(part), role=PART_ROLES.get(kind, ""))]
    if (medium := medium_of(part)) is not None:
        return [Part("media", medium)]
    if kind in UNTOLD:
        return []
    if is_call(given) or LIKE_A_CALL.search(kind) or any(LIKE_A_CALL.search(name) and given[name] for name in given):
        raise TraceError(f"{where} has a part {raw or ', '.join(given)[:80]!r}, which is not understood")
    return [Part("text", joined_text(part))]


def medium_of(part: Any) -> str | None:
    """Return the kind of the picture, sound, video or file that a part of a message is; None for other parts."""
    if not isinstance(part, Mapping) or any(isinstance(part.get(name), str) for name in ("text", "content")):
        return None
    given, kind = fold_keys(part), kind_of(fold_keys(part))
    names = [kind] if kind else [name for name in given if isinstance(given[name], Mapping)]  # of Gemini and Bedrock
    name, found = next(((name, found) for name in names if (found := MEDIUM.fullmatch(name))), ("", None))
    if found is None:
        return None
    inner = fold_keys(given[name]) if isinstance(given.get(name), Mapping) else given
    described = text_of(first_of(inner, ("mime_type", "media_type"))).partition("/")[0]
    plain = found[1].removesuffix("_data").replace("inline", "file")
    return described if described in ("image", "audio", "video") else plain


def called_parts(call: Mapping[str, Any], where: str) -> list[Part]:
    """Return a call in a message's list of calls."""
    given = unwrap(fold_keys(call))
    wrapped = any(name in given and isinstance(given[name], Mapping) for name in WRAPPED_CALLS)
    return parts_of(call, where) if wrapped else call_parts(given, where)


def call_parts(given: Mapping[str, Any], where: str, tool: str = "", *names: str) -> list[Part]:
    """Return a call, and its result where it is told beside."""
    named = fold_keys(given["function"]) if isinstance(given.get("function"), Mapping) else given
    arguments, results = ((names[0],), (names[1],)) if names else (GIVEN, GOT)
    name = next((named[each] for each in NAMES if isinstance(named.get(each), str) and named[each]), tool)
    value = first_of(named, arguments) if named.keys() & set(arguments) or names else first_of(given, arguments)
    if not names and value is None and (strange := _strange(named, arguments, results)):
        raise TraceError(f"{where} calls {name or 'a tool'} with {strange}, which is not understood")
    if tool == "executable_code":
        value = {"code": given.get("code")}
    id = text_of(first_of(given, IDS))
    made = [Part("call", "", id, name, value)]
    failed = first_of(given, ERRORS) or (given["status"] if given.get("status") in NOT_COMPLETED else None)
    result = first_of({**given, **named}, [each for each in results if each not in arguments])
    return (
        made if result is None and not failed else [*made, Part("result", "", id, name, content_value(result), failed)]
    )


def _strange(named: Mapping[str, Any], *known: Sequence[str]) -> str:
    """Return the name of an object that may be a call's arguments, and is none of the known ones; "" without one."""
    others = {*NAMES, *IDS, *KINDS, *ERRORS, *AIDES, *(name for names in known for name in names)}
    return next((name for name, own in named.items() if isinstance(own, Mapping) and own and name not in others), "")


def result_part(given: Mapping[str, Any]) -> Part:
    """Return the result of a call, with its error where it failed."""
    value = first_of(given, GOT)
    if isinstance(value, Mapping) and set(value) <= {"type", "value"} and "value" in value:  # Vercel's typed output
        value = value["value"]
    error = first_of(given, ERRORS)
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        error = error["message"]
    failed = given.get("is_error") is True or given.get("status") in ("error", *NOT_COMPLETED)
    failed = failed or kind_of(given) in ("retry_prompt", "tool_error")
    origin = fold_keys(given["origin"]) if isinstance(given.get("origin"), Mapping) else {}  # of Haystack
    tool = next((each[name] for each in (given, origin) for name in NAMES if isinstance(each.get(name), str)), "")
    status = text_of(given["status"]) if given.get("status") in NOT_COMPLETED else "failed"
    id = text_of(first_of(given, IDS) or first_of(origin, IDS))
    return Part("result", "", id, tool, content_value(value), error or (status if failed else None))


def unwrap(given: dict[str, Any]) -> dict[str, Any]:
    """Return the message that another one wraps: LangChain's constructors and dumps, {"message": …}."""
    for name in ("kwargs", "data", "message", "step_details", "raw_item"):
        inner = given.get(name)
        if inner is None or (name == "kwargs" and "lc" not in given):
            continue
        if isinstance(inner, Mapping) and not given.keys() & {"role", "content", "parts", *TOOL}:
            id, kind = given.get("id"), given.get("type")
            kind = id[-1] if isinstance(id, list) and id else kind
            return ({} if kind is None else {"type": kind}) | fold_keys(inner)
    return given


def kind_of(given: Mapping[str, Any]) -> str:
    """Return what a message or part says it is, in snake case; "" where it does not."""
    if given.keys().isdisjoint(KINDS):
        return ""
    kind = snake(next((given[name] for name in KINDS if isinstance(given.get(name), str)), ""))
    return kind.removesuffix("_content") if "$type" in given else kind


def objects_in(value: Any, where: str = "", name: str = "") -> list[Mapping[str, Any]]:
    """Return the objects in a list, or an object as a list of one; TraceError for others, where that is told."""
    if value is None:
        return []
    listed = value if isinstance(value, list) else [value]
    wrong = next((each for each in listed if not isinstance(each, Mapping)), None)
    if where and wrong is not None:
        raise TraceError(f"{where} has {name} with {type(wrong).__name__} {text_of(wrong)[:60]}, not an object")
    return [each for each in listed if isinstance(each, Mapping)]


def content_value(content: Any) -> Any:
    """Return a tool's result: the text or JSON of its parts where it has some, else the value."""
    parts = content if isinstance(content, list) else []
    if len(parts) == 1 and isinstance(parts[0], Mapping) and set(parts[0]) == {"json"}:  # of Bedrock
        return parts[0]["json"]
    typed = parts and all(
        isinstance(part, Mapping) and ({"type", "block_type"} & part.keys() or set(part) == {"text"}) for part in parts
    )
    return joined_text(parts) if typed else content


def joined_text(value: Any) -> str:
    """Return the text in a part or in nested lists of parts; for a part without text, its type in brackets."""
    if isinstance(value, list):
        return "\n".join(text for text in map(joined_text, value) if text)
    if not isinstance(value, Mapping):
        return text_of(value)
    given = fold_keys(value)
    for name in ("text", "content", "refusal", "thinking"):
        if isinstance(given.get(name), str) and given.get("type") != "blob":
            return str(given[name])
    for name in ("reasoning_text", "thinking", "summary"):  # of Bedrock, Mistral
        if isinstance(given.get(name), list | Mapping):
            return joined_text(given[name])
    if isinstance(cited := given.get("document"), Mapping) and "data" in cited:  # of Cohere
        return joined_text(cited["data"])
    kind = str(given.get("modality") or given.get("type") or "")
    return f"[{kind.removeprefix('input_').removesuffix('_url')}]" if kind else json.dumps(value, ensure_ascii=False)
