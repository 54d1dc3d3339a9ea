"""Atomic writes: every file of the workspace is written whole or not at all, and synced before readers see it."""

import atexit
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile, rmtree
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.errors import RunBusy

PRIVATE = 0o700  # evaluated data may be confidential
PRIVATE_FILE = 0o600
LOCK_TRIES = 10
ROW_GROUP = 131_072  # rows


def make_folder(path: Path) -> Path:
    """Return `path` after creating it, and every folder above it that is missing, readable by their owner only.

    Folders that exist stay as they are: not all of them are ours.
    """
    try:
        path.mkdir(mode=PRIVATE, exist_ok=True)
    except FileNotFoundError:  # with parents=True the folders above it would follow the umask
        make_folder(path.parent)
        path.mkdir(mode=PRIVATE, exist_ok=True)
    return path


def make_file(path: Path) -> Path:
    """Return `path` after creating it as an empty file, if it is missing; only its owner can read it from now on.

    Raises OSError for a link, which is never written through, and for a pipe that nobody reads.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        if os.fstat(descriptor).st_mode & 0o077:  # of an earlier version
            os.fchmod(descriptor, PRIVATE_FILE)
    finally:
        os.close(descriptor)
    return path


def copy_folder(source: Path, target: Path) -> None:
    """Copy the files and folders of a folder, readable by their owner only; links are left out."""
    make_folder(target)
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_symlink():
            continue
        if path.is_dir():
            make_folder(copy)
        else:
            copyfile(path, make_file(copy))


def temporary_folder(what: str) -> Path:
    """Return a new temporary folder, which is removed when the process ends."""
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix=f"assay-{what}-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def written_whole(path: Path, private: bool = True) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on a clean exit it is synced and renamed to `path`, else removed.

    Only its owner can read it, unless it is not `private`: a file that a person asked for.
    """
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if private:
            make_file(beside)
        yield beside
        _sync(beside)
        beside.replace(path)
        _sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write plain data as JSON, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, allow_nan=True))


def read_json(path: Path) -> Any:
    """Return the plain data of a JSON file; None where there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes, whole or not at all."""
    with written_whole(path) as beside:
        beside.write_bytes(data)


def write_table(path: Path, table: pa.Table, row_group_size: int = ROW_GROUP) -> None:
    """Write a table as Parquet (zstd), whole or not at all."""
    with written_whole(path) as beside:
        pq.write_table(table, beside, compression="zstd", row_group_size=row_group_size, write_page_checksum=True)


@contextmanager
def held(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock file at `path`. Raises RunBusy(`busy`) where another process does; a killed one releases it."""
    with lock_file(path, busy):
        yield


@contextmanager
def lock_file(path: Path, busy: str) -> Iterator[int]:
    """Hold as `held` does and yield the file descriptor: a process that inherits it holds the lock as well."""
    with make_file(path).open("w") as stream:
        for _ in range(LOCK_TRIES):
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:  # a reader that checks the state holds it for microseconds
                time.sleep(0.05)
        else:
            raise RunBusy(busy)
        yield stream.fileno()


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock file at `path`."""
    try:
        with path.open("r") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def sha256_of(path: Path) -> str:
    """Return the sha256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
