"""JSONL, JSON arrays and YAML lists: one object a record, native lists kept, invalid lines listed by number."""

from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from metrics.core.exact_json import json_fault, parse_json
from metrics.ingest.decoded_size import Decoded, check_columns, size_as_objects
from metrics.ingest.formats.json_shapes import WRAPPERS, records_in, tidy
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source, collector_paused
from metrics.ingest.tables.values import flatten, tables_of
from metrics.ingest.unused_leaves import note_leaves

LINE_BYTES = 64_000_000
BLOCK = 1 << 20
BATCH, BATCH_BYTES = 20_000, 64 << 20  # records that become a table at a time; what they take as objects
OBJECT = 'an object such as {"case_id": "1", "question": "…"}'


@collector_paused()
def read_jsonl(source: Source, problems: Problems) -> Sheet:
    """Return the file as a sheet with one row per line; blank lines are skipped."""
    rows: list[int] = []
    table = tables_of(_batches(_sized_values(source, problems), source, problems, rows))
    if not rows and not len(problems):
        raise source.error("no records", "one JSON object a line")
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def first_value(source: Source) -> Any:
    """Return the value on the first line that is not blank; None where it is not valid JSON, or too long to look at."""
    first = next((line for line in _lines(source.data) if line.strip()), b"")
    try:
        return _parse_line(source, first)[0] if len(first) <= LINE_BYTES else None
    except orjson.JSONDecodeError:
        return None


def _parse_line(source: Source, line: bytes) -> tuple[Any, int]:
    """Return the value of a line, and its size; InputError where that is larger than a line of its length may be."""
    size = size_as_objects(line)
    Decoded(source.name, len(line), "json").check(size)
    return parse_json(line), size


def line_values(source: Source, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield each line's number and value; an invalid line is a problem."""
    return ((number, value) for number, value, _ in _sized_values(source, problems))


def _sized_values(source: Source, problems: Problems) -> Iterator[tuple[int, Any, int]]:
    for number, line in enumerate(_lines(source.data), 1):
        if not line.strip():
            continue
        if len(line) > LINE_BYTES:
            problems.skip(source.name, f"{len(line):,} bytes", f"lines of at most {LINE_BYTES:,} bytes", number)
            continue
        try:
            value, size = _parse_line(source, line)
        except orjson.JSONDecodeError as error:
            problems.skip(source.name, f"{json_fault(error)} at character {error.colno}", OBJECT, number)
            continue
        yield number, value, size


def _batches(
    values: Iterable[tuple[int, Any, int]], source: Source, problems: Problems, rows: list[int]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects among values, each with its number and size, flat; other values are problems."""
    # Their numbers are added to `rows`.
    batch: list[dict[str, Any]] = []
    held = 0
    names: set[str] = set()
    for number, record, size in values:
        if not isinstance(record, dict):
            problems.skip(source.name, type(record).__name__ + " " + repr(record)[:60], OBJECT, number)
            continue
        flat = flatten(tidy(record))
        names.update(flat)
        check_columns(source.name, len(names), number)  # each record may bring names of its own, all of them columns
        batch.append(flat)
        rows.append(number)
        held += size
        if len(batch) == BATCH or held > BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _lines(data: pa.Buffer) -> Iterator[bytes]:
    return (line.rstrip(b"\n") for line in BufferedReader(pa.BufferReader(data), BLOCK))


@collector_paused()
def read_json(source: Source, problems: Problems) -> Sheet:
    """Return a JSON array of objects (or an object that holds one under a usual name) as a sheet; rows count from 1."""
    document = records = source.document
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        records = [document]
    elif isinstance(document, dict):
        records, beside = records_in(document)
        if records is None:
            expected = f"an array of objects, or an object with one under {_names(WRAPPERS)}"
            raise source.error(f"an object with {_names(document)}", expected)
        note_leaves(source.name, problems, [beside], (), {})
    if not isinstance(records, list):
        raise source.error(f"a single {type(records).__name__}", "an array of objects")
    rows: list[int] = []
    values = ((number, record, 0) for number, record in enumerate(records, 1))
    table = tables_of(_batches(values, source, problems, rows))
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def _names(names: Any) -> str:
    shown = [str(name) for name in list(names)[:12]]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")


JSON = table_reader("json", lambda source: source.format == "json", read_json)
YAML = table_reader("yaml", lambda source: source.format == "yaml", read_json)
JSONL = table_reader("jsonl", lambda source: source.format == "jsonl", read_jsonl)
