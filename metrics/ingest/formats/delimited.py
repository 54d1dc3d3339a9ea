"""CSV and TSV: every cell is kept as text, empty cells are absent, ragged rows and open quotes are listed by row."""

import csv
import io
import re
from itertools import takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from metrics.ingest.arrays import as_mask
from metrics.ingest.decoded_size import check_columns
from metrics.ingest.formats.table_reader import HEADER_ROWS, header_place, table_reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import HEAD, Problems, Source

FIELD_BYTES = 10_000_000  # the longest cell
BLOCK = 1 << 24  # bytes looked at or parsed at a time
DELIMITERS = ",\t;|"
SEPARATOR = re.compile(rb'"?sep=([,\t;|])"?[ \t,;|]*(?:\r\n|\n|\r)', re.IGNORECASE)  # a first line of Excel's
# A quoted cell from its opening quote; the second group is empty where the file ends before the closing one.
QUOTED = rb'(?<![^%s\r\n])"((?:[^"]++|"")*+)("|\Z)'
QUOTE, BESIDE_QUOTES = ord('"'), np.frombuffer(b',\t;|\r\n"', np.uint8)
ENDED = 'the end of the cell behind it (a quote inside a quoted cell is written "", or the whole cell without quotes)'
CLOSED = 'a closing quote (a quote inside a quoted cell is written "")'
RULE = re.compile(rb"[^\n]*\n[ \t:|-]*-[ \t:|-]*\|[ \t:|-]*\r?(?:\n|\Z)")  # below the header of a table in Markdown


def read_delimited(source: Source, problems: Problems) -> Sheet:
    """Return the file as a sheet of string columns; InputError where its header cannot be read."""
    data, blank_lines = _without_lines_above(source.data)
    if title := source.data[: source.data.size - data.size].to_pybytes().decode("utf-8", "replace").strip():
        problems.note(source.name, "lines above the header", "unused", "they are no row", title.count("\n") + 1, title)
    names, delimiter = header(source, data)
    _check_header(source, problems, names)
    if delimiter == "|" and RULE.match(data[:HEAD].to_pybytes()):
        raise problems.fail(source.name, "a table in Markdown", "the same table as CSV", 2)
    data = _without_open_quote(source, problems, data, blank_lines, delimiter.encode())
    table, invalid = _parse(source, problems, data, names, delimiter)
    total = table.num_rows + len(invalid)
    numbers = blank_lines + np.delete(np.arange(2, total + 2), [number - 2 for number in invalid])
    for number, cells in invalid.items():
        problems.add(source.name, f"{cells} cells", f"{len(names)} cells, one for each column", number + blank_lines)
    problems.left_out += len(invalid)
    sheet = Sheet(source.name, table, numbers, problems, delimited=True)
    sheet.has_semicolons = delimiter == ";"
    _check_cells(source, sheet)
    return sheet


def header(source: Source, data: pa.Buffer) -> tuple[list[str], str]:
    """Return the column names in the first record, and the delimiter between them."""
    text = data[:HEAD].to_pybytes().decode("utf-8", "ignore")
    stated = SEPARATOR.match(source.data[:HEAD].to_pybytes().lstrip(b"\r\n"))
    text = text.removeprefix(stated[0].decode()) if stated else text
    text = text[_title_length(text) :]
    first = text.split("\n", 1)[0]
    likely = max(DELIMITERS, key=lambda mark: len(_record(first, mark)))
    delimiter = stated[1].decode() if stated and len(_record(first, stated[1].decode())) > 1 else likely
    names = _record(text, delimiter)
    check_columns(source.name, len(names), row=1)
    if data.size > HEAD and len(text.rstrip("\r\n").splitlines()) <= 1 and "\n" not in text and "\r" not in text:
        raise source.error(f"a first row longer than {HEAD:,} bytes", "a header with the names of the columns", row=1)
    return [name or f"column_{place}" for place, name in enumerate((name.strip() for name in names), 1)], delimiter


def _title_length(text: str) -> int:
    """Return the number of characters above the header: of titles, comments and blank lines."""
    lines = list(takewhile(lambda line: line.count('"') % 2 == 0, text.split("\n")[:HEADER_ROWS]))
    rows = [max((_record(line, mark) for mark in DELIMITERS), key=len) for line in lines]
    return sum(len(line) + 1 for line in lines[: header_place(rows)])


def _record(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def _check_header(source: Source, problems: Problems, names: list[str]) -> None:
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name in seen:
            found = f"the name {name!r} again in column {place}, first in column {seen[name]}"
            problems.add(source.name, found, "a different name for each column", 1, name, fatal=True)
        seen.setdefault(name, place)
        if "\0" in name:
            problems.add(source.name, f"a NUL byte in {name!r}", "a name without control characters", 1, fatal=True)
    problems.stop()


def _parse(
    source: Source, problems: Problems, data: pa.Buffer, names: list[str], delimiter: str
) -> tuple[pa.Table, dict[int, int]]:
    """Return the records below the header, and the invalid ones: number (as a spreadsheet counts) → cells found."""
    skipped: list[arrow_csv.InvalidRow] = []

    def skip(row: arrow_csv.InvalidRow) -> str:
        skipped.append(row)
        return "skip"

    def parse(block: int, threads: bool) -> pa.Table:
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=names, skip_rows_after_names=1, block_size=block, use_threads=threads
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(
                check_utf8=False,
                strings_can_be_null=True,
                null_values=[""],
                column_types=dict.fromkeys(names, pa.string()),
            ),
        )

    block = min(BLOCK, data.size + 1)
    try:
        table = parse(block, True)
    except pa.ArrowInvalid:
        # A row is longer than a block, or the header has no line end: read everything as one block.
        if data.size < 2**31 - 2:
            data, block = pa.py_buffer(data.to_pybytes() + b"\n"), data.size + 2
        try:
            table = parse(block, True)
        except pa.ArrowInvalid as error:
            raise problems.fail(source.name, str(error), "rows of comma-separated cells") from None
    if skipped:
        skipped.clear()
        table = parse(block, False)  # only reading without threads gives the numbers of skipped rows
    return table, {row.number: row.actual_columns for row in skipped}


def _check_cells(source: Source, sheet: Sheet) -> None:
    has_nul = np.frombuffer(source.data, np.uint8).min(initial=1) == 0
    for name in sheet.table.column_names:
        column = sheet.table[name]
        sizes = pc.binary_length(column)
        long = as_mask(pc.greater(sizes, FIELD_BYTES))
        if long.any():
            found = [f"{size or 0:,} bytes" for size in sizes.to_pylist()]
            sheet.report(long, name, found.__getitem__, f"cells of at most {FIELD_BYTES:,} bytes")
        if has_nul:
            sheet.report(as_mask(pc.match_substring(column, "\0")), name, "a NUL byte", "text")


def _without_lines_above(data: pa.Buffer) -> tuple[pa.Buffer, int]:
    """Return the data without what stands before its header, and how many lines that is; `sep=;` (Excel's) is one."""
    head = data[:HEAD].to_pybytes()
    text = head.lstrip(b"\r\n")
    if stated := SEPARATOR.match(text):
        text = text[stated.end() :]
    plain = text.decode("utf-8", "ignore")
    text = text[len(plain[: _title_length(plain)].encode()) :]
    return data[len(head) - len(text) :], head[: len(head) - len(text)].replace(b"\r\n", b"\n").count(b"\n")


def _are_closed(data: pa.Buffer) -> bool:
    """Return whether every second quote closes a cell: the next character ends it, or is another quote."""
    count, whole = 0, np.frombuffer(data, np.uint8)
    for start in range(0, data.size, BLOCK):
        places = start + np.flatnonzero(whole[start : start + BLOCK] == QUOTE)
        after = places[(1 + count) % 2 :: 2] + 1
        if not np.isin(whole[after[after < data.size]], BESIDE_QUOTES).all():
            return False
        count += len(places)
    return count % 2 == 0


def _without_open_quote(
    source: Source, problems: Problems, data: pa.Buffer, blank_lines: int, delimiter: bytes
) -> pa.Buffer:
    """Return the data up to a record whose quote never closes: a parser would read the rest of the file as one cell."""
    # A text that goes on behind its closing quote is a problem: nothing says which cells it belongs to. Behind a space
    # it goes on with the cell, unless that is of several lines, which may be rows.
    if _are_closed(data):
        return data
    whole = memoryview(data)
    row, position, record_start = 1 + blank_lines, 0, 0
    for match in re.finditer(QUOTED % re.escape(delimiter), whole):
        between = whole[position : match.start()].tobytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = between.count(b"\n")
        if lines:
            row += lines
            record_start = match.start() - len(between) + between.rfind(b"\n") + 1
        position = match.end()
        behind = whole[position : position + 30].tobytes()
        behind = behind.lstrip(b" ") if b"\n" in match.group(1) or behind[:1] != b" " else b""
        if match.group(2) and behind[:1] not in (b"", b"\r", b"\n", delimiter):
            found = f"a quote that closes before {behind.decode('utf-8', 'ignore').splitlines()[0]}"
            problems.add(source.name, found, ENDED, row, fatal=True)
        if not match.group(2):
            start = whole[match.start() : match.start() + 60].tobytes().decode("utf-8", "ignore")
            found = f"a quote that opens and never closes: {start}"
            problems.add(source.name, found, CLOSED, row)
            problems.left_out += 1
            if record_start == 0:
                raise problems.fail(source.name, "no complete header", "a header with the names of the columns", 1)
            return data[:record_start]
    return data


READER = table_reader("csv", lambda _: True, read_delimited)
