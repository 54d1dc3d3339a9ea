"""The text in what tools keep of inputs and outputs: plain text, chat messages, objects that hold one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson

from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold
from metrics.ingest.tables.values import text_of
from metrics.text.agents.dialects import ROLES
from metrics.text.agents.message_parts import MEDIUM, medium_of

QUESTIONS = ("question", *SUITE_ALIASES["question"], "message", "text")
ANSWERS = ("answer", *OUTPUT_ALIASES["answer"], "result", "completion", "generation", "text")
REFERENCES = ("answer", *SUITE_ALIASES["expected_answers"], "output", "response", "ideal", "label", "text")
CHAT = ("messages", "input_messages", "output_messages")
TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
MESSAGE_KEYS = ("kwargs", "data", "message")  # in which LangChain and OpenInference wrap a message
TYPES = {"human": "user", "ai": "assistant", "AIMessage": "assistant", "HumanMessage": "user",
         "SystemMessage": "system", "ToolMessage": "tool"}  # fmt: skip

NO_TEXT = "no text: pictures, sounds and files in messages are not read, later they will be judged"


def content_text(content: Any) -> str:
    """Return the text of a message's content: itself, or its parts of text; without any, the kinds of its media."""
    if not isinstance(content, list):
        return text_of(content) or ""
    text = "\n".join(text for text in map(_part, content) if text)
    return text or "\n".join(f"[{kind}]" for part in content if (kind := medium_of(part)))


def note_media(problems: Problems, file: str, value: Any) -> None:
    """Say in the receipt how many pictures, sounds and files are in the messages of records."""
    for kind, count in sorted(Counter(_media_in(value)).items()):
        problems.note(file, f"{kind} parts of messages", "unused", NO_TEXT, count)


def _media_in(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value[:1] in ("[", "{") and MEDIUM.search(value):
        with suppress(orjson.JSONDecodeError):
            yield from _media_in(orjson.loads(value))
    elif isinstance(value, list):
        for entry in value:
            if (kind := medium_of(entry)) is not None:
                yield kind
            else:
                yield from _media_in(entry)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _media_in(inner)


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return text_of(part) or ""
    kind = str(part.get("type") or "text")
    if kind in TEXT_PARTS:
        return text_of(next((part[name] for name in (kind, "text", "content") if part.get(name) is not None), "")) or ""
    return ""  # reasoning, calls of tools, media


def message_of(value: Any) -> tuple[str, Any] | None:
    """Return the role and the content of a chat message as any of the tools writes it; None for other values."""
    if not isinstance(value, Mapping):
        return None
    if all(isinstance(name, str) and name.startswith("message.") for name in value) and value:
        return message_of({name.removeprefix("message."): inner for name, inner in value.items()})
    inner = next((value[name] for name in MESSAGE_KEYS if isinstance(value.get(name), Mapping)), None)
    if inner is not None and "content" in inner:
        kind = value.get("type") if value.get("type") != "constructor" else (value.get("id") or [""])[-1]
        return message_of({"role": TYPES.get(str(kind), kind), **inner}) or (str(kind), inner["content"])
    if inner is not None:
        return message_of(inner)
    role = value.get("role") or TYPES.get(str(value.get("type")))
    known = isinstance(role, str) and role in ROLES and not {"content", "tool_calls"}.isdisjoint(value)
    return (str(role), value.get("content")) if known else None


def messages_in(value: Any) -> list[tuple[str, Any]] | None:
    """Return role and content of each message of a conversation; None where a value is no conversation."""
    if isinstance(value, Mapping):
        listed = next((value[name] for name in CHAT if isinstance(value.get(name), list)), None)
        return None if listed is None else messages_in(listed)
    if not isinstance(value, list) or not value:
        return None
    if len(value) == 1 and isinstance(value[0], list):  # LangChain keeps a batch of conversations
        return messages_in(value[0])
    found = [message_of(entry) for entry in value]
    return None if None in found else [entry for entry in found if entry is not None]


def question_in(value: Any) -> str | None:
    """Return what a conversation, or the content of a message, asks; None where that is nothing."""
    messages = messages_in(value)
    return _read_question(messages) if messages is not None else content_text(value) or None


def _read_question(messages: Sequence[tuple[str, Any]]) -> str | None:
    """Return what a conversation asks: its only user message, else what user and assistant said, a line each."""
    said = [(role, content_text(content)) for role, content in messages]
    said = [(role, text) for role, text in said if role in ("user", "assistant", "model") and text.strip()]
    if len(said) == 1:
        return said[0][1]
    if not said:
        return "\n".join(content_text(content) for _, content in messages) or None
    return "\n".join(f"{role}: {text}" for role, text in said)


def _read_answer(messages: Sequence[tuple[str, Any]]) -> str | None:
    """Return the last message of the assistant that has a text."""
    texts = (content_text(content) for role, content in reversed(messages) if role in ("assistant", "model"))
    return next((text for text in texts if text.strip()), None)


def texts_in(values: Sequence[Any], names: Sequence[str], last: bool = False) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return of each value its text, and the other entries of an object; both are the same entry in all of them.

    An object's text is its conversation, its entry with one of the usual `names`, or its only entry. Where an object
    has several entries and none is usual there is no text, and all of them are other entries. Of a conversation it is
    what was asked or, with `last`, what was answered. A list of texts stays one.
    """
    keys = dict.fromkeys(str(key) for value in values if isinstance(value, Mapping) for key in value)
    chosen = next((key for name in names for key in keys if fold(key) == name), None)
    if chosen is None and len(keys) == 1:
        chosen = next(iter(keys))
    texts: list[Any] = []
    others: list[dict[str, Any]] = []
    for value in values:
        talk = messages_in(value)
        if talk is None and isinstance(value, Mapping) and chosen in value:
            talk = messages_in(value[chosen])
        single = message_of(value)
        if talk is None and single is not None:
            talk = [single]
        if talk is not None:
            texts.append((_read_answer if last else _read_question)(talk))
            kept = {} if not isinstance(value, Mapping) or single else value
            others.append({key: inner for key, inner in kept.items() if key != chosen and key not in CHAT})
        elif isinstance(value, Mapping):
            texts.append(value.get(chosen))
            others.append({str(key): inner for key, inner in value.items() if key != chosen})
        else:
            texts.append(value)
            others.append({})
    return [text if isinstance(text, list) else text_of(text) for text in texts], others


def calls_tools(messages: Any) -> bool:
    """Return whether a message of a conversation calls a tool."""
    listed = messages if isinstance(messages, list) else []
    return any(isinstance(message, Mapping) and (message.get("tool_calls") or message.get("role") == "tool")
               for message in listed)  # fmt: skip


def reply_message(outputs: Any) -> Mapping[str, Any]:
    """Return the message in a reply of OpenAI's form; an empty one for anything else."""
    listed = outputs.get("choices") if isinstance(outputs, Mapping) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    message = first.get("message") if isinstance(first, Mapping) else None
    return message if isinstance(message, Mapping) else {}
