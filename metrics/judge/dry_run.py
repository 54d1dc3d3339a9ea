"""Judges without a model: a dry run counts what would be sent, for estimates; a scripted one replies as an example."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from metrics.core.errors import MissingResource, Unreadable
from metrics.core.evaluator import ScriptedReply
from metrics.core.prompt import Data, Prompt
from metrics.judge.asking import I, T, schema_of
from metrics.judge.budget import Ledger, Spend, price
from metrics.judge.cache import Cache, Stored
from metrics.judge.client import Client
from metrics.judge.completion import Completion, Messages
from metrics.judge.open_judges import FOLDER
from metrics.judge.replies import by_number, items_of, read
from metrics.judge.settings import Budget, JudgeSettings
from metrics.judge.typical_reply import blocks, typical_reply

CHARACTERS_PER_TOKEN = 4  # of English prose, about


class DryRun:
    """The judges of a setting, which send nothing; `spend` is what they would have cost.

    `calls` counts the requests by name of the judge and step; `local_judges` names those that are local.
    """

    def __init__(self, settings: JudgeSettings, cache_folder: Path):
        settings = settings.with_weights()
        self._ledger = Ledger(Budget())
        self._known = _CachedReplies(cache_folder / FOLDER)
        self.calls: Counter[tuple[str, str]] = Counter()
        self.local_judges = frozenset(own.name for own in settings.judges if own.is_local)
        self.judges = tuple(
            Client(own, self._known, (_TypicalReplies(own, self.calls),), self._ledger) for own in settings.judges
        )

    @property
    def spend(self) -> Spend:
        """The spend so far; `cached` counts the questions that the workspace's cache answers."""
        self._ledger.spend.cached = len(self._known.found)
        return self._ledger.spend

    def close(self) -> None:
        """Close the cache."""
        self._known.close()


class _CachedReplies:
    """The workspace's cache, and the typical replies so far, which are never stored."""

    def __init__(self, folder: Path):
        self._cache = Cache(folder, counting=False) if folder.exists() else None
        self._supposed: dict[str, Stored] = {}
        self.found: set[str] = set()  # keys of the questions that the cache answered

    def get(self, key: str) -> Stored | None:
        stored = self._cache.get(key) if self._cache is not None else None
        if stored is not None:
            self.found.add(key)
        return stored or self._supposed.get(key)

    def put(self, key: str, stored: Stored) -> None:
        self._supposed[key] = stored

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()


class _TypicalReplies:
    """A completer that sends nothing: it returns a typical reply and counts tokens approximately."""

    def __init__(self, settings: JudgeSettings, calls: Counter[tuple[str, str]]):
        self._settings = settings
        self._calls = calls

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        """Return a typical reply."""
        self._calls[self._settings.name, name] += 1
        text = json.dumps(typical_reply(schema, messages))
        prompt = sum(len(message["content"]) for message in messages) + len(json.dumps(schema))
        used = prompt // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN
        return Completion(text, *used, price(self._settings, *used))

    async def close(self) -> None:
        """Do nothing: there is no connection."""


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

    def reply_to(self, prompt: Prompt, reply: type[BaseModel], data: Data, repeat: int) -> Any:
        """Return what is said to a question: a JSON value, a list for numbered items, or text."""
        del reply, repeat
        if not self._said:
            raise MissingResource(f"it does not give the judge's replies: judge=(ScriptedReply({prompt.id!r}, …),)")
        shown = blocks(prompt.messages(data))
        for said in self._said:
            if said.prompt == prompt.id and fits(said.about, shown):
                return said.reply
        raise Unreadable(f"the example does not say what the judge replies to {prompt.id}: {shown}")


class TypicalJudge(ScriptedJudge):
    """A Judge whose replies are valid and say nothing."""

    def reply_to(self, prompt: Prompt, reply: type[BaseModel], data: Data, repeat: int) -> Any:
        """Return a typical reply."""
        del repeat
        return typical_reply(schema_of(reply), prompt.messages(data))


def fits(about: Mapping[str, str], shown: Mapping[str, str]) -> bool:
    """Return whether the data of a question contain the texts that a reply is about."""
    return all(text in shown.get(name, "") for name, text in about.items())
