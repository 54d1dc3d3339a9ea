"""The answers of a target on disk: a line of JSON each, synced before the next case is asked.

A recording belongs to what the target is, not to a run: whoever asks the same target the same again, after a kill too,
finds the answer here. A line that a kill cut short is dropped when the file is opened.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from metrics.core.errors import RunError, stored_at
from metrics.core.files import append_whole, hold_lock, make_folder, write_json
from metrics.core.unicode_forms import without_halves
from metrics.store.own_files import own_folder
from metrics.targets.description import Target

FOLDER = "targets"  # of a workspace
FILE = "answers.jsonl"

Entry = Mapping[str, Any]  # key, case_id, and the columns of OUTPUTS that the answer has, or `error`


def folder_of(workspace: Path, target: Target) -> Path:
    """Return the folder of a target's recording, there or not."""
    return own_folder(workspace, FOLDER, target.fingerprint()[:32])


def key_of(request: Any) -> str:
    """Return the sha256 of a request."""
    return sha256(json.dumps(request, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")).hexdigest()


def read_entries(folder: Path) -> dict[str, Entry]:
    """Return what is recorded, the last entry of each key; a line cut short is left out."""
    found: dict[str, Entry] = {}
    try:
        with (folder / FILE).open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line)
                    found[entry["key"]] = entry
                except (ValueError, LookupError, TypeError):
                    raise RunError(
                        f"{folder / FILE}, line {number}, is damaged; correct it, or remove the file to ask anew"
                    ) from None
    except FileNotFoundError:
        pass
    return found


class Recording:
    """The recorded answers of one target, open for more."""

    def __init__(self, folder: Path, descriptor: int, entries: dict[str, Entry]):
        self.folder = folder
        self.entries = entries
        self._descriptor = descriptor
        self._lines: list[bytes] = []  # not yet on disk
        self._turn = asyncio.Lock()

    async def put(self, entry: Entry) -> None:
        """Record an entry; it is on disk when this returns. Those put at the same time share one sync."""
        line = without_halves(json.dumps(entry, ensure_ascii=False)).encode() + b"\n"
        self._lines.append(line)
        async with self._turn:
            if any(waiting is line for waiting in self._lines):  # else another one's sync took it along
                lines, self._lines = self._lines, []
                writing = asyncio.ensure_future(asyncio.to_thread(self._append, lines))
                try:
                    await asyncio.shield(writing)
                except asyncio.CancelledError:
                    await writing  # an answer that came is kept
                    raise
        self.entries[entry["key"]] = entry

    def close(self) -> None:
        """Write what a cancelled call has left, and close the file."""
        try:
            if self._lines:
                self._append(self._lines)
        finally:
            os.close(self._descriptor)

    def _append(self, lines: list[bytes]) -> None:
        with stored_at(self.folder / FILE):
            append_whole(self._descriptor, b"".join(lines), sync=True)


@contextmanager
def recording(workspace: Path, target: Target, *, fresh: bool = False) -> Iterator[Recording]:
    """Open the recording of a target; `fresh` forgets what is there. Raises RunBusy where another process has it."""
    folder = make_folder(folder_of(workspace, target))
    with hold_lock(folder / "lock", f"the target {target.title} is being asked by another process"):
        if fresh:
            with stored_at(folder):
                (folder / FILE).unlink(missing_ok=True)
        with stored_at(folder / FILE):
            entries = read_entries(folder)
            descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        kept = Recording(folder, descriptor, entries)
        try:
            with stored_at(folder / FILE):
                os.ftruncate(descriptor, _whole(folder / FILE))
            write_json(folder / "target.json", target.stored())  # which also keeps the name of the new file
            yield kept
        finally:
            kept.close()


def _whole(path: Path) -> int:
    """Return the bytes of a file up to the end of its last whole line."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        while size:
            start = max(0, size - (1 << 16))
            stream.seek(start)
            place = stream.read(size - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            size = start
    return 0
