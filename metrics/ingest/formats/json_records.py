"""JSONL and JSON arrays: one object a record, native lists kept, every line that is none listed by its number."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from metrics.ingest.formats import h2o, promptfoo, traces
from metrics.ingest.problems import Problems, Sheet
from metrics.ingest.source import MAX_JSON_BYTES, Source
from metrics.ingest.values import flatten, tables_of

LINE_BYTES = 64_000_000
BLOCK = 1 << 24
BATCH = 20_000
WRAPPERS = ("data", "rows", "records", "examples", "cases", "test_cases", "items", "results", "outputs")
OBJECT = 'an object such as {"case_id": "1", "question": "…"}'


def read_jsonl(source: Source, problems: Problems) -> Sheet:
    """Return the file as a sheet with one row per line, or per trace where lines are traces; blank lines are passed
    over.
    """
    if _begins_with_a_trace(source):
        return traces.sheet_of(source, list(_values(source, problems)), problems)
    rows: list[int] = []
    table = tables_of(_batches(source, problems, rows))
    if not rows and not len(problems):
        raise source.error("no records", "one JSON object a line")
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def _begins_with_a_trace(source: Source) -> bool:
    first = next((line for line in _lines(source.data) if line.strip()), b"")
    try:
        return len(first) <= LINE_BYTES and traces.is_trace(orjson.loads(first))
    except orjson.JSONDecodeError:
        return False


def _values(source: Source, problems: Problems) -> Iterator[tuple[int, Any]]:
    """Yield the value on each line, with the line's number; a line that has none is a problem."""
    for number, line in enumerate(_lines(source.data), 1):
        if not line.strip():
            continue
        if len(line) > LINE_BYTES:
            _bad(source, problems, number, f"{len(line):,} bytes", f"lines of at most {LINE_BYTES:,} bytes")
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            _bad(source, problems, number, f"{error.msg} at character {error.colno}", OBJECT)
            continue
        yield number, value


def _batches(source: Source, problems: Problems, rows: list[int]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for number, record in _values(source, problems):
        if _is_record(source, problems, number, record):
            batch.append(flatten(record))
            rows.append(number)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _lines(data: pa.Buffer) -> Iterator[bytes]:
    rest = b""
    for start in range(0, data.size, BLOCK):
        lines = (rest + data[start : start + BLOCK].to_pybytes()).split(b"\n")
        rest = lines.pop()
        yield from lines
    yield rest


def load_json(source: Source, lenient_numbers: bool = False) -> Any:
    """Return the file's JSON document. With `lenient_numbers` NaN and Infinity are read (to be listed where they
    stand).
    """
    if source.data.size > MAX_JSON_BYTES:
        raise source.error(
            f"{source.data.size:,} bytes of JSON", f"at most {MAX_JSON_BYTES:,} bytes; JSONL may be larger"
        )
    try:
        return orjson.loads(memoryview(source.data))
    except orjson.JSONDecodeError as error:
        problem = source.error(
            f"{error.msg} at line {error.lineno}, character {error.colno}", "a JSON document", row=error.lineno
        )
    if lenient_numbers and any(word in source.data.to_pybytes() for word in (b"NaN", b"Infinity")):
        try:
            document = json.loads(source.data.to_pybytes())
            json.dumps(document, ensure_ascii=False).encode()  # no lone surrogates, which no table can hold
        except (ValueError, RecursionError):
            raise problem from None
        return document
    raise problem from None


def read_json(source: Source, document: Any, problems: Problems) -> Sheet:
    """Return a JSON array of objects (or an object that holds one under a usual name) as a sheet; rows count from 1.

    promptfoo's results, H2O's suites and labs, and traces have readers of their own.
    """
    if promptfoo.recognises(document):
        return promptfoo.read(source, document, problems)
    if h2o.is_suite(document):
        return h2o.read_suite(source, document, problems)
    if h2o.is_lab(document):
        return h2o.read_lab(source, document, problems)
    if (made := traces.traces_in(document)) is not None:
        return traces.sheet_of(source, made, problems)
    records = document
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        records = [document]
    elif isinstance(document, dict):
        held = [name for name in WRAPPERS if isinstance(document.get(name), list)]
        if len(held) != 1:
            raise source.error(
                f"an object with {_names(document)}",
                f"an array of objects, or an object with one under {_names(WRAPPERS)}",
            )
        records = document[held[0]]
    if not isinstance(records, list):
        raise source.error(f"a lone {type(records).__name__}", "an array of objects")
    rows: list[int] = []
    good: list[dict[str, Any]] = []
    for number, record in enumerate(records, 1):
        if _is_record(source, problems, number, record):
            good.append(flatten(record))
            rows.append(number)
    table = tables_of(good[start : start + BATCH] for start in range(0, len(good), BATCH))
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def _is_record(source: Source, problems: Problems, number: int, record: Any) -> bool:
    if not isinstance(record, dict):
        _bad(source, problems, number, type(record).__name__ + " " + repr(record)[:60], OBJECT)
        return False
    return True


def _bad(source: Source, problems: Problems, number: int, found: str, expected: str) -> None:
    problems.left_out += 1
    problems.add(source.name, found, expected, number)


def _names(names: Any) -> str:
    shown = [str(name) for name in list(names)[:12]]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
