"""Results of models on disk: each distinct text is computed only once per model, by whichever process asks first."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from metrics.core.array_types import Singles
from metrics.core.unicode_forms import without_halves
from metrics.models.model_files import fingerprints
from metrics.models.vectors import Stored, Text, VectorCache, key

POLL = 0.05  # seconds between two checks for the results of another process

Rows = Singles


class CachedModel(ABC):
    """Base of a model that computes a row of numbers per text (or tuple of texts), loaded when a text first needs it.

    `name` is the model's name and `weights` the sha256 of its weights; both are stored with every score.
    """

    rows: ClassVar[str]  # what they are: the name of their cache's folder
    version: ClassVar = ""  # of how texts become rows; raise it whenever the same text would give another row
    portion: ClassVar = 512  # texts computed between two writes, which a kill can lose
    unit_length: ClassVar = False  # of every row

    def __init__(self, place: Path, name: str, cache_folder: Path):
        self.name = name
        self.weights, identity = fingerprints(place)
        if self.version:
            identity = sha256(f"{identity} {self.version}".encode()).hexdigest()
        self._place = place
        self._cache = VectorCache(cache_folder / self.rows / f"{identity[:32]}.sqlite3", self.unit_length)
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def _loaded(self) -> Any:
        """The model, loaded on first use."""

    @abstractmethod
    def _rows(self, texts: Sequence[Text]) -> tuple[Rows, Sequence[bool]]:
        """Return the rows [n, d] of the texts, and whether the model read only a part of each."""

    def _stored(self, texts: Sequence[Text]) -> list[Stored]:
        """Return the cached row of each text, after computing the missing ones."""
        readable = {text: _readable(text) for text in texts}
        by_key = {key(text): text for text in readable.values()}
        with self._lock:
            found = self._cache.lookup(list(by_key))
            missing = [name for name in by_key if name not in found]
            missing.sort(key=lambda name: _length(by_key[name]), reverse=True)  # the longest first: memory peaks early
            if missing:
                found |= self._computed(missing, by_key)
                found |= self._computed([one for one in found if len(found[one].vector) != self._cache.width], by_key)
        return [found[key(readable[text])] for text in texts]

    def _computed(self, missing: list[bytes], by_key: Mapping[bytes, Text]) -> dict[bytes, Stored]:
        """Compute what no other process has claimed; wait for claimed values, and compute those whose claims expire."""
        self._loaded  # noqa: B018 - loading takes seconds, in which a claim on texts would expire
        found: dict[bytes, Stored] = {}
        others: list[bytes] = []
        for start in range(0, len(missing), self.portion):
            some = missing[start : start + self.portion]
            mine = self._claimed(some, by_key)
            found |= mine
            others += [name for name in some if name not in mine]
        while True:
            found |= self._cache.lookup(others)
            others = [name for name in others if name not in found]
            if not others:
                return found
            found |= self._claimed(others[: self.portion], by_key)
            time.sleep(POLL)

    def _claimed(self, keys: Sequence[bytes], by_key: Mapping[bytes, Text]) -> dict[bytes, Stored]:
        claimed = self._cache.claim(keys)
        mine = [name for name in keys if name in claimed]
        if not mine:
            return {}
        try:
            rows, cut = self._rows([by_key[name] for name in mine])
            self._cache.keep(mine, rows, cut)
        except BaseException:
            self._cache.release()
            raise
        return {name: Stored(row, flag) for name, row, flag in zip(mine, rows, cut, strict=True)}


def _readable(text: Text) -> Text:
    """Return the text with lone surrogates, which have no UTF-8, replaced."""
    if isinstance(text, str):
        return without_halves(text)
    return tuple(map(without_halves, text))


def _length(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))
