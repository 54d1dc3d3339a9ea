"""Problems, Sheet, Loaded: everything wrong with an upload is collected before anything is raised."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Ints
from metrics.core.errors import InputError, InputProblem

T = TypeVar("T")
LISTED_PER_KIND = 1_000  # problems of one kind in one column of one file; the rest are counted in one line


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """The result of reading an upload: the value, the problems of the rows left out, and notes for the user.

    `missing` counts the (case, model) pairs of the suite that the outputs do not answer; they are no error.
    """

    value: T
    problems: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    missing: int = 0


class Problems:
    """Everything wrong with an upload: problems of rows, which can be left out, and fatal ones."""

    def __init__(self, keep_good_rows: bool = False):
        self.keep_good_rows = keep_good_rows
        self.keep_unknown_classes = False  # predictions of classes that the suite does not have are no problems
        self.fatal = False
        self.left_out = 0
        self._files: dict[str, int] = {}
        self._found: list[InputProblem] = []

    def add(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None, *,
        fatal: bool = False,
    ) -> None:  # fmt: skip
        """Record one problem; leaving rows out does not fix a fatal one."""
        self.extend([InputProblem(file, found, expected, row, column, fatal)])
        self.fatal |= fatal

    def extend(self, problems: Iterable[InputProblem]) -> None:
        """Record problems found elsewhere."""
        for problem in problems:
            self._files.setdefault(problem.file, len(self._files))
            self._found.append(problem)

    def absorb(self, error: InputError) -> None:
        """Record the problems of a file that could not be read at all."""
        seen = {replace(problem, fatal=True) for problem in self._found}
        fatal = (replace(problem, fatal=True) for problem in error.problems)
        self.extend(problem for problem in fatal if problem not in seen)
        self.fatal = True

    def __len__(self) -> int:
        return len(self._found)

    @property
    def listed(self) -> tuple[InputProblem, ...]:
        """All problems, by file in the order given, then by row."""
        return tuple(sorted(self._found, key=lambda problem: (self._files[problem.file], problem.row or 0)))

    def stop(self) -> None:
        """Raise InputError where reading cannot continue, whether or not bad rows may be left out."""
        if self.fatal:
            raise InputError(self.listed)

    def check(self) -> None:
        """Raise InputError where something is wrong and bad rows may not be left out, or that would not fix it."""
        if self._found and (self.fatal or not self.keep_good_rows):
            raise InputError(self.listed)

    def fail(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None
    ) -> InputError:
        """Return the error to raise where reading cannot continue: this problem after all others."""
        self.add(file, found, expected, row, column, fatal=True)
        return InputError(self.listed)


class Sheet:
    """One table of an upload while it is checked: its columns, the row numbers to report, and which rows are bad.

    `table` has a string or list-of-strings column for each column of the file; `rows` are the numbers of its records.
    Names lose the spaces around them, an empty text is no value, and a row without any value is none, in every format.
    """

    def __init__(self, file: str, table: pa.Table, rows: Ints, problems: Problems, delimited: bool = False):
        self.file = file
        self.problems = problems
        self.delimited = delimited  # from a CSV, where a list can only be a text
        names = [name.strip() or f"column_{place}" for place, name in enumerate(table.column_names, 1)]
        if len(set(names)) < len(names):
            for name in sorted({name for name in names if names.count(name) > 1}):
                found = f"{names.count(name)} columns named {name!r}"
                problems.add(file, found, "a different name for each column", column=name, fatal=True)
            problems.stop()
        columns = [_without_empty(column) for column in table.columns]
        filled = ~np.logical_and.reduce([is_null(column) for column in columns] or [np.zeros(len(table), bool)])
        self.table = only(pa.table(columns, names=names), filled)
        self.rows = rows[filled]
        self.bad: Bools = np.zeros(len(self.table), bool)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def file_of(self, place: int) -> str:  # noqa: ARG002 - the sheets of several files need it
        """Return the file that the row of that index is in."""
        return self.file

    def take(self, places: NDArray[np.intp]) -> None:
        """Keep the rows of these indexes, in that order; one may be kept several times."""
        self.table, self.rows, self.bad = self.table.take(pa.array(places)), self.rows[places], self.bad[places]

    def report(
        self, mask: Bools, column: str | None,
        found: pa.ChunkedArray | pa.Array | Sequence[Any] | str | Callable[[int], str], expected: str,
        *, left_out: bool = True,
    ) -> None:  # fmt: skip
        """Record a problem for each row of `mask`; `found` is a text, a column, or a function of the row's index.

        With `left_out` False the rows stay in where the user keeps the good ones.
        """
        places = np.flatnonzero(mask)
        if not len(places):
            return
        if left_out:
            self.bad |= mask
        for place in places[:LISTED_PER_KIND].tolist():
            text = _found_text(found, place)
            self.problems.add(self.file_of(place), text, expected, int(self.rows[place]), column)
        if len(places) > LISTED_PER_KIND:
            hidden = int(places[LISTED_PER_KIND])
            first_hidden = int(self.rows[hidden])
            count = len(places) - LISTED_PER_KIND
            more = f"{count:,} more rows like this, from row {first_hidden:,} on"
            self.problems.extend([InputProblem(self.file_of(hidden), more, expected, first_hidden, column, rows=count)])

    def report_values(self, wrong: Iterable[bool], column: str | None, values: Sequence[Any], expected: str) -> None:
        """Record a problem for each wrong row that has none yet; `values` are what the rows hold."""
        mask = np.fromiter(wrong, bool, len(self)) & ~self.bad
        self.report(mask, column, lambda row: "nothing" if values[row] is None else repr(values[row])[:120], expected)

    def blame_rows(self, found: Mapping[int, str], column: str | None, expected: str) -> None:
        """Record a problem for each row of `found` (index → what was found) that has none yet."""
        mask = np.zeros(len(self), bool)
        mask[list(found)] = True
        self.report(mask & ~self.bad, column, lambda row: found[row], expected)

    def leave_out(self) -> None:
        """Add the bad rows to the count of rows left out."""
        self.problems.left_out += int(self.bad.sum())


def only(table: pa.Table, mask: Bools) -> pa.Table:
    """Return the rows of `mask`; the table itself, not a copy, where that is all of them."""
    return table if mask.all() else table.filter(pa.array(mask))


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type) or not pc.any(pc.equal(column, "")).as_py():
        return column
    return pc.if_else(pc.equal(column, ""), None, column)


def is_null(column: pa.ChunkedArray | pa.Array) -> Bools:
    """Return where a column has no value."""
    return as_mask(pc.is_null(column))


def as_mask(column: pa.ChunkedArray | pa.Array) -> Bools:
    """Return an Arrow boolean column as numpy, null as False."""
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=bool)


def flat(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the column as one array (large strings where 32-bit offsets would not do)."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_string(column.type) and column.nbytes > 2**31 - 2**20:
        column = column.cast(pa.large_string())
    merged = column.combine_chunks()
    return merged if isinstance(merged, pa.Array) else pa.concat_arrays(merged.chunks)


def first_line(error: BaseException) -> str:
    """Return the first line of what a library's error says, at most 200 characters."""
    text = re.sub(r" <_io\.\w+ object at \w+>", "", str(error)).strip()
    return (text or type(error).__name__).splitlines()[0][:200]


def _found_text(found: Any, place: int) -> str:
    if isinstance(found, str):
        return found
    if callable(found):
        return str(found(place))
    value = found[place]
    value = value.as_py() if isinstance(value, pa.Scalar) else value
    return "nothing" if value is None else repr(value) if isinstance(value, str) else str(value)
