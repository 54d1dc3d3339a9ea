"""Sheet: one table of an upload while it is checked; its verbs read columns, and each invalid cell is a problem."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.errors import InputProblem
from metrics.core.fields import Field
from metrics.core.receipt import COPIES, ROWS, FileQuestion, Use
from metrics.core.suite import METADATA
from metrics.core.unicode_forms import normalized
from metrics.ingest.arrays import (
    WHOLE,
    as_mask,
    differs,
    flat,
    floats,
    integers,
    is_blank,
    is_null,
    may_hold,
    only,
    ranges_of,
    with_items,
)
from metrics.ingest.decoded_size import check_columns
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import UPLOADED, Columns, fold
from metrics.ingest.tables.conversations import split_questions
from metrics.ingest.tables.decimals import NUMBER, are_thousands, decimal_mark, with_points, without_unit
from metrics.ingest.tables.lists import (
    LIST,
    ListForm,
    class_mark,
    looks_listed,
    looks_parted,
    looks_separated,
    split_column,
)
from metrics.ingest.tables.values import PASSAGE_KEYS, as_lists, list_text

LISTED_PER_KIND = 1_000  # problems of one kind in one column of one file; the rest are counted in one line
NOT_FINITE = ("nan", "inf", "-inf", "+inf", "infinity", "-infinity")
TRUE, FALSE = ("1", "true", "yes", "1.0"), ("0", "false", "no", "0.0")
CODE = ("javascript:", "python:", "file://")  # promptfoo runs or opens such cells; they are refused here
CLASSES = tuple(each.name for each in UPLOADED if each.items == "classes")
ALWAYS_SPLIT = tuple(each.name for each in UPLOADED if each.items == "names")
# lists of names and numbers, which have no semicolons of their own
ID_LISTS = ("context_ids", "reference_context_ids")
NAMES = (*ALWAYS_SPLIT, *CLASSES, *ID_LISTS, *(each.name for each in UPLOADED if each.is_list and each.is_number))
MESSAGES = ("question", "answer")
PASSAGES = ("retrieved_contexts", "reference_contexts")
ID_KEYS = ("id", "doc_id", "document_id", "context_id", "passage_id", "chunk_id", "corpus_id", "_id")
RULE_KEYS = ("assertion", "text", "description", "criterion", "rule", "name")
# where an object in a list of such a field has its text
TEXT_KEYS = {**dict.fromkeys(ID_LISTS, ID_KEYS), **dict.fromkeys(PASSAGES, PASSAGE_KEYS), "criteria": RULE_KEYS}
SENTENCE = re.compile(r"\s;|;\s|&#?\w+;|[={}<>]")  # of a cell with ; that may be one text: prose, HTML, code
UNIT = FileQuestion(
    "unit", "Do numbers with a unit count as they are written, or are they per cent of 1?", ("as_written", "share")
)
DECIMAL = FileQuestion(
    "decimal", "Which is the decimal mark of these numbers? The other one separates thousands.", ("comma", "point")
)
UNSEEN = re.compile("[\u200b\u200e\u200f\u2060\ufeff]")  # spaces without width and marks, in names


class Sheet:
    """One table of an upload while it is checked: its columns, the row numbers to report, and which rows are bad.

    `table` has a string or list-of-strings column for each column of the file; `rows` are the numbers of its records.
    Names are in composed characters and lose the spaces around them, an empty text is no value, and a row without any
    value is none, in every format.
    """

    def __init__(self, file: str, table: pa.Table, rows: Ints, problems: Problems, delimited: bool = False):
        check_columns(file, table.num_columns)
        self.file = file
        self.problems = problems
        self.delimited = delimited  # from a CSV, where a list can only be a text
        self.has_semicolons = False  # between its cells
        self._decimals: dict[str, str | None] = {}  # column → its decimal mark
        self._scales: dict[str, float] = {}  # column → how many of the unit in its cells are one of …
        self._units: dict[str, dict[str, float]] = {}  # … its field's, which may stand beside each number
        self._noted: set[str] = set()  # columns about which the receipt says what is not read
        given = enumerate(table.column_names, 1)
        names = [normalized("NFC", UNSEEN.sub("", name)).strip() or f"column_{place}" for place, name in given]
        if len(set(names)) < len(names):
            for name, count in sorted((name, count) for name, count in Counter(names).items() if count > 1):
                found = f"{count} columns named {name!r}"
                problems.add(file, found, "a different name for each column", column=name, fatal=True)
            problems.stop()
        columns = [_without_empty(column) for column in table.columns]
        filled = ~np.logical_and.reduce([is_null(column) for column in columns] or [np.zeros(len(table), bool)])
        table = only(pa.table(columns, names=names), filled)
        asked = split_questions(file, table, problems)
        self.table = pa.table({name: table[name] for name in names} | dict(asked)) if asked else table
        self.rows = rows[filled]
        self.bad: Bools = np.zeros(len(self.table), bool)
        self.copies: Bools = np.zeros(len(self.table), bool)  # rows left out because another is the same: no problem

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def file_of(self, place: int) -> str:  # noqa: ARG002 - the sheets of several files need it
        """Return the file that the row of that index is in."""
        return self.file

    def take(self, places: NDArray[np.intp]) -> None:
        """Keep the rows of these indexes, in that order; one may be kept several times."""
        self.table, self.rows, self.bad = self.table.take(pa.array(places)), self.rows[places], self.bad[places]
        self.copies = self.copies[places]

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
            place, count = int(places[LISTED_PER_KIND]), len(places) - LISTED_PER_KIND
            row = int(self.rows[place])
            more = f"{count:,} more rows like this, from row {row:,} on"
            self.problems.extend([InputProblem(self.file_of(place), more, expected, row, column, rows=count)])

    def report_values(self, wrong: Iterable[bool], column: str | None, values: Sequence[Any], expected: str) -> None:
        """Record a problem for each wrong row that has none yet; `values` are what the rows hold."""
        mask = np.fromiter(wrong, bool, len(self)) & ~self.bad
        self.report(mask, column, lambda row: "nothing" if values[row] is None else repr(values[row])[:120], expected)

    def blame_rows(self, found: Mapping[int, str], column: str | None, expected: str) -> None:
        """Record a problem for each row of `found` (index → what was found) that has none yet."""
        mask = np.zeros(len(self), bool)
        mask[list(found)] = True
        self.report(mask & ~self.bad, column, lambda row: found[row], expected)

    def leave_out_copies(self, again: Bools, first: Ints) -> Bools:
        """Leave out the rows of `again` that are the same as the row in `first`; return the others of `again`."""
        same = again.copy()
        for column in self.table.columns if again.any() else ():
            same &= ~differs(column, first)
        self.copies = self.copies | same
        self.bad |= same
        return again & ~same

    def leave_out(self) -> None:
        """Add the bad rows to the count of rows left out; a row of the file counts once, whatever became of it."""
        wrong, copies = self._count(self.bad & ~self.copies), self._count(self.bad)
        self.problems.left_out += wrong
        if len(self):
            self.problems.note(self.file, ROWS, "used", "records", self._count(~self.bad))
        if wrong:
            numbers = ranges_of(np.unique(self.rows[self.bad & ~self.copies]))
            why = f"they are wrong, and only the good ones are kept: {numbers}"
            self.problems.note(self.file, ROWS, "unused", why, wrong)
        if copies > wrong:
            self.problems.note(self.file, COPIES, "unused", "they are copies of others", copies - wrong)

    def _count(self, mask: Bools) -> int:
        """Return how many rows of the file those are: a row may hold the answers of several models."""
        return len(np.unique(self.rows[mask]))

    def note_column(self, name: str, use: Use, meaning: str) -> None:
        """Record in the receipt what became of a column."""
        filled = pc.drop_null(self.table[name])
        self.problems.note(self.file, name, use, meaning, len(filled), filled[0].as_py() if len(filled) else "")

    def put(self, name: str, texts: Sequence[str | None]) -> None:
        """Put texts, one for each row, in the place of a column, or in a new one."""
        names, column = self.table.column_names, pa.array(texts, pa.string())
        at = names.index(name) if name in names else len(names)
        kept = self.table.drop_columns([name]) if name in names else self.table
        self.table = kept.add_column(at, name, column)

    def text(self, name: str, parts: bool = True) -> pa.ChunkedArray:
        """Return a column as strings; lists become JSON text or, with `parts`, the parts of a message their text."""
        column = self.table[name]
        if not pa.types.is_list(column.type):
            return column
        left = Leaves(f"{name}[]")
        found = left if parts else None
        values = [None if value is None else list_text(value, found) for value in column.to_pylist()]
        self._note_unread(name, left, "of the parts of a message only texts are read")
        return pa.chunked_array([pa.array(values, pa.string())])

    def read_field(self, columns: Columns, field: Field) -> pa.ChunkedArray | pa.Array:
        """Return a column of cases or outputs as its field's type says; numbers in another unit become the field's."""
        name = columns.columns[field.name]
        if field.is_list:
            return self.number_lists(columns, field.name) if field.is_number else self.lists(columns, field.name)
        if not field.is_number:
            return self._joined_parts(field.name, name) if field.name in MESSAGES else self.text(name)
        self._units[name] = {field.name.rpartition("_")[2]: 1.0, **{each[1:]: n for each, n in field.units.items()}}
        given = self.numbers(name, low=field.low, whole=field.is_whole)
        for ending, size in field.units.items():
            if fold(name).endswith(ending) and name not in self._scales:
                given = given / size
        return integers(given, field.type) if field.is_whole else floats(given)

    def _joined_parts(self, canonical: str, name: str) -> pa.ChunkedArray:
        """Return a column of messages as strings; parts of a message that a program wrote as code are their text."""
        column = self.text(name)
        if not may_hold(column, b"{"):
            return column
        likely = column.filter(pc.match_substring_regex(column, r"^\s*\[?\s*\{")).unique().to_pylist()
        texts = {text: whole for text in likely if (whole := looks_parted(text)) is not None}
        if not texts:
            return column
        question = FileQuestion(f"{canonical}_as", "Is such a text its parts, or one text as it is?", ("parts", "text"))
        found = f"parts of a message as code, such as {next(iter(texts))[:80]!r}"
        if self.problems.ask(self.file, question, found, default="parts", place=name) != "parts":
            return column
        return pa.chunked_array([pa.array([texts.get(text, text) for text in column.to_pylist()], pa.string())])

    def required(self, name: str, what: str) -> pa.ChunkedArray:
        """Return a column of strings none of which is missing or blank."""
        column = self.text(name)
        self.report(is_blank(column), name, column, what)
        return column

    def lists(self, columns: Columns, canonical: str) -> pa.ChunkedArray:
        """Return a column (or numbered columns) as lists of strings."""
        name = columns.columns[canonical]
        if name in columns.numbered:
            return pa.chunked_array([as_lists([self.text(member) for member in columns.numbered[name]])])
        column = self.table[name]
        if canonical in CLASSES and not pa.types.is_list(column.type):
            column = self._with_semicolons(canonical, name)
        left = Leaves(f"{name}[]")
        split, bad = split_column(column, self.list_form(canonical, name), left)
        if bad.any():
            self.report(bad, name, self.text(name), LIST)
        self._note_unread(name, left, "of an object in a list only the text is read")
        return split

    def _note_unread(self, name: str, left: Leaves, why: str) -> None:
        """Say in the receipt, once, what the objects of a column hold that is not read."""
        if left and name not in self._noted:
            self._noted.add(name)
            left.note(self.problems, self.file, reason=why)

    def list_form(self, canonical: str, name: str) -> ListForm:
        """Return how the texts of a column become lists; asks where only a person knows whether they are any.

        A typed text stays one text, and so does a single expected answer; passages are never code.
        """
        column, plural = self.table[name], fold(name).endswith("s")
        names = canonical in NAMES
        keys = TEXT_KEYS.get(canonical, ())
        lone = canonical == "expected_answers" and not plural
        form = ListForm(passages=canonical in PASSAGES, whole=names and not keys, keys=keys, parts=lone)
        if pa.types.is_list(column.type):
            return form
        if names:
            return replace(form, semicolons=canonical in ALWAYS_SPLIT or plural)
        if canonical == "expected_answers" and not (self.delimited and plural):
            return replace(form, code=self._are_lists(canonical, name, "text"))
        if canonical in PASSAGES and not self.delimited:
            form = replace(form, numbers=False)
            return replace(form, code=self._are_lists(canonical, name, "list"))
        return replace(form, semicolons=plural and self.delimited and self._are_separated(canonical, name))

    def _are_lists(self, canonical: str, name: str, default: str) -> bool:
        texts = looks_listed(self.table[name], numbers=default == "text")
        if not texts:
            return default == "list"
        default = "list" if all(looks_parted(text) is not None for text in texts) else default
        asked = FileQuestion(f"{canonical}_as", "Is such a text a list, or one text as it is?", ("text", "list"))
        return self._ask(name, asked, f"texts that look like lists, such as {texts[0][:80]!r}", default) == "list"

    def _are_separated(self, canonical: str, name: str) -> bool:
        """Return whether `;` separates the items of a column: asked, unless its cells show it."""
        column = self.table[name]
        texts = looks_separated(column)
        if not texts:
            return False
        plain = not any(SENTENCE.search(text) for text in texts)
        default = "semicolon" if plain else "none" if looks_listed(column) else None
        text = "Does ; separate several texts, or belong to one?"
        asked = FileQuestion(f"{canonical}_separator", text, ("semicolon", "none"))
        return self._ask(name, asked, f"cells with ; such as {texts[0][:80]!r}", default) == "semicolon"

    def _with_semicolons(self, canonical: str, name: str) -> pa.ChunkedArray:
        """Return a column of classes with `;` between them; whether `,` is, too, is asked unless its cells show it."""
        column = self.table[name]
        mark, example, shown = class_mark(column)
        if mark == "," and fold(name).endswith("s"):
            text = "Does , separate several classes, or belong to one?"
            asked = FileQuestion(f"{canonical}_separator", text, ("comma", "none"))
            found = f"cells with , such as {example[:80]!r}"
            mark = mark if self._ask(name, asked, found, "comma" if shown else None) == "comma" else ""
        return pc.replace_substring(column, mark, ";") if mark else column

    def number_lists(self, columns: Columns, canonical: str, logarithms: bool = False) -> pa.ChunkedArray:
        """Return a column (or numbered columns) as lists of finite numbers; `logarithms` may be -inf, that of 0."""
        split = flat(self.lists(columns, canonical))
        items = pc.utf8_trim_whitespace(split.flatten())
        spelled = as_mask(pc.match_substring_regex(items, NUMBER))
        if logarithms:
            spelled |= as_mask(pc.is_in(pc.utf8_lower(items), pa.array(["-inf", "-infinity"])))
        owner = np.asarray(pc.list_parent_indices(split))
        wrong = np.zeros(len(self), bool)
        wrong[owner[~spelled]] = True
        numbers = pc.cast(pc.if_else(pa.array(spelled), items, None), pa.float64())
        values = np.array(numbers.to_numpy(zero_copy_only=False))
        wrong[owner[np.isposinf(values) if logarithms else np.isinf(values)]] = True
        self.report(wrong, columns.columns[canonical], split, "a list of finite numbers")
        return with_items(split, pa.array(values))

    def numbers(
        self, name: str, *, low: float = -np.inf, high: float = np.inf, whole: bool = False, need: bool = False
    ) -> Floats:
        """Return a column as floats, NaN where absent or invalid (not a number, not finite, out of range)."""
        column = self.decimal_points(name) if self.has_semicolons else self.text(name)
        present = ~is_null(column)
        try:
            values = pc.cast(column, pa.float64())
        except pa.ArrowInvalid:
            self._drop_unit(name, bool(np.isfinite(low)))
            column = self.decimal_points(name)
            trimmed = pc.utf8_trim_whitespace(column)
            present &= ~as_mask(pc.equal(trimmed, ""))
            spelled = as_mask(pc.match_substring_regex(column, NUMBER))
            words = as_mask(pc.is_in(pc.utf8_lower(trimmed), pa.array(NOT_FINITE)))
            self.report(present & ~spelled & ~words, name, column, "a number")
            self.report(words, name, column, "a finite number")
            present &= spelled
            values = pc.cast(pc.if_else(pa.array(present), trimmed, None), pa.float64())
        result = np.array(flat(values).to_numpy(zero_copy_only=False), dtype=np.float64)
        result /= self._scales.get(name, 1.0)
        infinite = present & ~np.isfinite(result)
        self.report(infinite, name, column, "a finite number")
        present &= ~infinite
        result[~present] = np.nan
        with np.errstate(invalid="ignore"):
            if whole:
                broken = (result != np.floor(result)) | (np.abs(result) >= WHOLE)
                self.report(present & broken, name, column, "a whole number")
            outside = (result < low) | (result > high)
            bounds = f"of at least {low:g}" if np.isinf(high) else f"from {low:g} to {high:g}"
            self.report(outside, name, column, f"a number {bounds}")
            result[outside] = np.nan
        if need:
            self.report(~present & ~self.bad, name, column, "a number")
        return result

    def _drop_unit(self, name: str, bounded: bool) -> None:
        """Leave the numbers of a column whose cells have one unit; asks, unless it is the field's or that has any."""
        if (found := without_unit(self.text(name))) is None:
            return
        numbers, unit, example = found
        if unit:
            units = self._units.get(name, {})
            default = None if unit == "%" or (bounded and unit not in units) else "as_written"
            answer = self._ask(name, UNIT, f"numbers with a unit, such as {example!r}", default)
            self._scales[name] = 100.0 if answer == "share" else units.get(unit, 1.0)
        self.put(name, numbers)

    def decimal_points(self, name: str) -> pa.ChunkedArray:
        """Return a column of strings; where its numbers have commas, with the decimal points that they mean.

        Asks where both are possible; until that is answered, commas are decimal, so that no cell is wrong besides.
        """
        column = self.text(name)
        mark = decimal_mark(column)
        if mark is None and self.has_semicolons and are_thousands(column):
            mark = "either"  # where cells are divided by semicolons, commas are often decimal
        if mark is None:
            return column
        if name not in self._decimals:
            example = column.filter(pc.match_substring_regex(column, "[,.]"))[0].as_py()
            default = None if mark == "either" else mark
            self._decimals[name] = self._ask(name, DECIMAL, f"numbers such as {example!r}", default)
        return with_points(column, self._decimals[name] or "comma")

    def _ask(self, name: str, question: FileQuestion, found: str, default: str | None) -> str | None:
        return self.problems.ask(self.file, question, found, default=default, place=name)

    def flags(self, name: str, unknown: Sequence[str] = ()) -> Bools:
        """Return a column of 0/1, true/false, yes/no as booleans; absent and `unknown` cells are false."""
        column = self.text(name)
        folded = pc.utf8_lower(pc.utf8_trim_whitespace(column))
        true = as_mask(pc.is_in(folded, pa.array(TRUE)))
        false = as_mask(pc.is_in(folded, pa.array([*FALSE, *unknown, ""]))) | is_null(column)
        self.report(~true & ~false, name, column, "0 or 1, true or false")
        return true

    def metadata(self, columns: Columns) -> dict[str, pa.ChunkedArray]:
        """Return the columns of unknown meaning as metadata.* strings."""
        members = [member for name in columns.unmapped for member in columns.numbered.get(name, (name,))]
        kept = {METADATA + name.removeprefix(METADATA): name for name in members}
        kept |= {given: name for given, name in columns.metadata.items() if name not in columns.numbered}
        return {given: self.text(name, parts=False) for given, name in kept.items()}

    def refuse_code(self, names: Sequence[str]) -> None:
        """Record as problems the cells that a tool like promptfoo would execute or open as a file."""
        for name in names:
            column = self.table[name]
            for prefix in CODE:
                if pa.types.is_list(column.type):
                    items = flat(column)
                    starts = as_mask(pc.starts_with(items.flatten(), prefix))
                    code = np.zeros(len(column), bool)
                    code[np.asarray(pc.list_parent_indices(items))[starts]] = True
                else:
                    code = as_mask(pc.starts_with(column, prefix))
                self.report(code, name, column, f"plain text: cells that begin with {prefix} are code and are refused")


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type) or not pc.any(pc.equal(column, "")).as_py():
        return column
    return pc.if_else(pc.equal(column, ""), None, column)


def _found_text(found: Any, place: int) -> str:
    if isinstance(found, str):
        return found
    if callable(found):
        return str(found(place))
    value = found[place]
    value = value.as_py() if isinstance(value, pa.Scalar) else value
    return "nothing" if value is None else repr(value) if isinstance(value, str) else str(value)
