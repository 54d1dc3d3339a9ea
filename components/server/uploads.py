"""What uploads may hold: Streamlit keeps them in memory until the session ends, and takes them from any session."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 8 << 30
MOST_IN_ALL = min(8 << 30, MEMORY // 2)  # bytes that all uploads hold
MOST_OF_ONE = MOST_IN_ALL // 2  # bytes that one visitor's hold
MOST_FILES = 1_000  # of one visitor
KEPT = 300  # seconds; the pages store a file as soon as it is there


class Uploads:
    """The uploads of a server: whose they are, what is on its way, and since when each is kept."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}  # of sessions
        self._arriving: Counter[str] = Counter()  # bytes by visitor
        self._since: dict[tuple[str, str], float] = {}

    def refusal(self, who: str, size: int) -> str:
        """Return why a visitor may not upload `size` bytes more; "" where it may."""
        if size > (most := st.get_option("server.maxUploadSize") << 20) + (1 << 20):  # the form around a file
            return f"A file has at most {most:,} bytes"
        held = Counter(self._arriving)
        files: Counter[str] = Counter()
        for session, kept in _files().items():
            owner = self._owners.get(session, "")
            held[owner] += sum(kept.values())
            files[owner] += len(kept)
        if held[who] + size > MOST_OF_ONE or files[who] >= MOST_FILES:
            return "Your uploads of the last minutes hold as much as one person's may; try again in five minutes"
        return (
            "The uploads of all hold as much as they may; try again later" if held.total() + size > MOST_IN_ALL else ""
        )

    @contextmanager
    def count_arriving(self, who: str, session: str, size: int) -> Iterator[None]:
        """Count an upload of a session as on its way."""
        self._owners[session] = who
        self._arriving[who] += size
        try:
            yield
        finally:
            self._arriving[who] -= size

    def drop_stale(self, now: float) -> None:
        """Drop what nobody waits for any longer: uploads of sessions that have ended, and those kept for KEPT."""
        every = _files()
        here = {(session, file) for session, files in every.items() for file in files}
        self._since = {place: self._since.get(place, now) for place in here}
        for (session, file), since in self._since.items():
            if now - since >= KEPT:
                _manager().remove_file(session, file)
        for session in {*every, *self._owners}:
            if not runtime.get_instance().is_active_session(session):  # no browser is connected to it
                _manager().remove_session_files(session)
                self._owners.pop(session, None)


def _manager() -> MemoryUploadedFileManager:
    manager = runtime.get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return manager


def _files() -> dict[str, dict[str, int]]:
    """Return the sizes of the files that are kept, by session and file."""
    if not runtime.exists():
        return {}
    kept = list(_manager().file_storage.items())
    return {session: {file: len(record.data) for file, record in list(files.items())} for session, files in kept}
