"""Every exception that Assay raises on purpose, and what the machine refuses on storing or reading, in words; and what
may be meant by a name that is not known.

AssayError
├── InputError          the user's input is wrong; carries every problem at once (exit code 2)
├── MissingResource     a judge, a model or a package that the evaluator needs is missing
├── CacheRefused        the judge's cache holds rows that Assay never writes, or cannot be read
├── JudgeError
│   ├── Unreadable      neither the judge's reply nor its repair could be read: the case is a parse failure
│   │   └── Cut         the reply ended at the token limit: a shorter question may be answered whole
│   ├── BudgetSpent     the budget in calls, tokens or dollars is used up: the case is skipped
│   └── JudgeDown       the judge does not respond: the run stops and can be resumed
├── RemoteError         a remote workspace is unreachable, refuses, or holds something else than it should
├── TargetDown          a model that is to answer a suite does not; what it has answered is kept
├── StorageError        the machine refuses to store or to read: a full disk, a lost one, no permission (exit code 4)
└── RunError
    ├── RunNotFound     there is no run of that id in the workspace
    ├── RunBusy         another process is working on the run
    ├── RunSealed       the run is finished and cannot change
    └── RunCorrupt      a file is lost, unreadable or differs from its seal

A full disk is nobody's input and no fault of a case: it is a StorageError, of which nothing that was done is lost.
"""

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, TypeVar

from metrics.core.input_problems import InputProblem as InputProblem, lines_of
from metrics.core.other_names import called_here

G = TypeVar("G")
R = TypeVar("R")
SHOWN_PROBLEMS = 50  # kinds
LIKENESS = 0.7  # ratio of difflib, from which a name may be meant
NAMED = 3  # names that may be meant
LISTED = 12  # names, at most, that a message lists


def describe_failure(failure: BaseException) -> str:
    """Return an exception that was not raised for the user as one line: its class and its text."""
    return f"{type(failure).__name__}: {' '.join(str(failure).split())}"


class AssayError(Exception):
    """Base of every exception raised on purpose; its text is written for the user, each argument one line of it."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class InputError(AssayError):
    """The user's input cannot be used: `problems` lists everything that is wrong with it, the text groups it."""

    def __init__(self, problems: Iterable[InputProblem] | str, *lines: str):
        if isinstance(problems, str):
            self.problems: tuple[InputProblem, ...] = ()
            super().__init__(problems, *lines)
            return
        self.problems = tuple(problems)
        super().__init__(*lines_of(self.problems, SHOWN_PROBLEMS))


def refuse(problems: Iterable[InputProblem]) -> None:
    """Raise InputError with these problems, where there are any."""
    if found := tuple(problems):
        raise InputError(found)


def for_each(given: Iterable[G], perform: Callable[[G], R]) -> list[R]:
    """Return what `perform` makes of each. InputError with the problems of all that it refuses."""
    made: list[R] = []
    problems: list[InputProblem] = []
    for one in given:
        try:
            made.append(perform(one))
        except InputError as failure:
            problems += failure.problems
    refuse(problems)
    return made


class MissingResource(AssayError):
    """Something that an evaluator needs is not installed or not chosen; the text says how to get it."""


class CacheRefused(AssayError):
    """The judge's cache cannot be trusted or read; the text says which file and what to do."""


class JudgeError(AssayError):
    """A judge could not answer a question."""


class Unreadable(JudgeError):
    """Neither the judge's reply nor its repair could be read; the text says what was wrong."""


class Cut(Unreadable):
    """The judge's reply ended at the token limit; a shorter question may be answered whole."""


class BudgetSpent(JudgeError):
    """The run's budget in calls, tokens or dollars is used up; no more questions are sent."""


class JudgeDown(JudgeError):
    """The judge does not respond; the text gives its last error and what to do."""


class RemoteError(AssayError):
    """A remote workspace cannot be used; the text says where, what happened and what to do, and holds no key."""


class TargetDown(AssayError):
    """A target does not answer; the text gives its last error and what to do."""


class StorageError(AssayError):
    """The machine refuses to store or to read; the text says where, what failed and what to do."""


class RunError(AssayError):
    """An operation on a run is not possible."""


class RunNotFound(RunError):
    """There is no run of that id in the workspace."""


class RunBusy(RunError):
    """Another process is working on the run."""


class RunSealed(RunError):
    """The run is finished; a sealed run cannot change."""


class RunCorrupt(RunError):
    """A file of a run is lost, unreadable or differs from its seal.

    `run` is the id of the run, "" of stored inputs; `lost`: the file is not there at all.
    """

    def __init__(self, text: str, run: str = "", lost: bool = False):
        super().__init__(text)
        self.run = run
        self.lost = lost


class _Refusal(NamedTuple):
    """What failed and what to do; `everywhere`: the next file meets it, too, whatever its name."""

    what: str
    do: str
    everywhere: bool = True


MAX_PATH_SHOWN = 200  # characters of a path in a message
_DISK = "check the disk and its connection"
_FREE = "free some space"
_FOLDER = "choose another folder"
_REFUSALS = {
    errno.ENOSPC: _Refusal("the disk is full", _FREE),
    errno.EDQUOT: _Refusal("the disk quota is used up", f"{_FREE}, or ask for a larger quota"),
    errno.EFBIG: _Refusal("the file would be too large", "raise the limit (`ulimit -f`), or use another disk"),
    errno.EROFS: _Refusal("the disk is read-only", f"{_FOLDER}, or mount the disk for writing"),
    errno.EIO: _Refusal("the disk failed (input/output error)", _DISK),
    errno.ESTALE: _Refusal("the network disk has lost the file (stale handle)", "mount the disk again"),
    errno.ENODEV: _Refusal("the disk is gone", _DISK),
    errno.ENXIO: _Refusal("the disk is gone", _DISK),
    errno.ENOTCONN: _Refusal("the disk is gone", _DISK),
    errno.ENOLCK: _Refusal("the disk has no locks", "use a disk that has: a local one, or NFS 4"),
    errno.EMFILE: _Refusal("this process has too many open files", "raise the limit (`ulimit -n`)"),
    errno.ENFILE: _Refusal("this machine has too many open files", "end what is not needed"),
    errno.EACCES: _Refusal("permission is denied", f"{_FOLDER}, or ask its owner for access", everywhere=False),
    errno.EPERM: _Refusal("permission is denied", f"{_FOLDER}, or ask its owner for access", everywhere=False),
    errno.ENOTDIR: _Refusal("there is a file where a folder is needed", _FOLDER, everywhere=False),
    errno.EISDIR: _Refusal("there is a folder where a file is needed", "choose another name", everywhere=False),
    errno.ENAMETOOLONG: _Refusal("the name is too long", "choose a shorter one", everywhere=False),
    errno.ELOOP: _Refusal("it is a link that leads to itself, or no link is allowed", _FOLDER, everywhere=False),
}
_SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_NOLFS: errno.EFBIG,
}
_SPACE = (errno.ENOSPC, errno.EDQUOT)
_QUOTED = re.compile(r"""["'](/[^"'\n]+)["']""")
_OF_TARGET = (*_SPACE, errno.EFBIG, errno.EROFS)


@contextmanager
def stored_at(path: Path) -> Iterator[None]:
    """Raise StorageError where the machine refuses what is done with `path` inside; other errors pass."""
    try:
        yield
    except Exception as failure:
        told = storage_error(failure, path)
        if told is None or told is failure:
            raise
        raise told from failure


def storage_error(failure: BaseException, path: Path | None = None, *, everywhere: bool = False) -> StorageError | None:
    """Return an error of the operating system, SQLite, Arrow or DuckDB in words; None where it is of another kind.

    path: what it was about, where the error does not say. everywhere: only what the next file would meet, too.
    """
    if isinstance(failure, StorageError):
        return failure
    code = _code(failure)
    if code is None or (everywhere and not _REFUSALS[code].everywhere):
        return None
    place = _named_path(failure, code) or path
    what, do, _ = _REFUSALS[code]
    left = ""
    if code in _SPACE and place is not None:
        left, only_files = _space_left(place)
        if only_files:
            what, do = "the disk has no room for more files", "remove some files"
    return StorageError(f"{_path_words(place)}{what}{left}; {do}, then do it again: what is done is kept")


def _named_path(failure: BaseException, code: int) -> Path | None:
    """Return the path that an error names: of two files the one that is written, of DuckDB and Arrow the quoted one."""
    named = getattr(failure, "filename", None)
    if code in _OF_TARGET:
        named = getattr(failure, "filename2", None) or named
    if not named and (quoted := _QUOTED.search(str(failure))) is not None:
        named = quoted[1]
    return Path(os.fsdecode(named)) if isinstance(named, str | bytes) and named else None


def _code(failure: BaseException) -> int | None:
    """Return the number of the operating system's error; None for one that is not of the machine."""
    code = None
    if isinstance(failure, OSError):
        code = failure.errno
    elif isinstance(failure, sqlite3.Error):
        code = _sqlite_code(failure)
    elif type(failure).__module__.partition(".")[0].lstrip("_") in ("duckdb", "pyarrow"):
        code = next((code for code in _REFUSALS if os.strerror(code) in str(failure)), None)
    return code if code in _REFUSALS else None


def _sqlite_code(failure: sqlite3.Error) -> int | None:
    extended: int = getattr(failure, "sqlite_errorcode", 0) or 0
    if extended & 0xFF == sqlite3.SQLITE_CANTOPEN:  # SQLite keeps the reason to itself
        return errno.EISDIR if extended == sqlite3.SQLITE_CANTOPEN_ISDIR else errno.EACCES
    return _SQLITE.get(extended & 0xFF)


def _space_left(place: Path) -> tuple[str, bool]:
    """Return what is left on the disk, in words, and whether it has bytes, but no inode for another file."""
    folder = next((one for one in (place, *place.absolute().parents) if one.is_dir()), Path("/"))
    try:
        inodes, usage = os.statvfs(folder), shutil.disk_usage(folder)
    except OSError:
        return "", False
    if inodes.f_files and not inodes.f_favail and usage.free:
        return f" (0 of {inodes.f_files:,} inodes free)", True
    return f" ({usage.free:,} of {usage.total:,} bytes free)", False


def _path_words(place: Path | None) -> str:
    """Return the path as the beginning of a message, a long name cut; a temporary file as the one that it becomes."""
    if place is None:
        return ""
    text = str(place.with_name(place.name[1:].rsplit(".", 2)[0]) if place.suffix == ".part" else place)
    shown = text if len(text) <= MAX_PATH_SHOWN else f"{text[: MAX_PATH_SHOWN // 2]}…{text[-MAX_PATH_SHOWN // 2 :]}"
    return "".join(sign if sign.isprintable() else "�" for sign in shown) + ": "


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return up to NAMED of the known names that are most like `name`, the likest first; case does not count.

    A known name that is one part of `name` or has it as a part (`rouge.rougel`, `rougeL`) is like it, too.
    """
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.lower(), each)
        folded.setdefault(each.rpartition(".")[2].lower(), each)
    lower = name.lower()
    if lower in folded:
        return [folded[lower]]
    found = get_close_matches(lower, folded, 2 * NAMED, LIKENESS)
    parts = [each for each in folded if len(lower) > 2 and (each.startswith(lower) or lower in each.split("."))]
    return list(dict.fromkeys(folded[each] for each in (*found, *parts)))[:NAMED]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean 'rouge' or 'bleu'?`, or which one another system calls so; empty where none is like it."""
    known = list(known)
    if name not in known and (elsewhere := called_here(name, known)):
        return elsewhere
    names = [repr(each) for each in near(name, known)]
    return f"did you mean {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}?" if names else ""


def one_of(name: str, known: Iterable[str], lists: str = "") -> str:
    """Return what was expected in place of `name`, for an InputProblem.

    A short list is given whole: `one of a, b (did you mean 'a'?)`; of a long one the likest names, and `lists`, the
    command that prints them all: `one of 95 (did you mean 'faithfulness'?; `… evaluators` lists them)`.
    """
    names = list(dict.fromkeys(known))
    hint = did_you_mean(name, names)
    whole = len(names) <= LISTED or not (hint or lists)
    hints = "; ".join(filter(None, [hint, "" if whole or not lists else f"`{lists}` lists them"]))
    return f"one of {', '.join(names) if whole else f'{len(names):,}'}" + (f" ({hints})" if hints else "")
