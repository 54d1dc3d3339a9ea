"""Columns of plain Python values as Arrow: text, or lists of text; ingestion keeps no other types."""

import datetime as dt
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from metrics.core.suite import STRINGS
from metrics.ingest.arrays import flat, is_null

TEXT_KEYS = ("text", "content", "page_content", "passage", "answer")  # where an object in a list keeps its text
LARGEST = sys.float_info.max
EXACT = 2.0**53  # from here on a float does not hold every whole number
MAX_DEPTH = 3  # objects inside a record become dotted columns down to here, JSON text below
GRADED = frozenset(("reference_context_ids", "qrels"))  # columns whose objects stay whole: {id: grade}
TRACES = frozenset(  # columns of calls and messages, whose lists and objects stay whole
    (
        "trace", "messages", "trajectory", "tools_called", "expected_calls", "reference_tool_calls", "expected_tools",
        "expected_tool_calls", "reference_trajectory", "expected_trajectory",
    )
)  # fmt: skip


def text_of(value: Any) -> str | None:
    """Return a native value as text: true, 3 for 3.0, 2024-05-01 for a day without time, objects as JSON, NA as None.

    So a value is the same text from JSON, Parquet, a workbook or a data frame.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if abs(number) < EXACT and number.is_integer() else repr(number)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, dt.datetime) and value.time() == dt.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dict | list | tuple | np.ndarray):
        return json_text(value)
    return str(value)


def json_text(value: Any) -> str:
    """Return a list or object as JSON text; values that JSON cannot express become strings."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(value, default=str, option=options).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def item_text(value: Any) -> str | None:
    """Return an item of a list as text; for an object with its text under a known key (a passage), that text."""
    if isinstance(value, dict):
        for key in TEXT_KEYS:
            if isinstance(value.get(key), str):
                return str(value[key])
    return text_of(value)


def column_of(values: Sequence[Any]) -> pa.Array:
    """Return plain values as a string array, or as a list-of-strings array where any of them is a list.

    In a list column a lone text becomes a list of one. ValueError for text that is not valid Unicode (lone surrogates).
    """
    listed = any(isinstance(value, list | tuple | np.ndarray | set) for value in values)
    try:
        if not listed:
            return pa.array([text_of(value) for value in values], pa.string())
        return pa.array([_items(value) for value in values], STRINGS)
    except UnicodeEncodeError as error:
        raise ValueError(f"text with a lone surrogate {error.object[error.start]!r}") from None


def _items(value: Any) -> list[str | None] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple | np.ndarray | set):
        return [item_text(item) for item in value]
    text = text_of(value)
    return None if text is None else [text]


def whole(name: str, value: Any) -> Any:
    """Return traces and grades by id as JSON text, artifacts as paths and JSON texts, other values unchanged."""
    if (name in TRACES and isinstance(value, dict | list)) or (name in GRADED and isinstance(value, dict)):
        return json_text(value)
    if name == "artifacts" and isinstance(value, list):
        return [json_text(item) if isinstance(item, dict) else item for item in value]
    return value


def flatten(record: dict[str, Any], depth: int = MAX_DEPTH) -> dict[str, Any]:
    """Return a record with objects, except traces, under dotted names: {"vars": {"q": 1}} becomes {"vars.q": 1}."""
    if not (TRACES | GRADED).isdisjoint(record) or "artifacts" in record:
        record = {name: whole(name, value) for name, value in record.items()}
    if not any(isinstance(value, dict) for value in record.values()):
        return record
    spread: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and depth > 0 and all(isinstance(name, str) for name in value):
            spread.update({f"{key}.{name}": inner for name, inner in flatten(value, depth - 1).items()})
        else:
            spread[key] = value
    return spread


def as_lists(columns: Sequence[pa.ChunkedArray | pa.Array]) -> pa.Array:
    """Return columns of strings as one of lists: the values of each row, in order; null where it has none."""
    arrays = [flat(column) for column in columns]
    present = np.stack([~is_null(array) for array in arrays], axis=1)
    rows, places = np.nonzero(present)
    counts = present.sum(axis=1)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    values = pa.concat_arrays(arrays).take(pa.array(places * len(present) + rows))
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(counts == 0))


def tables_of(batches: Iterable[list[dict[str, Any]]]) -> pa.Table:
    """Return batches of flat records as one table of string and list columns, in order of first appearance."""
    pieces: list[tuple[int, dict[str, pa.Array]]] = []
    order: dict[str, bool] = {}
    for records in batches:
        names = dict.fromkeys(name for record in records for name in record)
        columns = {name: column_of([record.get(name) for record in records]) for name in names}
        for name, column in columns.items():
            order[name] = order.get(name, False) or pa.types.is_list(column.type)
        pieces.append((len(records), columns))
    arrays: dict[str, pa.ChunkedArray] = {}
    for name, listed in order.items():
        kind = STRINGS if listed else pa.string()
        chunks = []
        for count, columns in pieces:
            column = columns.get(name)
            if column is None:
                column = pa.nulls(count, kind)
            elif listed and not pa.types.is_list(column.type):
                column = as_lists([column])
            chunks.append(column)
        arrays[name] = pa.chunked_array(chunks, kind)
    return pa.table(arrays)


def finite(value: Any) -> bool:
    """Return whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST
