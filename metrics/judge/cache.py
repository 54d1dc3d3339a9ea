"""The judge's replies on disk: diskcache with JSON text only.

By default diskcache stores objects as pickles, which execute code from a tampered row (CVE-2025-69872), and evicts at
1 GiB. Here a row that is not JSON text is refused, no file beside the database is ever read, and only clear() removes
rows. A request is stored as its hash, not its text; failures are never stored.
"""

import gzip
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Protocol, cast

import diskcache
from pydantic import Field, TypeAdapter, ValidationError

from metrics.core.errors import CacheRefused, InputError, InputProblem, storage_error, stored_at
from metrics.core.files import PRIVATE, list_paths, make_file, make_folder, open_regular, written_whole

STATISTICS = "statistics"  # the key of the row that counts hits and misses; all others are hashes
KEY = re.compile(r"[0-9a-f]{64}")
HEAD = {"assay": "judge replies", "version": 1}  # the first line of an exported cache
INLINE = 1 << 30  # characters below which a value is kept in its row: all
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Stored:
    """One reply of a judge: the judge, the step, the text, whether it was cut, tokens, dollars, seconds, time.

    `shares` are those of its Completion, `asked_by` is the id of the run that asked; a reply without them is stored
    without these fields.
    """

    judge: str
    step: str
    reply: str
    cut: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0
    at: float = 0.0  # seconds since 1970
    shares: tuple[dict[str, Annotated[float, Field(ge=0, le=1)]], ...] = ()
    asked_by: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """The reply as JSON data."""
        found = asdict(self)
        for name in ("shares", "asked_by"):
            if not found[name]:
                del found[name]
        return found


STORED = TypeAdapter(Stored)


class Replies(Protocol):
    """Where replies are looked up before a request is sent."""

    def get(self, key: str) -> Stored | None:
        """Return the reply to the request of that key; None where there is none."""

    def put(self, key: str, stored: Stored, /) -> None:
        """Store a reply."""

    def close(self) -> None:
        """Store the statistics and close the file."""


class _JsonText(diskcache.Disk):  # type: ignore[misc]
    """Text in, text out; any other row is refused without reading it."""

    def put(self, key: Any) -> tuple[Any, bool]:
        return str(key), True

    def get(self, key: Any, raw: bool) -> Any:
        if not raw or not isinstance(key, str):
            raise CacheRefused(self._refusal("a key that is not text"))
        return key

    def store(self, value: Any, *_: object, **__: object) -> tuple[int, int, None, str]:
        return 0, diskcache.core.MODE_RAW, None, str(value)

    def fetch(self, mode: int, filename: str | None, value: Any, *_: object) -> str:
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, str):
            found = "a pickled object" if mode == diskcache.core.MODE_PICKLE else f"a value of mode {mode}"
            raise CacheRefused(self._refusal(found))
        return value

    def _refusal(self, found: str) -> str:
        return (
            f"the judge's cache in {self._directory} holds {found} where only JSON text is ever written: something "
            "else wrote to it. Nothing of that row was read; remove the folder, or restore it from a copy you trust"
        )


class Cache:
    """The judge's cache in a folder. Several processes may use it at once."""

    def __init__(self, folder: Path, *, counting: bool = True):
        self.folder = folder
        self._counting = counting
        self._counted: Counter[str] = Counter()

    @cached_property
    def _disk(self) -> Any:
        with stored_at(make_folder(self.folder)):
            self.folder.chmod(PRIVATE)
            make_file(self.folder / diskcache.core.DBNAME)
        with self._readable():
            return diskcache.Cache(
                str(self.folder),
                disk=_JsonText,
                eviction_policy="none",
                cull_limit=0,
                size_limit=1 << 60,
                statistics=0,
                tag_index=0,
                disk_min_file_size=INLINE,
                sqlite_mmap_size=0,
                sqlite_cache_size=2048,
            )

    def get(self, key: str) -> Stored | None:
        """Return the reply to the request of that key; None without one. Raises CacheRefused for a foreign row."""
        with self._readable():
            text = self._disk.get(key)
        if text is None:
            self._counted["misses"] += 1
            return None
        stored = self._stored(text)
        self._counted["hits"] += 1
        self._counted["saved_tokens"] += (stored.prompt_tokens or 0) + (stored.completion_tokens or 0)
        self._counted["saved_microdollars"] += round(1e6 * (stored.cost_usd or 0))
        self._counted["unpriced"] += stored.cost_usd is None
        return stored

    def put(self, key: str, stored: Stored) -> None:
        """Store a reply."""
        with self._readable():
            self._disk.set(key, json.dumps(stored.record, ensure_ascii=False))

    def __contains__(self, key: str) -> bool:
        """Return whether there is a reply; it does not count as a hit."""
        with self._readable():
            return key in self._disk

    def close(self) -> None:
        """Store the statistics and close the file."""
        if self._counted and self._counting:
            with self._readable(), self._disk.transact():
                total = Counter(self._tally())
                total.update(self._counted)
                self._disk.set(STATISTICS, json.dumps(total))
            self._counted.clear()
        if "_disk" in self.__dict__:
            self._disk.close()
            del self.__dict__["_disk"]

    def statistics(self) -> "Statistics":
        """Return the contents of the cache and what it has saved so far."""
        files = [file for file in list_paths(self.folder, "cache.db*") if file.is_file()]
        steps: Counter[tuple[str, str]] = Counter((stored.judge, stored.step) for _, stored in self.rows())
        tally = self._tally()
        return Statistics(
            replies=sum(steps.values()),
            bytes=sum(file.stat().st_size for file in files),
            hits=tally.get("hits", 0),
            misses=tally.get("misses", 0),
            saved_tokens=tally.get("saved_tokens", 0),
            saved_usd=tally.get("saved_microdollars", 0) / 1e6,
            unpriced_hits=tally.get("unpriced", 0),
            steps=tuple((judge, step, count) for (judge, step), count in sorted(steps.items())),
        )

    def rows(self) -> Iterator[tuple[str, Stored]]:
        """Yield every reply with its key, in the order of the keys."""
        if not self.folder.exists():
            return
        with self._readable():
            for key in self._disk.iterkeys():
                text = None if key == STATISTICS else self._disk.get(key)
                if text is not None:
                    yield key, self._stored(text)

    def clear(self, judge: str | None = None, step: str | None = None, older_than_days: float | None = None) -> int:
        """Remove the replies that meet all given conditions (none: every reply) and return their number."""
        before = None if older_than_days is None else time.time() - older_than_days * DAY
        going = [
            key
            for key, stored in self.rows()
            if (judge is None or stored.judge == judge)
            and (step is None or stored.step == step)
            and (before is None or stored.at < before)
        ]
        with self._readable():
            for key in going:
                self._disk.delete(key)
        return len(going)

    def export(self, file: Path, keys: Set[str] | None = None) -> int:
        """Write the replies (those of `keys`, if given) as JSON lines, gzipped for .gz; return their number."""
        count = 0
        with written_whole(file, private=False) as beside, _opened(beside, file, "w") as stream:
            stream.write(json.dumps(HEAD) + "\n")
            for key, stored in self.rows():
                if keys is None or key in keys:
                    stream.write(json.dumps({"key": key} | stored.record, ensure_ascii=False) + "\n")
                    count += 1
        return count

    def take(self, file: Path) -> int:
        """Add the replies of an exported file, all or none, and return their number. Raises InputError."""
        rows = list(_exported(file))
        with self._readable(), self._disk.transact():
            for key, stored in rows:
                self.put(key, stored)
        return len(rows)

    def _tally(self) -> dict[str, int]:
        if not self.folder.exists():
            return {}
        with self._readable():
            return dict(json.loads(self._disk.get(STATISTICS) or "{}"))

    def _stored(self, text: str) -> Stored:
        try:
            return STORED.validate_json(text, strict=True)
        except ValidationError:
            raise CacheRefused(f"the judge's cache in {self.folder} holds a row that is no reply of a judge") from None

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as failure:
            if told := storage_error(failure, self.folder):
                raise told from failure
            raise CacheRefused(
                f"the judge's cache in {self.folder} cannot be used: {failure}; remove the folder, or restore it"
            ) from None


class Replay:
    """The replies of an exported file and no others: no request is sent."""

    def __init__(self, file: Path):
        self._replies = dict(_exported(file))

    def get(self, key: str) -> Stored | None:
        """Return the recorded reply to the request of that key."""
        return self._replies.get(key)

    def put(self, *_: object) -> None:
        """Do nothing: a recording never changes."""

    def close(self) -> None:
        """Do nothing: the file is closed already."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The contents of a cache (replies, bytes on disk, replies by judge and step) and what its hits have saved.

    `saved_usd` is the price of the hits with a known price; `unpriced_hits` counts the others.
    """

    replies: int
    bytes: int
    hits: int
    misses: int
    saved_tokens: int
    saved_usd: float
    unpriced_hits: int
    steps: tuple[tuple[str, str, int], ...]


def _exported(file: Path) -> Iterator[tuple[str, Stored]]:
    """Yield the rows of an exported cache. Raises InputError naming the first line that is none."""
    number = 0
    try:
        with _opened(file, file, "r") as stream:
            for number, line in enumerate(stream, 1):
                record = json.loads(line)
                if number == 1:
                    if record != HEAD:
                        raise ValueError
                    continue
                key = record.pop("key")
                if not KEY.fullmatch(key):
                    raise ValueError
                yield key, STORED.validate_json(json.dumps(record), strict=True)
            if number == 0:
                raise ValueError
    except OSError as failure:
        raise InputError([InputProblem(str(file), failure.strerror or str(failure), "an exported cache")]) from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError):
        problem = InputProblem(str(file), "something else", "a line of an exported cache", row=max(1, number))
        raise InputError([problem]) from None


def _opened(path: Path, named: Path, mode: Literal["r", "w"]) -> IO[str]:
    """Open `path` as text, through gzip where the name `named` ends in .gz."""
    if mode == "r":
        open_regular(path).close()  # a pipe or a device would keep us waiting
    if named.suffix == ".gz":
        return cast(IO[str], gzip.open(path, mode + "t", encoding="utf-8"))
    return path.open(mode, encoding="utf-8")
