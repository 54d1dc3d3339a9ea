"""Problems of the user's input, one by one and in groups: equal problems are one line with a count and examples."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metrics.core.file_kinds import upload_of
from metrics.core.receipt import FileQuestion

SHOWN_CHARACTERS = 120
SHOWN_EXAMPLES = 3
EXAMPLE_CHARACTERS = 60
COMPARED = 1_000  # characters of what was found by which problems are of one kind
# What differs between problems of one kind: quoted values, lists, numbers. Greedy, as values may hold quotes.
VALUES = re.compile(r"""'.*'|".*"|[\[{(].*[\]})]|[-+]?\d[\d,.:]*""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One problem at one place of the user's input.

    `row` counts like a spreadsheet: the header is row 1, the first record of a CSV row 2; in JSONL it is the line, in
    Parquet and JSON arrays the record counted from 1. None means the whole file. Leaving rows out does not fix a
    `fatal` one. `rows` are more than one where it stands for further rows like this that are not listed. An answer to
    the `question` ends the problem.
    """

    file: str
    found: str
    expected: str
    row: int | None = None
    column: str | None = None
    fatal: bool = False
    rows: int = 1
    question: FileQuestion | None = None

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f", row {self.row}"
        if self.column is not None:
            place += f", column {self.column}"
        return f"{place}: found {short(self.found)}; expected {self.expected}"

    def as_row(self) -> dict[str, str | int | None]:
        """Return the problem as a flat record, for tables and JSON."""
        return {name: getattr(self, name) for name in ("file", "found", "expected", "row", "column")}


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems of one kind: the same expectation, not met in the same column of the same upload.

    `count` is their number; `values` the number of different things found, `examples` a problem of each of the most
    frequent ones with the number of its rows.
    """

    file: str
    column: str | None
    expected: str
    fatal: bool
    count: int
    values: int
    examples: tuple[tuple[InputProblem, int], ...]

    @property
    def place(self) -> str:
        """Where the problems are: file, column, and their number if there are several."""
        first = self.examples[0][0]
        if self.count == 1:
            return ", ".join([first.file] + [f"row {first.row}"] * (first.row is not None) + self._in_column)
        unit = "rows" if first.row is not None else "files" if self.file != first.file else "times"
        return ", ".join([self.file, *self._in_column, f"{self.count:,} {unit}"])

    @property
    def found(self) -> str:
        """What was found: of one problem its text, else examples with their rows."""
        if self.count == 1:
            return short(self.examples[0][0].found)
        texts = [self._example(problem, count) for problem, count in self.examples]
        more = self.values - len(texts)
        return ", ".join(texts) + (f" and {more:,} others" if more > 0 else "")

    def __str__(self) -> str:
        return f"{self.place}: found {self.found}; expected {self.expected}"

    @property
    def _in_column(self) -> list[str]:
        return [] if self.column is None else [f"column {self.column}"]

    def _example(self, problem: InputProblem, count: int) -> str:
        if problem.file != self.file:
            more = f" and {count - 1:,} more" * (count > 1)
            where = (
                problem.file.removeprefix(f"{self.file}/") + f", row {problem.row}" * (problem.row is not None) + more
            )
        elif problem.row is not None:
            where = f"row {problem.row}" if count == 1 else f"{count:,} rows, first {problem.row}"
        else:
            where = f"{count:,} times" * (count > 1)
        text = short(problem.found, EXAMPLE_CHARACTERS)
        return f"{text} ({where})" if where else text


def grouped(problems: Iterable[InputProblem]) -> list[ProblemGroup]:
    """Return the problems in groups of one kind, the worst first.

    Those that leaving rows out does not fix come first, then those of whole files, then by the number of rows. Problems
    are of one kind where file, column, what was expected and the wording of what was found are the same; the files of
    a folder or zip count as one.
    """
    kinds: dict[tuple[str, str | None, str, str], list[InputProblem]] = {}
    latest: dict[tuple[str, str | None, str], list[InputProblem]] = {}
    for problem in problems:
        place = (upload_of(problem.file), problem.column, problem.expected)
        if problem.rows > 1 and place in latest:  # stands for more of those before it
            latest[place].append(problem)
            continue
        whole = problem.row is None and place[0] == problem.file  # of a file or an option: each says something else
        members = kinds.setdefault((*place, problem.found if whole else VALUES.sub("…", problem.found[:COMPARED])), [])
        members.append(problem)
        latest[place] = members
    return sorted((_group(members) for members in kinds.values()), key=_rank)


def lines_of(problems: Iterable[InputProblem], shown: int) -> list[str]:
    """Return the groups of problems as lines, at most `shown` of them, and how many are not shown."""
    groups = grouped(problems)
    lines = [str(group) for group in groups[:shown]]
    if len(groups) > shown:
        lines.append(f"… and {len(groups) - shown:,} more kinds of problems")
    return lines


def count_words(problems: Iterable[InputProblem]) -> str:
    """Return how many problems there are, each cause once, and in how many rows: `2 problems in 10 rows`."""
    groups = grouped(problems)
    rows = sum(group.count for group in groups if group.examples[0][0].row is not None)
    text = f"{len(groups):,} problem{'s' * (len(groups) != 1)}"
    return f"{text} in {rows:,} rows" if rows > len(groups) else text


def short(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return `text` on one line, shortened, with control characters escaped: it may be hostile."""
    flat = "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _group(members: Sequence[InputProblem]) -> ProblemGroup:
    found: dict[str, tuple[InputProblem, int]] = {}
    for problem in members:
        if problem.rows == 1 or len(members) == 1:
            first, count = found.get(problem.found, (problem, 0))
            found[problem.found] = (first, count + problem.rows)
    total = sum(problem.rows for problem in members)
    if len(found) == 1:  # the rows that are not listed hold other values, or this one
        found = {text: (first, total) for text, (first, _) in found.items()}
    often = sorted(found.values(), key=lambda example: -example[1])
    first = members[0]
    files = {problem.file for problem in members}
    file = first.file if len(files) == 1 else upload_of(first.file)
    fatal = any(problem.fatal for problem in members)
    values = len(found) + sum(problem.rows for problem in members if problem.rows > 1) * (len(found) > 1)
    return ProblemGroup(file, first.column, first.expected, fatal, total, values, tuple(often[:SHOWN_EXAMPLES]))


def _rank(group: ProblemGroup) -> tuple[bool, bool, int]:
    return not group.fatal, group.examples[0][0].row is not None, -group.count
