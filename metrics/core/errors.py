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
├── TargetDown          a model that is to answer a suite does not; what it has answered is kept
└── RunError
    ├── RunNotFound     there is no run of that id in the workspace
    ├── RunBusy         another process is working on the run
    ├── RunSealed       the run is finished and cannot change
    └── RunCorrupt      a sealed file is missing or does not match the manifest
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

SHOWN_PROBLEMS = 50
SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One problem at one place of the user's input.

    `row` counts like a spreadsheet: the header is row 1, the first record of a CSV row 2; in JSONL it is the line, in
    Parquet and JSON arrays the record counted from 1. None means the whole file.
    """

    file: str
    found: str
    expected: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f", row {self.row}"
        if self.column is not None:
            place += f", column {self.column}"
        return f"{place}: found {_short(self.found)}; expected {self.expected}"

    def as_row(self) -> dict[str, str | int | None]:
        """Return the problem as a flat record, for tables and JSON."""
        return asdict(self)


class AssayError(Exception):
    """Base of every exception raised on purpose; its text is written for the user."""


class InputError(AssayError):
    """The user's input cannot be used; `problems` lists everything that is wrong with it."""

    def __init__(self, problems: Iterable[InputProblem] | str):
        if isinstance(problems, str):
            self.problems: tuple[InputProblem, ...] = ()
            super().__init__(problems)
            return
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        hidden = len(self.problems) - len(shown)
        if hidden > 0:
            shown.append(f"… and {hidden:,} more problems")
        super().__init__("\n".join(shown))


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


class TargetDown(AssayError):
    """A target does not answer; the text gives its last error and what to do."""


class RunError(AssayError):
    """An operation on a run is not possible."""


class RunNotFound(RunError):
    """There is no run of that id in the workspace."""


class RunBusy(RunError):
    """Another process is working on the run."""


class RunSealed(RunError):
    """The run is finished; a sealed run cannot change."""


class RunCorrupt(RunError):
    """A file of a sealed run is missing or differs from its manifest."""


def _short(text: str) -> str:
    """Return `text` on one line, shortened, with control characters escaped: it may be hostile."""
    flat = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return flat if len(flat) <= SHOWN_CHARACTERS else flat[: SHOWN_CHARACTERS - 1] + "…"
