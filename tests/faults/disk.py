"""A disk that fails on request: every file operation below a folder is counted, and the n-th of a kind can fail.

    with Disk(folder) as disk:            # counts and, with `moments=True`, keeps what a power cut would leave
        work()
    with Disk(folder, FULL, 3) as disk:   # the third operation that the fault is about fails
        work()

It stands between Python and the operating system in this process only: `open`, what `os` and `pathlib` do by name or by
descriptor, and Parquet files, which are written through Python here. Nothing is really synced: the model of a power cut
(tests.faults.power) knows what would have been.
"""

import builtins
import errno
import io
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import pyarrow.parquet as pq
from pyarrow.parquet import core as parquet

from tests.faults.power import Moments

CREATES = ("create", "mkdir", "link")
CHANGES = (*CREATES, "write", "fsync", "rename", "unlink")
ALL = (*CHANGES, "open", "read")


@dataclass(frozen=True)
class Fault:
    """What goes wrong: an error at one operation of these kinds, or at it and every later one (`stays`)."""

    name: str
    code: int
    kinds: tuple[str, ...]
    stays: bool = False
    half: bool = False  # a write stores the half of its bytes first


FULL = Fault("disk full", errno.ENOSPC, (*CREATES, "write", "fsync"), stays=True)
SHORT = Fault("short write", errno.ENOSPC, ("write",), stays=True, half=True)
LOST = Fault("input/output error", errno.EIO, ALL)
BROKEN = Fault("disk lost", errno.EIO, ALL, stays=True)
DENIED = Fault("permission denied", errno.EACCES, ("create", "open", "mkdir", "rename", "unlink", "link"))
MANY = Fault("too many open files", errno.EMFILE, ("create", "open"), stays=True)
FAULTS = (FULL, SHORT, LOST, BROKEN, DENIED, MANY)


class Disk:
    """The file operations below `root` while the context is open; see the module."""

    def __init__(self, root: Path, fault: Fault | None = None, at: int = 0, *, moments: bool = False):
        self.counts: Counter[str] = Counter()  # operations by kind
        self.hit: str | None = None  # the operation that failed first: its kind and file
        self.moments = Moments(root) if moments else None
        self._root = str(root.resolve()) + os.sep
        self._fault = fault
        self._left = at
        self._names: dict[int, str] = {}  # of open descriptors
        self._turn = threading.RLock()
        self._stack = ExitStack()

    def points(self, fault: Fault) -> int:
        """Return how many of the counted operations a fault can hit."""
        return sum(self.counts[kind] for kind in fault.kinds)

    def __enter__(self) -> Self:
        replaced: list[tuple[Any, str, Any]] = [
            (builtins, "open", self._open), (io, "open", self._open),
            (shutil, "_USE_CP_SENDFILE", False), (shutil, "_use_fd_functions", False),
            (parquet, "ParquetWriter", _writer(self)), (pq, "ParquetWriter", _writer(self)),
            (parquet.ParquetFile, "__init__", self._reading(parquet.ParquetFile.__init__, 1)),
        ]  # fmt: skip
        for name, kind, places in (
            ("mkdir", "mkdir", 1), ("rename", "rename", 2), ("replace", "rename", 2), ("unlink", "unlink", 1),
            ("remove", "unlink", 1), ("rmdir", "unlink", 1), ("link", "link", 2),
        ):  # fmt: skip
            replaced.append((os, name, self._named(getattr(os, name), kind, places)))
        replaced += [
            (os, name, getattr(self, "_os_" + name)(getattr(os, name)))
            for name in ("open", "close", "write", "fsync", "ftruncate")
        ]
        replaced += [
            (module, name, self._reading(getattr(module, name), 0))
            for module in (parquet, pq)
            for name in ("read_table", "read_schema", "read_metadata")
        ]
        for owner, name, new in replaced:
            self._stack.enter_context(patch.object(owner, name, new))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def has(self, path: Any) -> bool:
        """Return whether a path is below the root."""
        return isinstance(path, str | os.PathLike) and (os.path.abspath(path) + os.sep).startswith(self._root)

    @contextmanager
    def doing(self, kind: str, path: Any, half: Callable[[], Any] = lambda: None, source: Any = "") -> Iterator[None]:
        """Count an operation, and fail in its place if it is its turn; `half` does the half of it first.

        source: what is renamed to `path`.
        """
        with self._turn:
            self.counts[kind] += 1
            if self._fault is not None and kind in self._fault.kinds:
                self._left -= 1
                if self._left == 0 or (self._left < 0 and self._fault.stays):
                    if self.hit is None:
                        self.hit = f"{kind} {path}"
                        if self._fault.half:
                            half()
                    self.fail(path)
            yield
            if self.moments is not None:
                self.moments.note(kind, str(path), str(source))

    def fail(self, path: Any) -> None:
        """Fail as the fault does."""
        assert self._fault is not None
        raise OSError(self._fault.code, os.strerror(self._fault.code), str(path))

    def _open(
        self, file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, closefd: bool = True, opener: Any = None,
    ) -> Any:  # fmt: skip
        if not self.has(file):
            return REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        writes = any(sign in mode for sign in "wax+")
        creates = writes and not os.path.exists(file)
        with self.doing("create" if creates else "open", file):
            raw = _File(file, mode.replace("b", "").replace("t", ""))
        raw.disk = self
        if buffering == 0:
            return raw
        whole: Any = (
            io.BufferedRandom(raw)
            if "+" in mode
            else io.BufferedWriter(raw, BUFFER)
            if writes
            else io.BufferedReader(raw, BUFFER)
        )
        return whole if "b" in mode else io.TextIOWrapper(whole, encoding or "utf-8", errors, newline)

    def _named(self, real: Any, kind: str, places: int) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            if not any(self.has(path) for path in given[:places]) or named.get("dir_fd") is not None:
                return real(*given, **named)
            if kind == "mkdir" and os.path.exists(given[0]):  # refused without a change
                return real(*given, **named)
            if kind == "unlink" and not os.path.lexists(given[0]):
                return real(*given, **named)
            with self.doing(kind, given[places - 1], source=given[0]):
                return real(*given, **named)

        return called

    def _reading(self, real: Any, place: int) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            if len(given) > place and self.has(given[place]) and os.path.exists(given[place]):
                with self.doing("read", given[place]):
                    pass
            return real(*given, **named)

        return called

    def _os_open(self, real: Any) -> Any:
        def called(path: Any, flags: int, *given: Any, **named: Any) -> int:
            if not self.has(path):
                return int(real(path, flags, *given, **named))
            creates = flags & os.O_CREAT and not os.path.exists(path)
            with self.doing("create" if creates else "open", path):
                descriptor = int(real(path, flags, *given, **named))
            self._names[descriptor] = str(path)
            return descriptor

        return called

    def _os_close(self, real: Any) -> Any:
        def called(descriptor: int) -> None:
            self._names.pop(descriptor, None)
            real(descriptor)

        return called

    def _os_write(self, real: Any) -> Any:
        def called(descriptor: int, data: Any) -> int:
            if descriptor not in self._names:
                return int(real(descriptor, data))
            with self.doing("write", self._names[descriptor], lambda: real(descriptor, data[: len(data) // 2])):
                return int(real(descriptor, data))

        return called

    def _os_fsync(self, real: Any) -> Any:
        def called(descriptor: int) -> None:
            if descriptor not in self._names:
                real(descriptor)
                return
            with self.doing("fsync", self._names[descriptor]):
                pass

        return called

    def _os_ftruncate(self, real: Any) -> Any:
        def called(descriptor: int, size: int) -> None:
            if descriptor not in self._names or os.fstat(descriptor).st_size == size:
                real(descriptor, size)
                return
            with self._turn:  # a full disk has room for less
                real(descriptor, size)
                if self.moments is not None:
                    self.moments.note("write", self._names[descriptor])

        return called


class _File(io.FileIO):
    """A file whose every write and read is an operation of a disk."""

    disk: Disk

    def write(self, data: Any) -> int:
        with self.disk.doing("write", self.name, lambda: super(_File, self).write(bytes(data)[: len(data) // 2])):
            return int(super().write(data) or 0)

    def readinto(self, buffer: Any) -> int | None:
        with self.disk.doing("read", self.name):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with self.disk.doing("read", self.name):
            return super().readall()


def _writer(disk: Disk) -> type:
    class Writer(REAL_WRITER):  # type: ignore[misc, valid-type]
        """A writer of Parquet whose bytes go through Python."""

        own: Any = None

        def __init__(self, where: Any, *given: Any, **named: Any):
            if disk.has(where):
                where = self.own = builtins.open(where, "wb")  # noqa: SIM115 - closed with the writer
            super().__init__(where, *given, **named)

        def close(self) -> None:
            try:
                super().close()
            finally:
                if self.own is not None:
                    self.own.close()

    return Writer


BUFFER = 1 << 20  # bytes: a small file is one write and one read
REAL_OPEN = open
REAL_WRITER = parquet.ParquetWriter
