"""Arrow tables and data frames: native types become text (numbers exactly), lists stay lists."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import STRINGS
from metrics.ingest.sheet import Problems, Sheet, first_line
from metrics.ingest.tables.frames import plain_frame
from metrics.ingest.tables.values import TRACES, column_of, flatten, json_text, whole

if TYPE_CHECKING:
    import pandas as pd

UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError, NotImplementedError)


def frame_sheet(given: Any, name: str, problems: Problems) -> Sheet:
    """Return what plain_frame takes as a sheet; pandas' missing values are absent, its index is not read.

    Rows count from 1.
    """
    frame = plain_frame(given, name)
    if isinstance(frame, pa.Table):
        check_names(name, frame.column_names, problems)
        columns = _arrow_columns(frame, name, problems)
    else:
        columns = _pandas_columns(frame, name, problems)
    problems.stop()
    return Sheet(name, pa.table(columns), np.arange(1, len(frame) + 1, dtype=np.int64), problems)


def _arrow_columns(table: pa.Table, name: str, problems: Problems) -> dict[str, pa.Array | pa.ChunkedArray]:
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for column in table.column_names:
        try:
            spread = texts(table.select([column]))
            columns |= dict(zip(spread.column_names, spread.columns, strict=True))
        except (*UNREADABLE, TypeError) as error:
            _not_text(error, column, name, problems)
    return columns


def _pandas_columns(frame: "pd.DataFrame", name: str, problems: Problems) -> dict[str, pa.Array | pa.ChunkedArray]:
    names = [str(column) for column in frame.columns]
    check_names(name, names, problems)
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for place, column in enumerate(names):
        series = frame.iloc[:, place]
        try:
            if series.dtype == object:
                plain = (value.tolist() if isinstance(value, np.ndarray) else value for value in series)
                columns |= _spread(column, [None if _missing(value) else whole(column, value) for value in plain])
            else:
                columns[column] = _text(pa.chunked_array([pa.array(series, from_pandas=True)]))
        except (*UNREADABLE, TypeError) as error:
            _not_text(error, column, name, problems)
    return columns


def _not_text(error: BaseException, column: str, name: str, problems: Problems) -> None:
    found = f"values that are not text: {first_line(error)}"
    problems.add(name, found, "text, numbers or lists of text", column=column, fatal=True)


def texts(table: pa.Table) -> pa.Table:
    """Return every column as strings or lists of strings; structs are spread over dotted names, traces stay whole."""
    for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if (name in TRACES or name == "artifacts") and pa.types.is_nested(kind) and kind != STRINGS:
            values = column_of([whole(name, value) for value in table[name].to_pylist()])
            table = table.set_column(place, name, values)
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return pa.table([_text(column) for column in table.columns], names=table.column_names)


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        if pa.types.is_string_view(kind.value_type):  # the categories of polars
            kind = pa.dictionary(kind.index_type, pa.string())
            chunks = (
                pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(pa.string())) for one in column.chunks
            )
            column = pa.chunked_array(chunks, kind)
        return _text(column.cast(kind.value_type))
    if pa.types.is_string(kind):
        return column
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if kind == STRINGS and not any(chunk.flatten().null_count for chunk in column.chunks):
            return column
        made = (column_of(chunk.to_pylist()) for chunk in column.chunks)
        lists = (one if pa.types.is_list(one.type) else pa.nulls(len(one), STRINGS) for one in made)  # no list in it
        return pa.chunked_array(lists, STRINGS)
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "true", "false")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = (value.decode("utf-8") if isinstance(value, bytes) else value for value in column.to_pylist())
        spelled = [value if value is None or isinstance(value, str) else json_text(value) for value in values]
        return pa.chunked_array([pa.array(spelled, pa.string())])
    return column.cast(pa.string())


def _missing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(value, float | np.floating) and value != value)


def _spread(column: str, values: list[Any]) -> dict[str, pa.Array]:
    if not any(isinstance(value, dict) for value in values):
        return {column: column_of(values)}
    records = [flatten({column: value}) for value in values]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: column_of([record.get(name) for record in records]) for name in names}


def check_names(file: str, names: list[str], problems: Problems) -> None:
    """Raise InputError where columns share a name."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        found = f"{names.count(name)} columns named {name!r}"
        problems.add(file, found, "a different name for each column", column=name, fatal=True)
    problems.stop()
