"""Reading Arrow and Parquet without pandas, whose import the start page cannot wait for.

The files that Assay stores have a checksum in each page, which is compared whenever they are read.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.unicode_forms import without_halves

_NAN = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(np.full(1, np.nan))])[0]  # as pa.scalar makes it


def opened(path: Path, **options: Any) -> pq.ParquetFile:
    """Return a stored Parquet file, open for reading; `options` are those of pyarrow."""
    return pq.ParquetFile(path, page_checksum_verification=True, **options)


def stored_rows(path: Path, columns: Sequence[str] | None = None, filters: Any = None, **options: Any) -> pa.Table:
    """Return a stored Parquet file, all of it or some columns and the rows that `filters` (of pyarrow) leave.

    With filters pyarrow imports pandas.
    """
    if filters is None:
        with opened(path, **options) as file:
            return file.read(columns=None if columns is None else list(columns))
    wanted = None if columns is None else list(columns)
    return pq.read_table(path, columns=wanted, filters=filters, page_checksum_verification=True, **options)


def rows_at(path: Path, places: Sequence[int]) -> pa.Table:
    """Return the rows of a stored Parquet file at these places, in this order; only their row groups are read."""
    with opened(path) as file:
        sizes = np.array([file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)], np.int64)
        begins, asked = np.cumsum(sizes) - sizes, np.asarray(places, np.int64)
        groups, of = np.unique(np.searchsorted(begins, asked, "right") - 1, return_inverse=True)
        before = np.cumsum(sizes[groups]) - sizes[groups]
        return file.read_row_groups(groups.tolist()).take(pa.array(before[of] + asked - begins[groups[of]]))


def stored_columns(path: Path) -> list[str]:
    """Return the names of the columns of a stored Parquet file; one of an older release may lack some."""
    with opened(path) as file:
        return list(file.schema_arrow.names)


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return the numbers [n] of a column without nulls; Arrow's own `to_numpy` would import pandas."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return np.from_dlpack(whole) if len(whole) else np.zeros(0, np.int64)


def with_nan(column: pa.Array | pa.ChunkedArray) -> Floats:
    """Return a column of float64 with NaN in place of null."""
    return numbers(pc.fill_null(column, _NAN))


def may_hold(column: pq.ColumnChunkMetaData) -> bool:
    """Return whether a column of a row group may have a value, by its statistics."""
    return column.statistics is None or column.statistics.null_count < column.num_values


def has_value(path: Path, column: str) -> bool:
    """Return whether a column of a stored Parquet file has a value, by its statistics; none of its rows is read."""
    with opened(path) as file:
        place, groups = file.schema_arrow.get_field_index(column), range(file.num_row_groups)
        return any(may_hold(file.metadata.row_group(group).column(place)) for group in groups)


def row_groups(file: pq.ParquetFile, column: str, value: str | None, groups: Sequence[int] | None = None) -> list[int]:
    """Return the row groups of a file, or of `groups`, that may hold `value` (None: null) in a text column.

    What a row group may hold is told by its statistics.
    """
    place = file.schema_arrow.get_field_index(column)
    found = []
    for group in range(file.num_row_groups) if groups is None else groups:
        facts = file.metadata.row_group(group)
        known: Any = facts.column(place).statistics
        may = known is None or (known.null_count != 0 if value is None else _within(known, value))
        if facts.num_rows and may:
            found.append(group)
    return found


def only_value(file: pq.ParquetFile, group: int, column: str) -> str | None:
    """Return the one value that a row group has in a text column, by its statistics; None where it may have others."""
    known: Any = file.metadata.row_group(group).column(file.schema_arrow.get_field_index(column)).statistics
    alone = known is not None and known.null_count == 0 and known.has_min_max and known.min == known.max
    return str(known.min) if alone else None


def _within(known: Any, value: str) -> bool:
    return not known.has_min_max or known.min <= value <= known.max


def plain_column(values: Sequence[Any], data_type: pa.DataType) -> pa.Array:
    """Return plain values as a column; halves of surrogate pairs, which have no UTF-8, become U+FFFD."""
    try:
        return pa.array(values, data_type)
    except UnicodeEncodeError:
        return pa.array(list(map(_encodable, values)), data_type)


def text_column(texts: Sequence[str]) -> pa.Array:
    """Return texts as a column; `pa.array` would import pandas."""
    coded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, coded)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(coded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))])


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return without_halves(value)
    return list(map(_encodable, value)) if isinstance(value, list | tuple) else value
