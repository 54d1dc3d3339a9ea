"""Arrow tables and data frames: native types become text (numbers exactly), lists stay lists."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import STRINGS
from metrics.ingest.sheet import Problems, Sheet, first_line
from metrics.ingest.tables.values import TRACES, column_of, flatten, json_text, whole

if TYPE_CHECKING:
    import pandas as pd

UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError, NotImplementedError)


def frame_sheet(frame: "pd.DataFrame", name: str, problems: Problems) -> Sheet:
    """Return a data frame as a sheet; pandas' missing values are absent; rows count from 1, the index is not read."""
    names = [str(column) for column in frame.columns]
    check_names(name, names, problems)
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    for place, column in enumerate(names):
        series = frame.iloc[:, place]
        try:
            if series.dtype == object:
                values = [None if _missing(value) else whole(column, _plain(value)) for value in series]
                spread = _spread(column, values)
            else:
                spread = {column: _text(pa.chunked_array([pa.array(series, from_pandas=True)]))}
        except (*UNREADABLE, TypeError) as error:
            problems.add(
                name,
                f"values that are not text: {first_line(error)}",
                "text, numbers or lists of text",
                column=column,
                fatal=True,
            )
            continue
        columns.update(spread)
    problems.stop()
    return Sheet(name, pa.table(columns), np.arange(1, len(frame) + 1, dtype=np.int64), problems)


def texts(table: pa.Table) -> pa.Table:
    """Return every column as strings or lists of strings; structs are spread over dotted names, traces stay whole."""
    for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        if (name in TRACES or name == "artifacts") and pa.types.is_nested(kind) and not _strings(kind):
            values = column_of([whole(name, value) for value in table[name].to_pylist()])
            table = table.set_column(place, name, values)
    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return pa.table([_text(column) for column in table.columns], names=table.column_names)


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _text(column.cast(kind.value_type))
    if pa.types.is_string(kind):
        return column
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if pa.types.is_string(kind.value_type) and pa.types.is_list(kind) and not flat_nulls(column):
            return column
        return pa.chunked_array([column_of(chunk.to_pylist()) for chunk in column.chunks], STRINGS)
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "true", "false")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = [
            None if value is None else value if isinstance(value, str) else _readable(value)
            for value in column.to_pylist()
        ]
        return pa.chunked_array([pa.array(values, pa.string())])
    return column.cast(pa.string())


def _strings(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_string(kind.value_type))


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def flat_nulls(column: pa.ChunkedArray) -> bool:
    """Return whether a list column has null items."""
    return any(chunk.flatten().null_count for chunk in column.chunks)


def _readable(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else json_text(value)


def _missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float | np.floating) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _spread(column: str, values: list[Any]) -> dict[str, pa.Array]:
    if not any(isinstance(value, dict) for value in values):
        return {column: column_of(values)}
    records = [flatten({column: value}) for value in values]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: column_of([record.get(name) for record in records]) for name in names}


def check_names(file: str, names: list[str], problems: Problems) -> None:
    """Raise InputError where columns share a name."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add(
            file,
            f"{names.count(name)} columns named {name!r}",
            "a different name for each column",
            column=name,
            fatal=True,
        )
    problems.stop()
