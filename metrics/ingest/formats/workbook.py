"""Excel workbooks (.xlsx): one sheet is a table whose cells become text as a CSV would hold them.

A workbook may be hostile: it is unpacked only within limits, its XML may not declare entities, and links to other
files are not followed.
"""

import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, repeat, zip_longest
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.file_kinds import SHEET
from metrics.core.receipt import Use
from metrics.ingest.decoded_size import CELL, OBJECT, Decoded
from metrics.ingest.formats.table_reader import HEADER_ROWS, header_place, table_reader
from metrics.ingest.media.archive import UNREADABLE, zip_entries
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source, first_line
from metrics.ingest.tables.values import text_of

SLOTS = 20_000_000  # cells of a sheet, empty ones within a row included; and those looked at in all sheets
SHEETS = 1_000
ROWS = 1_048_576  # that Excel has
LOOKED_AT = 1_000  # rows in which a sheet that is not empty has a value
WHOLE_BYTES = 1 << 18  # up to here a workbook is read whole for a preview, so its rows can be counted
HEAD_ROWS = 200  # of a larger one
PADDED = re.compile(r"0{2,30}")  # the format of numbers shown with leading zeros: 007
ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|005[Ff])_")  # how Excel writes control characters, and "_" before "x"
SHEET_MARK = re.compile(rb"<(?:\w+:)?sheet\s")
FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,80}?ref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"')
CHUNK = 1 << 20
VALUE = "a value, not an error of a formula"
NOT_STORED, STORED = "a formula without a stored value", "a value: open it in Excel and save it again"
# What the library raises on damaged or hostile parts; its XML parser's errors are SyntaxError and ValueError.
DAMAGED = (
    *UNREADABLE, zlib.error, struct.error, SyntaxError, LookupError, TypeError, AttributeError, ArithmeticError,
    MemoryError,
)  # fmt: skip


def read_workbook(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the chosen sheet of the workbook, or its first one that is not empty, as a sheet of string columns.

    With `head` only its first rows, in which a formula without a stored value is an empty cell.
    """
    with _opened(source) as book:
        names = _filled(source, book)
        if not names:
            raise source.error("a workbook without a value", "a sheet with a header and rows")
        name = _choose_sheet(source, book, names)
        if len(names) > 1:
            others = ", ".join(other for other in names if other != name)
            source.notes.append(f"{source.name}: sheet {name} was read, not {others}.")
        for sheet in book.worksheets:
            reason = "another sheet was read; it can be chosen" if sheet.title in names else "it is hidden or empty"
            read: tuple[Use, str] = ("used", "records") if sheet.title == name else ("unused", reason)
            problems.note(source.name, f"sheet {sheet.title}", *read)
        rows = islice(_rows(source, book[name]), head)
        merged = _find_merged(source, book[name], problems)
        if head is not None or not any(find_in_parts(source, FORMULA, "xl/worksheets/")):
            return _sheet(source, name, len(names) > 1, rows, repeat(None), problems, merged)
        with _opened(source, formulas=True) as formulas:
            return _sheet(source, name, len(names) > 1, rows, _rows(source, formulas[name]), problems, merged)


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    if source.data.size > WHOLE_BYTES:
        return read_workbook(source, problems, HEAD_ROWS), None
    whole = read_workbook(source, problems)
    return whole, len(whole)


@contextmanager
def _opened(source: Source, formulas: bool = False) -> Iterator[Any]:
    """Yield the workbook; InputError where it exceeds a limit, or cannot be read, inside the block too."""
    from openpyxl import load_workbook

    _check_parts(source)
    sheets = sum(1 for _ in find_in_parts(source, SHEET_MARK, "xl/workbook"))
    if sheets > SHEETS:
        raise source.error(f"{sheets:,} sheets", f"at most {SHEETS:,} sheets")
    with _refuse_damage(source), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of features that make no difference to the values
        book = load_workbook(pa.BufferReader(source.data), read_only=True, data_only=not formulas, keep_links=False)
        try:
            yield book
        finally:
            book.close()


@contextmanager
def _refuse_damage(source: Source) -> Iterator[None]:
    """Raise InputError for what a workbook that is damaged makes its readers raise."""
    try:
        yield
    except DAMAGED as error:
        raise source.error(f"a workbook that cannot be read: {first_line(error)}", "a complete .xlsx file") from None


def _check_parts(source: Source) -> None:
    problems: list[InputProblem] = []
    with zipfile.ZipFile(pa.BufferReader(source.data)) as archive:
        zip_entries(archive, source.name, problems, "workbook")
    if problems:
        raise InputError(problems[:1])


def find_in_parts(source: Source, pattern: re.Pattern[bytes], *beginnings: str) -> Iterator[re.Match[bytes]]:
    """Yield what is found in the parts of a workbook whose names begin so; a few of the matches twice.

    Raises InputError where a part cannot be read.
    """
    with _refuse_damage(source), zipfile.ZipFile(pa.BufferReader(source.data)) as archive:
        for name in archive.namelist():
            if name.startswith(beginnings):
                with archive.open(name) as part:
                    end = b""
                    while chunk := part.read(CHUNK):
                        yield from pattern.finditer(end + chunk)
                        end = chunk[-256:]


def _filled(source: Source, book: Any) -> tuple[str, ...]:
    """Return the visible sheets with a value in their first rows; all such sheets where none is visible."""
    # InputError where the rows looked at have too many cells.
    filled: list[Any] = []
    slots = 0
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # what the file states of its size may be wrong
        for row in islice(sheet.iter_rows(values_only=True), LOOKED_AT):
            if any(value not in (None, "") for value in row):
                filled.append(sheet)
                break
            slots += len(row)
            if slots > SLOTS:
                raise source.error(f"more than {SLOTS:,} cells without a value", "fewer sheets, without empty rows")
    visible = [sheet for sheet in filled if sheet.sheet_state == "visible"]
    return tuple(str(sheet.title) for sheet in visible or filled)


def _is_table(sheet: Any) -> bool:
    """Return whether one of the first rows has several cells, as a header has; notes have one a row."""
    return any(sum(value not in (None, "") for value in row) > 1
               for row in sheet.iter_rows(max_row=HEADER_ROWS, values_only=True))  # fmt: skip


def _choose_sheet(source: Source, book: Any, filled: tuple[str, ...]) -> str:
    every = [sheet.title for sheet in book.worksheets]
    if source.sheet is None:
        return next((name for name in filled if _is_table(book[name])), filled[0] if filled else "")
    if source.sheet not in every:
        raise source.error(f"no sheet {source.sheet!r}", "one of " + ", ".join(map(repr, every)))
    return source.sheet


def _rows(source: Source, sheet: Any) -> Iterator[tuple[Any, ...]]:
    sheet.reset_dimensions()
    slots = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        slots += len(row)
        if slots > SLOTS or number > ROWS:
            found = f"more than {SLOTS if slots > SLOTS else ROWS:,} {'cells' if slots > SLOTS else 'rows'}"
            raise source.error(found, "a smaller sheet, or a CSV or Parquet file")
        yield row


def _find_merged(source: Source, sheet: Any, problems: Problems) -> dict[int, dict[int, int]]:
    """Return of each row the columns of cells that are merged with those below, and their last rows."""
    from openpyxl.utils import column_index_from_string

    merged: dict[int, dict[int, int]] = {}
    for column, first, last in (match.groups() for match in find_in_parts(source, MERGED, sheet._worksheet_path)):
        if int(first) < int(last):
            merged.setdefault(int(first), {})[column_index_from_string(column.decode()) - 1] = int(last)
            problems.note(source.name, "merged cells", "used", "each of their rows has the value", 1)
    return merged


def _sheet(
    source: Source, name: str, several: bool, rows: Iterator[tuple[Any, ...]], formulas: Iterator[Any],
    problems: Problems, merged: Mapping[int, Mapping[int, int]],
) -> Sheet:  # fmt: skip
    """Return the rows of a sheet as a table: the first that is not empty has the names of the columns."""
    # `formulas` are the same rows with the formulas in place of their stored values, or None for each.
    texts: list[list[str | None]] = []
    numbers: list[int] = []
    decoded = Decoded(source.name, source.data.size, "workbook")  # a text that cells share is one in the file
    faults: dict[tuple[int, str], dict[int, str]] = {}  # column and what was expected → row → what was found
    for number, ((row, cells), formula) in enumerate(zip(_fill_down(rows, merged), formulas, strict=False), 1):
        decoded.add(CELL * len(cells) + sum(OBJECT + len(cell) for cell in cells if cell is not None))
        wrong = {place: (repr(str(cell.value)), VALUE) for place, cell in enumerate(row) if cell.data_type == "e"}
        wrong |= dict.fromkeys(_not_stored(cells, formula or ()), (NOT_STORED, STORED))
        cells += [None] * (max(wrong, default=0) + 1 - len(cells))
        for place, (found, expected) in wrong.items():
            faults.setdefault((place, expected), {})[len(texts)] = found
        if wrong or any(cell is not None for cell in cells):
            texts.append(cells)
            numbers.append(number)
    if not texts:
        raise source.error(f"an empty sheet {name!r}", "a sheet with a header and rows")
    if above := header_place(texts):
        problems.note(source.name, "rows above the header", "unused", "they are no row", above, texts[0][0] or "")
        texts, numbers = texts[above:], numbers[above:]
        faults = {key: {row - above: what for row, what in own.items() if row >= above} for key, own in faults.items()}
    columns = list(zip_longest(*texts))
    names = [(column[0] or "").strip() or f"column_{place}" for place, column in enumerate(columns, 1)]
    faulty = {place for place, _ in faults}
    filled = [place for place, column in enumerate(columns) if place in faulty or any(column)]
    file = f"{source.name}{SHEET}{name}" if several else source.name
    cells = [pa.array(columns[place][1:], pa.string()) for place in filled]
    table = pa.table(cells, names=[names[place] for place in filled])
    sheet = Sheet(file, table, np.array(numbers[1:], np.int64), problems, delimited=True)
    for (place, expected), found_in in faults.items():
        if 0 in found_in:
            raise problems.fail(file, found_in[0], "the name of a column", numbers[0])
        sheet.blame_rows({index - 1: found for index, found in found_in.items()}, names[place], expected)
    return sheet


def _fill_down(
    rows: Iterator[tuple[Any, ...]], merged: Mapping[int, Mapping[int, int]]
) -> Iterator[tuple[tuple[Any, ...], list[str | None]]]:
    """Yield the rows, each with its texts: of merged cells each row has that of the first."""
    held: dict[int, tuple[str | None, int]] = {}  # column → text, last row
    for number, row in enumerate(rows, 1):
        cells = [_text(cell) for cell in row]
        held = {place: own for place, own in held.items() if own[1] >= number}
        cells += [None] * (max(held, default=0) + 1 - len(cells))
        for place, (text, _) in held.items():
            cells[place] = text
        held |= {place: (cells[place], last) for place, last in merged.get(number, {}).items() if place < len(cells)}
        yield row, cells


def _not_stored(cells: list[str | None], formula: tuple[Any, ...]) -> list[int]:
    """Return the places of formulas whose result the program that wrote the file has not stored."""
    places = (place for place, cell in enumerate(formula) if cell.data_type == "f")
    return [place for place in places if place >= len(cells) or cells[place] is None]


def _text(cell: Any) -> str | None:
    """Return the value of a cell as text: as Excel shows it where that loses nothing, numbers and dates exactly."""
    value = cell.value
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return ESCAPED.sub(lambda match: chr(int(match[1], 16)), value) if "_x00" in value else value
    text = text_of(value)
    if isinstance(value, int | float) and value >= 0 and PADDED.fullmatch(cell.number_format) and str(text).isdigit():
        return str(text).zfill(len(cell.number_format))
    return text


def _reader() -> Reader:
    table = table_reader("xlsx", lambda source: source.format == "xlsx", read_workbook, _head)

    def preview(upload: Upload, request: Request) -> Preview:
        with _opened(upload.source) as book:
            names = _filled(upload.source, book)
            name = _choose_sheet(upload.source, book, names)
        return replace(table.preview(upload, request), sheets=names, sheet=name)

    return replace(table, preview=preview)


READER = _reader()
