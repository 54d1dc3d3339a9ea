"""Arrow columns as numpy arrays: which rows have a value, which keys come again, numbers as columns."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Ints

BLOCK = 1 << 18  # bytes looked at at a time
WHOLE = 2.0**53  # above it a float cannot represent every whole number
LISTED_RANGES = 20  # of the numbers of rows


def only(table: pa.Table, mask: Bools) -> pa.Table:
    """Return the rows of `mask`; the table itself, not a copy, where that is all of them."""
    return table if mask.all() else table.filter(pa.array(mask))


def is_null(column: pa.ChunkedArray | pa.Array) -> Bools:
    """Return where a column has no value."""
    return as_mask(pc.is_null(column))


def as_mask(column: pa.ChunkedArray | pa.Array) -> Bools:
    """Return an Arrow boolean column as numpy, null as False."""
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=bool)


def flat(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the column as one array (large strings where 32-bit offsets would not do)."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_string(column.type) and column.nbytes > 2**31 - 2**20:
        column = column.cast(pa.large_string())
    merged = column.combine_chunks()
    return merged if isinstance(merged, pa.Array) else pa.concat_arrays(merged.chunks)


def is_blank(column: pa.ChunkedArray) -> Bools:
    """Return where a column of strings has no value, or nothing but whitespace."""
    return is_null(column) | as_mask(pc.equal(pc.ascii_ltrim(column, " \t\n\f\r"), ""))


def may_hold(column: pa.ChunkedArray | pa.Array, *marks: bytes) -> bool:
    """Return whether a column of strings may have one of the marks, of which one or two bytes are looked for.

    It is a look before those that take longer.
    """
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        data = np.frombuffer(chunk.buffers()[-1] or b"", np.uint8)
        for start in range(0, len(data), BLOCK):
            part = data[start : start + BLOCK + 1]
            for first, *second in marks:
                found = part == first
                if (found[:-1] & (part[1:] == second[0]) if second else found).any():
                    return True
    return False


def floats(values: Floats) -> pa.Array:
    """Return floats as an Arrow column, NaN as null."""
    return pa.array(values, mask=np.isnan(values))


def integers(values: Floats, kind: pa.DataType, absent: int | None = None) -> pa.Array:
    """Return whole floats as a column of integers, NaN as `absent` or null; values out of range are clipped."""
    missing = np.isnan(values)
    limits = np.iinfo(kind.to_pandas_dtype())
    filled = np.clip(np.where(missing, absent or 0, values), limits.min, min(limits.max, WHOLE)).astype(np.int64)
    return pa.array(filled, mask=None if absent is not None else missing).cast(kind)


def with_items(lists: pa.ListArray, items: pa.Array) -> pa.ChunkedArray:
    """Return lists with other items, as many in each."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    made = pa.ListArray.from_arrays(pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)), items)
    return pa.chunked_array([pc.if_else(pc.is_valid(lists), made, pa.scalar(None, made.type))])


def duplicates(keys: Sequence[pa.ChunkedArray | pa.Array]) -> tuple[Bools, Ints]:
    """Return the rows whose key occurs in an earlier row, and for every row the index of the first row with its key."""
    count = len(keys[0])
    rows = np.arange(count)
    codes = np.zeros(count, np.int64)
    for key in keys:
        code, size = codes_of(key)
        if size == count:  # distinct in one column, so distinct in all: the usual case
            return np.zeros(count, bool), rows
        codes = codes * size + code
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    firsts = first[inverse]
    return firsts != rows, firsts


def occurrences(keys: Sequence[pa.ChunkedArray | pa.Array]) -> Ints:
    """Return for every row how many rows up to it, itself included, have its key."""
    _, first = duplicates(keys)
    order = np.argsort(first, kind="stable")
    begins = np.flatnonzero(np.diff(first[order], prepend=-1))
    counted = np.empty(len(first), np.int64)
    counted[order] = np.arange(len(first)) - np.repeat(begins, np.diff(begins, append=len(first))) + 1
    return counted


def differs(column: pa.ChunkedArray | pa.Array, first: Ints) -> Bools:
    """Return where a value differs from that of the row in `first`."""
    if (first == np.arange(len(first))).all():
        return np.zeros(len(first), bool)
    array = flat(column)
    if pa.types.is_list(array.type):
        array = pc.binary_join(pc.cast(array, pa.list_(pa.string())), "\x1f")
    other = array.take(pa.array(first))
    return as_mask(pc.not_equal(array, other)) | (is_null(array) ^ is_null(other))


def codes_of(column: pa.ChunkedArray | pa.Array) -> tuple[Ints, int]:
    """Return the values of a column (null is one) as numbers in order of appearance, and how many there are."""
    encoded = pc.dictionary_encode(flat(column), null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64), max(1, len(encoded.dictionary))


def ranges_of(rows: Ints) -> str:
    """Return row numbers as text, those that follow each other as a range: `2, 5–9 and 12 more`."""
    runs = [run.tolist() for run in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)]
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:LISTED_RANGES]]
    more = sum(map(len, runs[LISTED_RANGES:]))
    return ", ".join(texts) + f" and {more:,} more" * (more > 0)
