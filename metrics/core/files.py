"""Files: what a user names is opened without waiting, and what Assay writes is written whole or not at all.

A pipe without a writer would wait for ever, a device such as /dev/zero has no end; inputs are also read twice, by their
first bytes to tell the format, which a pipe cannot be.

What was reported as done outlives a power cut: a file is synced before it gets its name, and the folder that has the
name after that. Where the machine refuses, StorageError says so; see core.errors.
"""

import atexit
import errno
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from shutil import copyfile, rmtree
from typing import IO, TYPE_CHECKING, Any

from metrics.core.errors import InputError, InputProblem, RunBusy, stored_at

if TYPE_CHECKING:
    import pyarrow as pa

PIPE = "a pipe, which can be read only once: save it to a file first"
OTHER = {stat.S_IFDIR: "a folder", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def open_regular(path: str | Path, follow: bool = True) -> BufferedReader:
    """Return the file, open for reading its bytes; a link leads to its file, unless `follow` is False.

    Raises OSError, whose `strerror` says why, for what is no regular file: a folder, pipe, socket or device. What was
    opened is looked at, not the path, which may be another file by then.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # without O_NONBLOCK a pipe would wait here
    descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        code = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(code, PIPE if kind == stat.S_IFIFO else OTHER.get(kind, "no regular file"), str(path))
    return os.fdopen(descriptor, "rb")


def bytes_of(path: str | Path) -> bytes:
    """Return the bytes of a regular file; OSError as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def text_of(path: str | Path, encoding: str = "utf-8") -> str:
    """Return the text of a regular file, every line end as "\\n"; OSError as `open_regular`, or UnicodeDecodeError."""
    with TextIOWrapper(open_regular(path), encoding=encoding) as stream:
        return stream.read()


PRIVATE = 0o700  # evaluated data may be confidential
PRIVATE_FILE = 0o600
SCRATCH = ".scratch"  # how temporary folders end
JUST_MADE = 60  # seconds in which a temporary folder may not be locked yet
LOCK_TRIES = 10
EMPTY = "a new or an empty folder"
ROW_GROUP = 131_072  # rows


def make_folder(path: Path) -> Path:
    """Return `path` after creating it, and every folder above it that is missing, readable by their owner only.

    Folders that exist stay as they are: not all of them are ours.
    """
    with stored_at(path):
        missing = []
        for folder in (path, *path.parents):
            if folder.is_dir():
                break
            missing.append(folder)
        for folder in reversed(missing):  # with parents=True the folders above it would follow the umask
            try:
                folder.mkdir(mode=PRIVATE, exist_ok=True)
            except FileExistsError:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
            sync(folder.parent)
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


def temporary_folder(what: str) -> Path:
    """Return a new temporary folder, which is removed when the process ends; see `scratch_folder`."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(scratch_folder(what))


@contextmanager
def scratch_folder(what: str, place: Path | None = None) -> Iterator[Path]:
    """Yield a new temporary folder in `place`, or where temporary files go, and remove it.

    Its process holds a lock on it, so that a later one knows and removes what a killed one has left.
    """
    from tempfile import gettempdir, mkdtemp

    place = place or Path(gettempdir())
    _remove_leftovers(place)
    with stored_at(place):
        folder = Path(mkdtemp(prefix=f"assay-{what}-", suffix=SCRATCH, dir=place))
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a disk without locks: what is left there stays
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with stored_at(folder):
            yield folder
    finally:
        rmtree(folder, ignore_errors=True)
        os.close(descriptor)


@cache  # once a process
def _remove_leftovers(place: Path) -> None:
    """Remove the temporary folders in a place that killed processes of this account have left."""
    for folder in place.glob(f"assay-*{SCRATCH}"):
        with suppress(OSError):  # of another account, or just removed, or in use
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                facts = os.fstat(descriptor)
                if facts.st_uid == os.getuid() and facts.st_mtime < time.time() - JUST_MADE:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    rmtree(folder)
            finally:
                os.close(descriptor)


@contextmanager
def written_whole(path: Path, private: bool = True) -> Iterator[Path]:
    """Yield a path beside `path` to write to; on a clean exit it is synced and renamed to `path`, else removed.

    Only its owner can read it, unless it is not `private`: a file that a person asked for.
    """
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with stored_at(path):
        try:
            if private:
                make_file(beside)
            yield beside
            stamp(beside)
            sync(beside)
            beside.replace(path)
        except BaseException:
            with suppress(OSError):  # of a disk that is gone; what was raised first counts
                beside.unlink(missing_ok=True)
            raise
        sync(path.parent)


def is_half_made(name: str) -> bool:
    """Return whether a file's name is one that `written_whole` writes to: what a killed process left, or another's."""
    return name.startswith(".") and name.endswith(".part")


@contextmanager
def folder_written_whole(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside `folder` to fill; on a clean exit it takes its place, which is new or empty.

    Raises InputError where somebody else has filled that place meanwhile.
    """
    from tempfile import mkdtemp

    with stored_at(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(mkdtemp(prefix=f".{folder.name}.", suffix=".unfinished", dir=folder.parent))
        try:
            os.umask(mask := os.umask(0o077))  # it can only be read by setting it
            beside.chmod(0o777 & ~mask)
            yield beside
            try:
                beside.rename(folder)  # over an empty folder, too
            except OSError as failure:
                if failure.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
                raise InputError([InputProblem(str(folder), "files that were not there before", EMPTY)]) from None
        finally:
            rmtree(beside, ignore_errors=True)


def stamp(path: Path) -> None:
    """Set when a path was changed to now: the kernel's own time is of its last tick, which several may share."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def json_text(value: Any) -> str:
    """Return plain data as the JSON that `write_json` writes."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=True)


def write_json(path: Path, value: Any) -> None:
    """Write plain data as JSON, whole or not at all."""
    write_text(path, json_text(value))


def read_json(path: Path) -> Any:
    """Return the plain data of a JSON file; None where there is no such file. ValueError where it is no JSON."""
    try:
        with stored_at(path):
            return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def list_paths(folder: Path, pattern: str) -> list[Path]:
    """Return the paths below a folder that match a pattern, by name; none where there is no such folder.

    Raises StorageError where it cannot be read, of which a pattern says nothing: an empty workspace is another thing.
    """
    try:
        with stored_at(folder):
            os.scandir(folder).close()
    except FileNotFoundError:
        return []
    return sorted(folder.glob(pattern))


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes, whole or not at all."""
    with written_whole(path) as beside:
        beside.write_bytes(data)


def write_table(path: Path, table: "pa.Table", row_group_size: int = ROW_GROUP) -> None:
    """Write a table as Parquet (zstd), whole or not at all."""
    import pyarrow.parquet as pq  # on use: a fresh process that scores COCO has no tables

    with written_whole(path) as beside:
        pq.write_table(table, beside, compression="zstd", row_group_size=row_group_size, write_page_checksum=True)


def write_export(path: Path, data: bytes) -> None:
    """Write a file that the user named, whole or not at all; a device or a pipe takes the bytes as they come."""
    if path.exists() and not path.is_file():
        with stored_at(path):
            path.write_bytes(data)
    else:
        with written_whole(path.resolve(), private=False) as beside:
            beside.write_bytes(data)


def append_whole(descriptor: int, data: bytes, sync: bool = False) -> None:
    """Append bytes to an open file, all or none of them; synced to the disk if so asked."""
    size = os.fstat(descriptor).st_size
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(descriptor, left) :]
        if sync:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def copy_folder(source: Path, target: Path) -> None:
    """Copy the files of a folder, each whole and synced; a file that is there already, of the same size, is kept.

    They are named by their content, so that an interrupted copy is continued. Links are left out.
    """
    make_folder(target)
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_symlink():
            continue
        if path.is_dir():
            make_folder(copy)
        elif not is_half_made(path.name) and not (copy.exists() and copy.stat().st_size == path.stat().st_size):
            with written_whole(copy) as beside:
                copyfile(path, beside)


def sync_folder(folder: Path) -> None:
    """Sync every file and folder below `folder` to the disk, so that a rename after it never shows half of them."""
    with stored_at(folder):
        for path in folder.rglob("*"):
            sync(path)
        sync(folder)


def move_folder(source: Path, target: Path) -> None:
    """Rename a folder; the new name outlives a power cut."""
    with stored_at(target):
        source.rename(target)
        sync(target.parent)
        if source.parent != target.parent:
            sync(source.parent)


@contextmanager
def hold_lock(path: Path, busy: str) -> Iterator[int]:
    """Hold the lock file at `path` and yield its file descriptor: a process that inherits it holds the lock as well.

    Raises RunBusy(`busy`) where another process holds it; a killed one releases it.
    """
    with stored_at(path):
        stream = make_file(path).open("w")
    with stream:
        for _ in range(LOCK_TRIES):
            if lock_open(stream):
                break
            time.sleep(0.05)  # a reader that checks the state holds it for microseconds
        else:
            raise RunBusy(busy)
        yield stream.fileno()


def lock_open(stream: IO[str]) -> bool:
    """Lock an open file, until it is closed, and return whether no other process holds it."""
    try:
        with stored_at(Path(stream.name)):
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock file at `path`."""
    try:
        with stored_at(path), path.open("r") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def sha256_of(path: Path) -> str:
    """Return the sha256 (hex) of a file's bytes."""
    with stored_at(path), path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Sync a file's bytes, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
