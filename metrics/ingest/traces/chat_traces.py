"""Conversations as traces, whatever framework wrote their messages (metrics.text.agents.dialects)."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from metrics.text.agents.dialects import is_chat_message, message_of
from metrics.text.agents.message_parts import Part
from metrics.text.agents.traces import Step, error_text, text_of
from metrics.text.json_text import JsonError, read_json

FAILED = ("error:", "traceback (most recent call last)")  # how a failed call's result begins


def is_conversation(listed: list[Any]) -> bool:
    """Return whether a list begins like messages of a chat or items of the Responses API."""
    return bool(listed) and is_chat_message(listed[0])


class Conversation:
    """Steps built message by message: a result belongs to the call with its id, or without ids to the last call.

    `media` counts the pictures, sounds and files in them, by kind.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.media: Counter[str] = Counter()
        self._places: dict[str, int] = {}
        self._open: list[int] = []  # calls without ids of the last message that has some, until they have a result
        self._asked: dict[str, deque[str]] = {}  # ids of calls, by tool

    def add(self, message: Any, where: str = "message") -> None:
        """Add one message or item; TraceError naming `where` it is for anything else."""
        role, parts = message_of(message, where)
        opened = []
        for part in _in_one(parts):
            if part.kind == "call":
                self.call(part.id, part.tool, part.value)
                opened += [] if part.id else self._open
            elif part.kind == "result":
                self.answer(part.id, part.value, part.error, part.tool)
            elif part.kind == "media":
                self.media[part.text] += 1
                self._text("message", part.role or role, f"[{part.text}]")
            else:
                self._text(part.kind, part.role or role, part.text)
        if opened:
            steps = self.steps
            self._open = [place for place in opened if steps[place].result is None and steps[place].error is None]

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
        tool = tool or "unnamed tool"
        if id:
            self._places[id] = len(self.steps)
            self._asked.setdefault(tool, deque()).append(id)
        else:
            self._open = [len(self.steps)]
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
        """Add the result of the call with that id; without such a call, a message of the tool.

        Without ids results follow their calls, those of one message in its order or by the tool's name.
        """
        named = [place for place in self._open if self.steps[place].tool == tool]
        place = self._places.get(id) if id else next(iter(named or self._open), None)
        value = decoded(result)
        if place is None:
            self._text("message", "tool", text_of(value))
            return
        known = self.steps[place]
        found = error_text(error) or _failure(value) or known.error
        kept = value if value is not None else known.result
        self.steps[place] = replace(known, result=kept, error=found, tool=known.tool or tool)
        if place in self._open:
            self._open.remove(place)


def _in_one(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of a message, its texts up to the next call or thought as one, with their media behind them."""
    if len(parts) == 1:
        yield from parts
        return
    for told, run in groupby(parts, key=lambda part: part.kind in ("text", "media")):
        listed = list(run)
        if told:
            by_role = {part.role: [other for other in listed if other.role == part.role] for part in listed}
            for own in by_role.values():
                texts = [part.text for part in own if part.kind == "text" and part.text]
                yield Part("text", "\n".join(texts), role=own[0].role)
                yield from (part for part in own if part.kind == "media")
        else:
            yield from listed


def conversation(listed: Iterable[Any]) -> Conversation:
    """Return messages or items as steps, in order."""
    made = Conversation()
    for place, message in enumerate(listed, 1):
        made.add(message, f"message {place}")
    return made


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
