"""Asking without sending: replies from the cache, else typical ones. What would be sent is counted, for estimates."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics.judge.budget import Ledger, Spend, price
from metrics.judge.cache import Cache, Stored
from metrics.judge.client import Client
from metrics.judge.completion import Completion, Messages
from metrics.judge.open_judges import FOLDER
from metrics.judge.settings import Budget, JudgeSettings
from metrics.judge.typical_reply import typical_reply

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
