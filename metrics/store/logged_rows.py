"""Rows logged one by one: a file of JSON lines that a killed process leaves whole up to its last row."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from metrics.core.errors import RunBusy, StorageError, stored_at
from metrics.core.files import append_whole, json_text, make_folder, read_json, write_text
from metrics.store.origin import is_signed, sign_file

FOLDER = "logs"  # of a workspace
SHORT = 16  # hex digits of a name's hash
LINES = "rows.jsonl"
SETTINGS = "log.json"


class LoggedRows:
    """The rows of one unfinished log in a workspace, by its name; only the process that opened it writes."""

    def __init__(self, workspace: Path, name: str):
        self.name = name
        self.folder = workspace / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:SHORT]
        self._file: int | None = None

    @property
    def exists(self) -> bool:
        """Whether there is an unfinished log of that name."""
        return (self.folder / SETTINGS).exists()

    @property
    def settings(self) -> dict[str, Any]:
        """What the log was opened with."""
        return dict(read_json(self.folder / SETTINGS))

    @property
    def is_own(self) -> bool:
        """Whether the log was opened by this user; see store.origin."""
        return is_signed(self.folder / SETTINGS)

    def open(self, settings: Mapping[str, Any]) -> None:
        """Open the log for writing, the torn end of a row that a killed process left cut off.

        Raises RunBusy where another process writes to it.
        """
        make_folder(self.folder)
        with stored_at(self.folder / LINES):
            self._file = os.open(self.folder / LINES, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with stored_at(self.folder / LINES):
                os.ftruncate(self._file, self._whole())
            text = json_text({"name": self.name, **settings})
            sign_file(self.folder / SETTINGS, text.encode())
            write_text(self.folder / SETTINGS, text)
        except (BlockingIOError, StorageError) as failure:
            os.close(self._file)
            self._file = None
            if isinstance(failure, BlockingIOError):
                raise RunBusy(f"the log {self.name!r} is being written by another process") from None
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Append a row; it is in the file when this returns, so that a kill of the process does not lose it."""
        if self._file is None:
            raise RunBusy(f"the log {self.name!r} is closed: add rows inside the with block")
        with stored_at(self.folder / LINES):
            append_whole(self._file, orjson.dumps(row, default=str, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")

    def close(self) -> None:
        """Close the log, its rows synced to the disk."""
        if self._file is not None:
            file, self._file = self._file, None
            try:
                with stored_at(self.folder / LINES):
                    os.fsync(file)
            finally:
                os.close(file)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows in their order; a torn last one is left out."""
        with suppress(FileNotFoundError), (self.folder / LINES).open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield orjson.loads(line)

    def remove(self) -> None:
        """Remove the log: a run holds its rows."""
        shutil.rmtree(self.folder)

    def _whole(self) -> int:
        """Return the number of bytes up to the end of the last whole row."""
        end = 0
        with (self.folder / LINES).open("rb") as file:
            for line in file:
                end += len(line) if line.endswith(b"\n") else 0
        return end
