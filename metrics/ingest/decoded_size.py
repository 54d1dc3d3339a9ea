"""How large an upload may become: counted while it is decoded, in one table for every kind of compression.

What a file declares about itself is not believed. A limit grows with the file, so that large data pass and a small file
cannot fill the memory; the same data without compression have nothing to decode, and always pass up to `most`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.errors import InputError, InputProblem
from metrics.ingest.arrays import is_null

Kind = Literal["archive", "texts", "gzip", "workbook", "table", "json", "xml"]
ROW = 64  # bytes that reading takes for a row, whatever is in it: its number, its id, whether it is bad
# Arrow's kinds of types, by their ids
TEXTS = {pa.lib.Type_STRING, pa.lib.Type_LARGE_STRING, pa.lib.Type_BINARY, pa.lib.Type_LARGE_BINARY}
TEXT_VIEWS = {pa.lib.Type_STRING_VIEW, pa.lib.Type_BINARY_VIEW}
LISTS = {pa.lib.Type_LIST, pa.lib.Type_LARGE_LIST, pa.lib.Type_MAP}
LIST_VIEWS = {pa.lib.Type_LIST_VIEW, pa.lib.Type_LARGE_LIST_VIEW}
UNIONS = {pa.lib.Type_SPARSE_UNION, pa.lib.Type_DENSE_UNION}
RUNS = {pa.lib.Type_RUN_END_ENCODED}
PLACELESS = TEXT_VIEWS | LIST_VIEWS | UNIONS | RUNS | {pa.lib.Type_DICTIONARY}  # values may share a place, or overlap
CELL = 8  # and at least for a value, an empty one too
OBJECT = 24  # and more where it is in a list or an object, of which Python makes objects
AS_OBJECTS = {b",": CELL, b"[": 64, b"{": 232}  # marks of JSON, and the bytes that Python takes for each
AS_ELEMENTS = {b"<": 200, b"</": -200, b"=": 100}  # of XML
BLOCK = 1 << 20
COLUMNS = 10_000  # of a table


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
    "gzip": Limit(10 << 20, 200, 4 << 30, "a smaller file, or one that is not compressed"),
    "workbook": Limit(64 << 20, 200, 1 << 30, "a CSV or Parquet file"),
    "table": Limit(256 << 20, 50, 16 << 30, "a CSV, or the table written with compression and dictionaries off"),
    "json": Limit(256 << 20, 16, 16 << 30, "lists of texts or numbers, without many small lists in them"),
    "xml": Limit(256 << 20, 24, 16 << 30, "the annotations in several files"),
}


class Decoded:
    """The decoded bytes of one file so far."""

    def __init__(self, file: str, packed: int, kind: Kind):
        self._file, self._packed, self._limit = file, packed, LIMITS[kind]
        self.most = self._limit.of(packed)
        self._size = 0

    def add(self, size: int) -> None:
        """Count `size` bytes more, before they are kept; InputError beyond the limit."""
        self.check(size)
        self._size += size

    def check(self, size: int) -> None:
        """Raise InputError where `size` bytes more would be too many; a size below 0 is damage, a ValueError."""
        if size < 0:
            raise ValueError("a negative size")
        if self._size + size > self.most:
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


def check_columns(file: str, count: int, row: int | None = None) -> None:
    """Raise InputError where a table has more columns than any reader takes."""
    if count > COLUMNS:
        found = f"more than {COLUMNS:,} columns"  # how many is not always known: reading has stopped
        raise InputError([InputProblem(file, found, f"at most {COLUMNS:,} columns", row, fatal=True)])


def count_leaves(schema: pa.Schema | pa.DataType) -> int:
    """Return how many columns a table of these types has where its objects are written as columns."""
    kinds = [field.type for field in schema] if isinstance(schema, pa.Schema | pa.StructType) else []
    return sum(count_leaves(kind) if pa.types.is_struct(kind) else 1 for kind in kinds)


def size_as_objects(text: bytes | pa.Buffer, marks: Mapping[bytes, int] = AS_OBJECTS) -> int:
    """Return the bytes that JSON at most takes in memory beside its texts and numbers: each bracket is an object.

    XML with AS_ELEMENTS as its marks.
    """
    view = memoryview(text)
    blocks = (bytes(view[start : start + BLOCK]) for start in range(0, len(view), BLOCK))
    return len(view) + sum(size * block.count(mark) for block in blocks for mark, size in marks.items())


def count_written_out(table: pa.Table, decoded: Decoded) -> None:
    """Count in `decoded` the bytes that a table at least becomes as text; InputError beyond the limit."""
    decoded.add((ROW + CELL * table.num_columns) * len(table))
    for column in table.columns:
        for chunk in column.chunks:
            nested = OBJECT * (_places(chunk) - len(chunk))
            decoded.check(nested)  # before anything is made of each value
            decoded.add(int(chunk.nbytes) + nested if _is_plain(chunk.type) else int(_sizes(chunk).sum()))


def _places(array: pa.Array) -> int:
    """Return how many values an array has at all its levels; shared ones count as they are stored."""
    if isinstance(array, pa.ExtensionArray):
        return _places(array.storage)
    kind, count = array.type, len(array)
    inner: list[pa.Array] = []
    if not count:
        return 0
    if pa.types.is_struct(kind) or kind.id in UNIONS:
        inner = [array.field(place) for place in range(kind.num_fields)]
    elif pa.types.is_fixed_size_list(kind):
        inner = [array.values.slice(array.offset * kind.list_size, count * kind.list_size)]
    elif kind.id in LISTS:
        begin, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
        inner = [(_entries(array) if pa.types.is_map(kind) else array.values).slice(begin, end - begin)]
    elif pa.types.is_dictionary(kind):
        inner = [array.dictionary]
    elif kind.id in RUNS | LIST_VIEWS:
        inner = [array.values]
    return count + sum(map(_places, inner))


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether every value of a valid array of this type has a place of its own, which `nbytes` counts."""
    if isinstance(kind, pa.BaseExtensionType):
        return _is_plain(kind.storage_type)
    return kind.id not in PLACELESS and all(_is_plain(kind.field(place).type) for place in range(kind.num_fields))


def _sizes(array: pa.Array) -> Ints:
    if isinstance(array, pa.ExtensionArray):
        return _sizes(array.storage)
    kind = array.type
    if pa.types.is_dictionary(kind):
        return np.append(_sizes(array.dictionary), CELL)[_numbers(pc.fill_null(array.indices.cast(pa.int64()), -1))]
    if kind.id in RUNS:
        places = np.searchsorted(array.run_ends.to_numpy(), array.offset + np.arange(len(array)), side="right")
        return np.asarray(_sizes(array.values)[places])
    if pa.types.is_struct(kind):
        fields = (_sizes(array.field(place)) for place in range(kind.num_fields))
        return sum(fields, np.full(len(array), CELL, np.int64))
    if pa.types.is_fixed_size_list(kind):
        begins = (array.offset + np.arange(len(array), dtype=np.int64)) * kind.list_size
        return _spans(array.values, begins, np.full(len(array), kind.list_size, np.int64))
    if kind.id in LIST_VIEWS:
        return _spans(array.values, _numbers(array.offsets)[: len(array)], _numbers(array.sizes))
    if kind.id in LISTS:
        offsets = _numbers(array.offsets)
        return _spans(_entries(array) if pa.types.is_map(kind) else array.values, offsets[:-1], np.diff(offsets))
    if kind.id in TEXT_VIEWS:  # 16 bytes a value, of which the first four are its length
        lengths = np.frombuffer(array.buffers()[1], np.int32)[::4][array.offset : array.offset + len(array)]
        return np.where(is_null(array), 0, lengths).astype(np.int64) + CELL
    if kind.id in UNIONS:  # no tool writes them: each as large as all together
        return np.full(len(array), CELL + array.nbytes, np.int64)
    if pa.types.is_fixed_size_binary(kind):
        return np.full(len(array), CELL + kind.byte_width, np.int64)
    if kind.id in TEXTS:
        return _numbers(pc.fill_null(pc.binary_length(array), 0)) + CELL
    return np.full(len(array), CELL, np.int64)


def _spans(values: pa.Array, begins: Ints, lengths: Ints) -> Ints:
    """Return the bytes of values[begin : begin + length] for each list."""
    sums = np.concatenate([[0], np.cumsum(_sizes(values))])
    return np.asarray(sums[begins + lengths] - sums[begins] + OBJECT * lengths + CELL)


def _entries(array: pa.MapArray) -> pa.StructArray:
    return pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])


def _numbers(array: pa.Array) -> Ints:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.int64)
