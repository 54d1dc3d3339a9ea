"""Every exception that Assay raises on purpose.

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
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from metrics.core.input_problems import InputProblem as InputProblem, lines_of

G = TypeVar("G")
R = TypeVar("R")
SHOWN_PROBLEMS = 50  # kinds


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


def for_each(given: Iterable[G], perform: Callable[[G], R]) -> list[R]:
    """Return what `perform` makes of each. InputError with the problems of all that it refuses."""
    made: list[R] = []
    problems: list[InputProblem] = []
    for one in given:
        try:
            made.append(perform(one))
        except InputError as failure:
            problems += failure.problems
    if problems:
        raise InputError(problems)
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
    """The machine refuses to store or to read; the text says where, what failed and what to do. See core.storage."""


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
