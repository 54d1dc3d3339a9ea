"""Vectors kept on disk under the hash of their text, shared by every process that works in the workspace."""

import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import numpy as np

from metrics.core.array_types import Singles
from metrics.core.errors import AssayError, storage_error, stored_at
from metrics.core.files import PRIVATE, make_file, make_folder

Vector = Singles
Text = str | tuple[str, ...]
LEASE = 30.0  # seconds for which a claim on texts holds: a killed process does not keep others waiting for long
PATIENCE = 60.0  # seconds to wait for another process's write
AT_ONCE = 500  # keys a query, below SQLite's smallest limit on bound values
UNIT = 1e-3  # how far a stored vector's squared length may be from 1; beyond, the file is damaged
TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, truncated INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)",
)


def key(text: Text) -> bytes:
    """Return the sha256 of a text's UTF-8, which is stored in its place; of several texts, that of their sha256s."""
    if isinstance(text, tuple):
        return sha256(b"".join(key(part) for part in text)).digest()
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Stored:
    """A text's vector and whether the model read only a part of the text."""

    vector: Vector
    truncated: bool


class VectorCache:
    """One SQLite file of one model's vectors: raw float32 numbers by the sha256 of the text; nothing is unpickled.

    Safe for several processes on one machine (write-ahead log). Nothing is ever evicted. Only the owner can read the
    folder. A claim makes one process compute what the others wait for. `unit_length`: every vector has length 1.
    """

    def __init__(self, path: Path, unit_length: bool = True):
        self._unit_length = unit_length
        self.width: int | None = None  # of the model's vectors, once it has made one
        with stored_at(make_folder(path.parent)):
            path.parent.chmod(PRIVATE)
            make_file(path)
        self._path = path
        self._owner = token_hex(8)
        # one connection for all threads: Embedder holds a lock around every use
        with self._damage_explained():
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self.close = weakref.finalize(self, self._connection.close)  # closes the file, at the latest when unused
            self._prepare()

    def _prepare(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:  # SQLite itself does not wait for the lock of the change to WAL
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            for table in TABLES:
                self._connection.execute(table)

    def lookup(self, keys: Sequence[bytes]) -> dict[bytes, Stored]:
        """Return the stored vectors of the keys, without any that is not finite or of the wrong length."""
        with self._damage_explained():
            rows = list(self._select("key, vector, truncated", "vectors", keys))
        rows = [row for row in rows if isinstance(row[1], bytes)]  # SQLite keeps any type in any column
        if not rows:
            return {}
        width = self.width or Counter(len(row[1]) for row in rows).most_common(1)[0][0] // 4
        rows = [row for row in rows if len(row[1]) == width * 4]
        table = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), width)
        squares = np.einsum("ij,ij->i", table, table)
        sound = np.abs(squares - 1.0) < UNIT if self._unit_length else np.isfinite(squares)
        return {row[0]: Stored(vector, bool(row[2])) for row, vector, ok in zip(rows, table, sound, strict=True) if ok}

    def claim(self, keys: Sequence[bytes], lease: float = LEASE) -> set[bytes]:
        """Return the keys that this process is to compute: not stored yet and not claimed by another process."""
        now = time.time()
        with self._damage_explained(), self._transaction():
            # one that lasts longer than any lease was made before the clock was set back
            stale = "DELETE FROM claims WHERE until < ? OR until > ? OR owner = ?"
            self._connection.execute(stale, (now, now + 2 * max(lease, LEASE), self._owner))
            taken = {row[0] for row in self._select("key", "claims", keys)}
            taken |= self.lookup(keys).keys()
            free = [key for key in keys if key not in taken]
            self._connection.executemany(
                "INSERT INTO claims VALUES (?, ?, ?)", [(key, self._owner, now + lease) for key in free]
            )
        return set(free)

    def keep(self, keys: Sequence[bytes], vectors: Vector, truncated: Sequence[bool]) -> None:
        """Store vectors [n, d] of the model and release the claims on them; from now on only d numbers are a vector."""
        self.width = vectors.shape[1]
        given = zip(keys, vectors.astype(np.float32), truncated, strict=True)
        rows = [(key, vector.tobytes(), int(cut)) for key, vector, cut in given]
        with self._damage_explained(), self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._connection.executemany("DELETE FROM claims WHERE key = ?", [(key,) for key in keys])

    def release(self) -> None:
        """Release every claim of this process, after a failure."""
        self._connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))

    def _select(self, columns: str, table: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes, int]]:
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            yield from self._connection.execute(f"SELECT {columns} FROM {table} WHERE key IN ({marks})", some)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as failure:
            if told := storage_error(failure, self._path):
                raise told from failure
            if isinstance(failure, sqlite3.OperationalError):
                raise
            raise AssayError(
                f"the vector cache {self._path} is damaged ({failure}); delete it, the vectors are computed again"
            ) from failure
