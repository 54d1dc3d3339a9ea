"""The audit log: who did what, and what was refused, as JSON lines that only their owner can read."""

import fcntl
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from metrics.core.files import append_whole, make_folder

FILE = "audit.jsonl"  # of the studio's workspace, outside those of its groups
Outcome = Literal["allowed", "refused"]


class Entry(NamedTuple):
    """A line of the log: `at` in UTC, `what` was asked, of `about`. What was allowed can still have failed."""

    at: str
    who: str
    role: str
    group: str
    what: str
    about: str
    outcome: Outcome


class AuditLog:
    """The audit log of a workspace. Several processes may write to it at once."""

    def __init__(self, workspace: Path):
        self.file = workspace / FILE

    def write(self, who: str, role: str, group: str, what: str, about: str = "", outcome: Outcome = "allowed") -> None:
        """Append a line; it is on the disk when this returns."""
        entry = Entry(datetime.now(UTC).isoformat(timespec="seconds"), who, role, group, what, about, outcome)
        make_folder(self.file.parent)
        file = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # a line is written in one piece
            size = os.fstat(file).st_size
            torn = size and os.pread(file, 1, size - 1) != b"\n"  # by a process that was killed
            append_whole(file, b"\n" * bool(torn) + orjson.dumps(entry._asdict()) + b"\n", sync=True)
        finally:
            os.close(file)

    def last(self, most: int) -> list[Entry]:
        """Return the last lines, the newest first; a torn one, of a process that was killed, is left out."""
        if not self.file.exists():
            return []
        with self.file.open("rb") as file:
            lines = file.readlines()[-most:]
        return list(_entries(reversed(lines)))


def _entries(lines: Iterator[bytes]) -> Iterator[Entry]:
    for line in lines:
        try:
            yield Entry(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError):
            continue
