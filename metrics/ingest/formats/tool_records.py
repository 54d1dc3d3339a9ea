"""Readers of what tools export as records: JSON, JSONL, CSV, Parquet or Arrow with the names that the tool gives.

A reader says by which names it knows the export, and how its records become rows under our column names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError
from metrics.core.suite import METADATA
from metrics.ingest.decoded_size import check_columns
from metrics.ingest.formats.arrow import arrow_schema, read_arrow
from metrics.ingest.formats.delimited import header, read_delimited
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.formats.json_shapes import records_in
from metrics.ingest.formats.parquet import parquet_file, read_parquet
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import Reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import DOCUMENTS, HEAD, Problems, Source
from metrics.ingest.tables.messages import note_media
from metrics.ingest.tables.python_reprs import NoRepr, python_value
from metrics.ingest.tables.values import MARK, finite, flatten, item_value, tables_of, text_of
from metrics.ingest.unused_leaves import Reads, note_leaves

LOOKED_AT = 5  # records of a document whose names are looked at
JSON = r"""^(?s:".*"|\{.*\}|\[.*\]|-?\d[\d.eE+-]*|true|false|null)$"""  # what a cell of it looks like
DEEP = 6  # objects in a record whose entries count as names, a.b.c
Record = dict[str, Any]
Numbered = tuple[int, Record]  # a record, and its row in the file


class Fault(ValueError):
    """A record that cannot be read: what was found, what was expected, which column; no case: the first alone."""

    def __init__(self, found: str, expected: str, column: str | None = None):
        super().__init__(found)
        self.found, self.expected, self.column = found, expected, column


class Refused(Fault):
    """An export of a kind that holds no cases or answers: what was found, and what to export instead."""


Convert = Callable[[Sequence[Numbered], Callable[[int, Fault], None]], Iterable[Numbered]]


def tool_reader(
    name: str, knows: Callable[[frozenset[str]], bool], convert: Convert, reads: Reads, answered: bool = True,
    deciding: Mapping[str, str] = MappingProxyType({}),
) -> Reader:  # fmt: skip
    """Return the reader of a tool's export. `knows` is asked with the names in its first records, a.b for {a: {b}} too.

    `convert` is given the records and a function to report the faulty ones, and yields rows; it may raise Refused.
    What of the records no row has is said in the receipt: `reads` are the paths that are read, see note_leaves.
    `deciding`: a column of none → the value by which rows are read otherwise; any other value is unused.
    """

    def sheet(source: Source, problems: Problems) -> Sheet:
        def fault(row: int, found: Fault) -> None:
            if not found.expected:
                problems.note(source.name, "records", "unused", found.found, 1)
                return
            problems.skip(source.name, found.found, found.expected, row, found.column)

        records = list(records_of(source, problems))
        try:
            note_media(problems, source.name, [record for _, record in records])
            made = list(convert(records, fault))
        except Refused as refused:
            raise source.error(refused.found, refused.expected) from None
        except RecursionError:
            raise source.error("records that are nested too deeply", "an export as the tool writes it") from None
        if not made and len(problems):
            raise InputError(problems.listed)
        if not made:
            raise source.error("no record with a case or an answer", f"an export of {name} with at least one")
        try:
            table = tables_of([[record for _, record in made]])
        except ValueError as error:
            raise source.error(str(error), "valid Unicode text") from None
        rows = {row for row, _ in made}
        main = {place for place, (row, _) in enumerate(records) if row in rows}
        cells = chain([deciding], (one for _, one in made))
        note_leaves(source.name, problems, [one for _, one in records], cells, reads, main=main)
        beside = records_in(source.document)[1] if source.format in DOCUMENTS else {}
        note_leaves(source.name, problems, [beside], (), {})
        return Sheet(source.name, table, np.array([row for row, _ in made], np.int64), problems)

    return table_reader(name, lambda source: knows(names_of(source)), sheet, answered=answered)


def names_of(source: Source) -> frozenset[str]:
    """Return the names in the first records, those within objects as a.b too; none of files without records."""
    if source.format in DOCUMENTS or source.format == "jsonl":
        first = [first_value(source)] if source.format == "jsonl" else list(islice(_listed(source.document), LOOKED_AT))
        if source.format == "jsonl" and isinstance(first[0], dict):
            check_columns(source.name, len(first[0]), 1)
        names = {name for record in first if isinstance(record, dict) for name in _paths(record)}
    elif source.format == "csv":
        names = {part for name in header(source, source.data)[0] for part in _parts(name)}
        if "input" in names:  # objects in cells tell more; those of one row are enough
            head = replace(source, data=source.data[:HEAD])
            with suppress(InputError):
                names.update(name for _, first in islice(records_of(head, Problems()), 1) for name in _paths(first))
    else:
        names = set(_paths(_shape(_schema(source))))
    return frozenset(names)


def _schema(source: Source) -> list[pa.Field]:
    if source.format == "parquet":
        return list(parquet_file(source).schema_arrow)
    return list(arrow_schema(source)) if source.format == "arrow" else []


def _shape(fields: Iterable[pa.Field]) -> Record:
    """Return the names of columns, those of structs with the names in them."""
    return {field.name: _shape(field.type) if pa.types.is_struct(field.type) else None for field in fields}


def _nest(record: Record, shape: Record) -> Record:
    """Return a row of a table in which what was a struct is an object again."""
    whole: Record = {}
    for name, value in record.items():
        inner, names, rest = whole, shape, name
        while (step := rest.partition("."))[2] and isinstance(names.get(step[0]), dict):
            inner, names, rest = inner.setdefault(step[0], {}), names[step[0]], step[2]
        inner[rest] = value
    return whole


def _paths(record: Mapping[str, Any], prefix: str = "", depth: int = DEEP) -> Iterator[str]:
    for key, value in record.items():
        yield from _parts(prefix + str(key))
        if isinstance(value, Mapping) and depth:
            yield from _paths(value, f"{prefix}{key}.", depth - 1)


def _parts(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, min(len(parts), DEEP) + 1))


def _listed(document: Any) -> list[Any]:
    """Return the records of a document: its list, the only list under a usual name, or the object itself."""
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return []
    return records_in(document)[0] or [document]


def records_of(source: Source, problems: Problems) -> Iterator[Numbered]:
    """Yield the records with their rows; of a table, cells that hold JSON as values. What is no object is a problem."""
    if source.format in DOCUMENTS or source.format == "jsonl":
        values = line_values(source, problems) if source.format == "jsonl" else enumerate(_listed(source.document), 1)
        for row, value in values:
            if isinstance(value, dict):
                yield row, value
            else:
                problems.skip(source.name, f"{type(value).__name__} {value!r}"[:80], "an object", row)
        return
    read = {"csv": read_delimited, "parquet": read_parquet, "arrow": read_arrow}[source.format]
    sheet, shape = read(source, problems), _shape(_schema(source))
    quoted = [
        name for name, column in zip(sheet.table.column_names, sheet.table.columns, strict=True)
        if source.format == "csv" and pc.any(pc.starts_with(column, '"')).as_py()
        and pc.all(pc.match_substring_regex(column, JSON)).as_py()
    ]  # fmt: skip
    for name in quoted:
        sheet.note_column(name, "used", "texts written as JSON, read without their quotes")
    for start in range(0, len(sheet), 10_000):
        part: pa.Table = sheet.table.slice(start, 10_000)
        for place, cells in enumerate(part.to_pylist(), start):
            record = {name: _cell(value, name in quoted) for name, value in cells.items() if value is not None}
            yield int(sheet.rows[place]), _nest(record, shape)


def _cell(value: Any, quoted: bool = False) -> Any:
    if isinstance(value, list):
        return [_cell(item) for item in value]
    if isinstance(value, str) and value.startswith(MARK):
        return item_value(value)
    if isinstance(value, str) and value[:1] in (("{", "[", '"') if quoted else ("{", "[")):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
        with suppress(NoRepr):  # as pandas writes the objects in a frame
            return python_value(value)
    return value


def lookup(value: Any, path: str) -> Any:
    """Return the entry at a.b.c, whether the names are joined or nested ({"a": {"b.c": 1}}); None without one."""
    if not isinstance(value, Mapping):
        return None
    if value.get(path) is not None:
        return value[path]
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        key = ".".join(parts[:end])
        if key in value:
            found = lookup(value[key], ".".join(parts[end:]))
            if found is not None:
                return found
    return None


def group(record: Record, *names: str) -> Any:
    """Return the value of the first of these names, or an object of the columns `name.…`; None without either."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
        columns = {key[len(name) + 1 :]: value for key, value in record.items() if key.startswith(name + ".")}
        if columns:
            return columns
    return None


def metadata(prefix: str, value: Any) -> dict[str, str | None]:
    """Return a value as columns metadata.PREFIX, the entries of an object as metadata.PREFIX.NAME."""
    if value in (None, {}, []) or value != value:
        return {}
    name = METADATA + prefix if prefix else METADATA.removesuffix(".")
    spread = flatten({name: value})
    return {key: text_of(inner) for key, inner in spread.items() if inner not in (None, {}, [])}


def amount(value: Any) -> float | None:
    """Return a number of at least 0, also one in text; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if finite(value) and value >= 0 else None


def count(value: Any) -> int | None:
    """Return a whole number of at least 0, also one in text; None for anything else."""
    number = amount(value)
    return int(number) if number is not None and number.is_integer() and number < 2**53 else None


def seconds_between(start: Any, end: Any) -> float | None:
    """Return the seconds between times as ISO 8601 writes them, 0 where the end is earlier; None for other values."""
    try:
        return max(0.0, (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds())
    except (ValueError, TypeError):
        return None


def references(value: Any) -> list[str] | None:
    """Return expected answers: a text, or the texts of a list; None where there is none."""
    texts = [text_of(item) for item in (value if isinstance(value, list) else [value])]
    return [text for text in texts if text] or None


def drop_unnamed_models(records: Sequence[Record]) -> None:
    """Drop the models of rows of which one has none: then the file's name is the model's."""
    if any(record.get("model") is None for record in records):
        for record in records:
            record.pop("model", None)


def number_runs(records: Sequence[Record]) -> None:
    """Number the repeats of a case and model in their order, in the column run."""
    seen: dict[tuple[Any, Any], int] = {}
    for record in records:
        key = record.get("case_id"), record.get("model")
        seen[key] = seen.get(key, 0) + 1
        record["run"] = str(seen[key])
