"""A judge that replies as a worked example says, for `check-evaluator` and tests."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from metrics.core.errors import MissingResource, Unreadable
from metrics.core.evaluator import ScriptedReply
from metrics.core.prompt import Data, Prompt
from metrics.judge.asking import I, T
from metrics.judge.replies import by_number, items_of, read
from metrics.judge.typical_reply import blocks


class ScriptedJudge:
    """A Judge (metrics.judge.asking) whose replies are given: of those that fit a question, the first."""

    name = "scripted"
    edited: frozenset[str] = frozenset()
    room = 10_000

    def __init__(self, said: Sequence[ScriptedReply] = ()) -> None:
        self.notes: Counter[str] = Counter()
        self._said = said

    def note(self, what: str, count: int) -> None:
        """Add to a count of how long texts were read."""
        self.notes[what] += count

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        """Return the reply to the prompt over the data.

        Raises MissingResource where no replies are given at all, Unreadable where those that are do not fit.
        """
        said = self.reply_to(prompt, reply, data, repeat)
        if isinstance(said, list | tuple):
            said = {"replies": [{"id": number, **entry} for number, entry in enumerate(said, 1)]}
        return read(said if isinstance(said, str) else json.dumps(said), reply)

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        """Return one reply per item."""
        if not items:
            return ()
        said: Any = await self.ask(prompt, items_of(reply, name), {**(data or {}), name: items})
        found = by_number(said.replies, len(items))
        if len(found) < len(items):
            raise Unreadable(f"{len(found)} replies for {len(items)} items")
        return tuple(found[number] for number in range(1, len(items) + 1))

    def reply_to(self, prompt: Prompt, reply: type[Any], data: Data, repeat: int) -> Any:
        """Return what is said to a question: a JSON value, a list for numbered items, or text."""
        del reply, repeat
        if not self._said:
            raise MissingResource(f"it does not give the judge's replies: judge=(ScriptedReply({prompt.id!r}, …),)")
        shown = blocks(prompt.messages(data))
        for said in self._said:
            if said.prompt == prompt.id and fits(said.about, shown):
                return said.reply
        raise Unreadable(f"the example does not say what the judge replies to {prompt.id}: {shown}")


def fits(about: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    """Return whether the data of a question contain the texts that a reply is about."""
    return all(text in shown.get(name, "") for name, text in about.items())
