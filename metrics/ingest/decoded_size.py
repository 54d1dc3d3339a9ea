"""How large an upload may become: counted while it is decoded, in one table for every kind of compression.

What a file declares about itself is not believed. A limit grows with the file, so that large data pass and a small file
cannot fill the memory; the same data without compression have nothing to decode, and always pass up to `most`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.errors import InputError, InputProblem
from metrics.ingest.arrays import is_null

Kind = Literal["archive", "texts", "gzip", "workbook", "table"]
ROW = 64  # bytes that reading takes for a row, whatever is in it: its number, its id, whether it is bad
TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
CELL = 8  # and at least for a value, an empty one too


@dataclass(frozen=True, slots=True)
class Limit:
    """Decoded bytes: a file of any size may have `free`, a larger one `ratio` times its own, none more than `most`.

    `otherwise` says how to give the same data where they are legitimate.
    """

    free: int
    ratio: int
    most: int
    otherwise: str

    def of(self, packed: int) -> int:
        """Return how many bytes a file of `packed` bytes may become."""
        return min(max(self.free, self.ratio * packed), self.most)


LIMITS: dict[Kind, Limit] = {
    "archive": Limit(64 << 20, 200, 20 << 30, "the folder itself, or a zip of fewer files"),
    "texts": Limit(64 << 20, 50, 1 << 30, "the folder itself, or fewer files"),
    "gzip": Limit(10 << 20, 200, 2 << 30, "a smaller file, or one that is not compressed"),
    "workbook": Limit(64 << 20, 200, 1 << 30, "a CSV or Parquet file"),
    "table": Limit(256 << 20, 50, 16 << 30, "a CSV, or the table written with compression and dictionaries off"),
}


class Decoded:
    """The decoded bytes of one file so far."""

    def __init__(self, file: str, packed: int, kind: Kind):
        self._file, self._packed, self._limit = file, packed, LIMITS[kind]
        self.most = self._limit.of(packed)
        self._size = 0

    def add(self, size: int) -> None:
        """Count `size` bytes more, before they are kept; InputError beyond the limit."""
        self._size += size
        if self._size > self.most:
            raise InputError([self.problem()])

    def problem(self) -> InputProblem:
        """Return that the file becomes larger than it may."""
        limit = self._limit
        found = f"{self._packed:,} bytes that unpack to more than {self.most:,}"
        expected = (
            f"at most {limit.ratio} times the size of the file ({limit.free >> 20} MiB where that is less, "
            f"{limit.most >> 30} GiB for any); or {limit.otherwise}"
        )
        return InputProblem(self._file, found, expected, fatal=True)


def count_written_out(table: pa.Table, decoded: Decoded) -> None:
    """Count in `decoded` the bytes that a table at least becomes as text; InputError beyond the limit."""
    decoded.add((ROW + CELL * table.num_columns) * len(table))
    for column in table.columns:
        for chunk in column.chunks:
            decoded.add(_total(chunk))


def _total(array: pa.Array) -> int:
    if isinstance(array, pa.ExtensionArray):
        return _total(array.storage)
    if _is_plain(array.type):
        return int(array.nbytes)
    return int(_sizes(array).sum())


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether every value of a valid array of this type has bytes of its own, which `nbytes` counts."""
    if pa.types.is_union(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return False  # they may overlap
    if pa.types.is_dictionary(kind) or _is_view(kind) or _is_runs(kind):
        return False
    return all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_runs(kind: pa.DataType) -> bool:
    return bool(pa.types.is_run_end_encoded(kind))


def _sizes(array: pa.Array) -> Ints:
    """Return the bytes of each value of an array."""
    if isinstance(array, pa.ExtensionArray):
        return _sizes(array.storage)
    kind = array.type
    if pa.types.is_dictionary(kind):
        return np.append(_sizes(array.dictionary), CELL)[_numbers(pc.fill_null(array.indices.cast(pa.int64()), -1))]
    if _is_runs(kind):
        places = np.searchsorted(array.run_ends.to_numpy(), array.offset + np.arange(len(array)), side="right")
        return np.asarray(_sizes(array.values)[places])
    if pa.types.is_struct(kind):
        fields = (_sizes(array.field(place)) for place in range(kind.num_fields))
        return sum(fields, np.full(len(array), CELL, np.int64))
    if pa.types.is_fixed_size_list(kind):
        begins = (array.offset + np.arange(len(array), dtype=np.int64)) * kind.list_size
        return _spans(array.values, begins, np.full(len(array), kind.list_size, np.int64))
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return _spans(array.values, _numbers(array.offsets)[: len(array)], _numbers(array.sizes))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = _numbers(array.offsets)
        return _spans(_entries(array) if pa.types.is_map(kind) else array.values, offsets[:-1], np.diff(offsets))
    if _is_view(kind):  # 16 bytes a value, of which the first four are its length
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4][array.offset : array.offset + len(array)]
        return np.where(is_null(array), 0, lengths).astype(np.int64) + CELL
    if pa.types.is_union(kind):  # no tool writes them: each as large as all together
        return np.full(len(array), CELL + array.nbytes, np.int64)
    if pa.types.is_fixed_size_binary(kind):
        return np.full(len(array), CELL + kind.byte_width, np.int64)
    if any(is_text(kind) for is_text in TEXT):
        return _numbers(pc.fill_null(pc.binary_length(array), 0)) + CELL
    return np.full(len(array), CELL, np.int64)


def _spans(values: pa.Array, begins: Ints, lengths: Ints) -> Ints:
    """Return the bytes of values[begin : begin + length] for each list."""
    sums = np.concatenate([[0], np.cumsum(_sizes(values))])
    return np.asarray(sums[begins + lengths] - sums[begins] + CELL)


def _entries(array: pa.MapArray) -> pa.StructArray:
    return pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])


def _numbers(array: pa.Array) -> Ints:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.int64)
