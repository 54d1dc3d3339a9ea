"""The turns of a conversation that stands in one text: lines that begin with a role, or a JSON list of messages."""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

USERS = ("user", "human", "customer")
ROLES = (*USERS, "assistant", "agent", "ai", "bot", "chatbot", "model", "system", "developer", "tool")
LINE = re.compile(rf"^[ \t]*(?:\*\*)?({'|'.join(ROLES)})(?:[ \t]*:\*\*|(?:\*\*)?[ \t]*:)[ \t]*", re.I | re.M)


class Turn(NamedTuple):
    """What one role says: the role in lower case, and its text without the role."""

    role: str
    text: str


def turns(text: str) -> list[Turn]:
    """Return the turns of a conversation, oldest first; none where the text is not one.

    A conversation begins with a role and a colon (`user: …`), and each line that does begins a turn; or it is a JSON
    list of messages, each with `role` and a text as `content`.
    """
    messages = _messages(text)
    if messages:
        return [Turn(message["role"].casefold(), message["content"]) for message in messages]
    return [Turn(role, text[start:end].rstrip()) for role, start, end in _spans(text)]


def last_user_turn(text: str) -> tuple[str, Callable[[str], str]] | None:
    """Return what the user says last, and a function that gives the text with other words in its place.

    None where the text is no conversation, or no user speaks in it.
    """
    messages = _messages(text)
    if messages:
        place = max((n for n, each in enumerate(messages) if each["role"].casefold() in USERS), default=-1)
        if place < 0:
            return None
        before, after = messages[:place], messages[place + 1 :]

        def with_message(words: str) -> str:
            return json.dumps([*before, {**messages[place], "content": words}, *after], ensure_ascii=False)

        return messages[place]["content"], with_message
    own = [(start, end) for role, start, end in _spans(text) if role in USERS]
    if not own:
        return None
    start, end = own[-1]
    end = start + len(text[start:end].rstrip())
    return text[start:end], lambda words: text[:start] + words + text[end:]


def _spans(text: str) -> list[tuple[str, int, int]]:
    """Return the role of each turn, and where its words begin and end."""
    found = list(LINE.finditer(text))
    if not found or text[: found[0].start()].strip():
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [(match[1].casefold(), match.end(), end) for match, end in zip(found, ends, strict=True)]


def _messages(text: str) -> list[dict[str, str]]:
    if not text.lstrip().startswith("["):
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    wanted = ("role", "content")
    fits = all(isinstance(each, dict) and all(isinstance(each.get(name), str) for name in wanted) for each in found)
    return found if fits else []
