"""Parquet files."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.ingest.decoded_size import CELL, OBJECT, ROW, Decoded, check_columns, count_written_out
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import FIRST_ROWS
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source, first_line
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.native_types import UNREADABLE, texts

ROWS = 50_000_000
BATCH = 65_536  # rows read at a time of a file whose values may be large
AT_ONCE = 64 << 20  # bytes that a batch of texts with shared beginnings may have
COMPLETE = "a complete Parquet file"
DICTIONARY = 2  # a page's type
SHARED_BEGINNINGS = 7  # the encoding DELTA_BYTE_ARRAY
PADDING = 100  # bytes by which old writers state a chunk too short
DAMAGED = (pa.ArrowException, OSError, ValueError, IndexError, struct.error)
DEEPEST = 8  # structs in a header
MOST_WALKED = 1_000_000  # values of a dictionary whose lengths are looked at; of a larger one its size counts
CODECS = {name: name.lower() for name in ("SNAPPY", "GZIP", "BROTLI", "LZ4_RAW", "ZSTD")} | {"LZ4": "lz4_raw"}
FIXED = 8  # bytes of a number


def parquet_file(source: Source, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """Return the opened file; InputError where it is damaged or its footer states more rows than the limit.

    The columns `dictionaries` are read as they are stored, each value once.
    """
    try:
        file = pq.ParquetFile(
            pa.BufferReader(source.data), read_dictionary=list(dictionaries), thrift_string_size_limit=1 << 26,
            thrift_container_size_limit=1 << 20,
        )  # fmt: skip
        rows = file.metadata.num_rows
    except UNREADABLE as error:
        raise source.error(f"Parquet that cannot be read: {first_line(error)}", COMPLETE) from None
    if not 0 <= rows <= ROWS:
        raise source.error(f"{rows:,} rows", f"at most {ROWS:,} rows")
    check_columns(source.name, file.metadata.num_columns)
    return file


def read_parquet(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the file as a sheet whose rows count from 1; with `head`, only its first rows.

    InputError where it becomes larger than a file of its size may.
    """
    decoded = Decoded(source.name, source.data.size, "table")
    try:
        tables = []
        for part in _parts(source, head):
            part.validate(full=True)
            tables.append(named_features(source.name, part))
            count_written_out(tables[-1], decoded)
        table = texts(pa.concat_tables(tables))
    except (*UNREADABLE, *DAMAGED) as error:
        raise source.error(f"Parquet that cannot be read: {first_line(error)}", COMPLETE) from None
    return Sheet(source.name, table, np.arange(1, table.num_rows + 1, dtype=np.int64), problems)


def _parts(source: Source, head: int | None) -> Iterator[pa.Table]:
    """Yield the rows: at once where they fit by any reckoning, else in batches with shared texts not written out."""
    file = parquet_file(source)
    pages = Decoded(source.name, source.data.size, "table")
    columns = unpacked(file, source.data, pages)
    if head is None and sum(column.most for column in columns) + ROW * file.metadata.num_rows <= pages.most:
        yield file.read()
        return
    prefixed = max((column.prefixed for column in columns), default=0)
    rows = min(head or BATCH, max(1, AT_ONCE // prefixed) if prefixed else BATCH)
    file = parquet_file(source, [column.path for column in columns if column.shared])
    yield file.schema_arrow.empty_table()
    left = file.metadata.num_rows if head is None else head
    for batch in file.iter_batches(rows):
        yield pa.Table.from_batches([batch.slice(0, left)])
        left -= len(batch)
        if left <= 0:
            return


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    return read_parquet(source, problems, FIRST_ROWS), parquet_file(source).metadata.num_rows


READER = table_reader("parquet", lambda source: source.format == "parquet", read_parquet, _head)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a leaf column unpacks to, in bytes: `most` is at least its values, each as long as the longest shared one.

    `shared`: its texts are in a dictionary. `prefixed`: the largest page whose texts share beginnings, 0 without any.
    """

    path: str
    most: int
    shared: bool
    prefixed: int


def unpacked(file: pq.ParquetFile, data: pa.Buffer, decoded: Decoded) -> list[Unpacked]:
    """Return what each leaf column unpacks to, its pages counted in `decoded`.

    InputError where they are too large by themselves, one of DAMAGED where they cannot be walked.
    """
    view, about, columns = memoryview(data), file.metadata, []
    for place in range(about.num_columns):
        chunks = [about.row_group(group).column(place) for group in range(about.num_row_groups)]
        columns.append(_column(about.schema.column(place), chunks, view, decoded))
    return columns


def _column(kind: Any, chunks: list[Any], data: memoryview, decoded: Decoded) -> Unpacked:
    most = prefixed = 0
    shared, texts = False, kind.physical_type == "BYTE_ARRAY"
    for chunk in chunks:
        longest, count = FIXED if texts else max(FIXED, kind.length), 0
        for page in _pages(chunk, data):
            decoded.add(page.size)
            most += page.size
            count += page.count * (page.kind != DICTIONARY)
            if page.kind == DICTIONARY and texts:
                longest, shared = max(longest, FIXED + _longest(chunk.compression, page)), True
            elif page.kind != DICTIONARY and page.encoding == SHARED_BEGINNINGS:
                most += page.size * page.count
                prefixed = max(prefixed, page.size)
                if kind.max_repetition_level:  # one row may hold them all
                    decoded.add(page.size * page.count)
        most += longest * chunk.num_values
        if kind.max_repetition_level:  # its values take no bytes of their own: nulls, booleans, runs of one
            decoded.add((CELL + OBJECT) * max(count, chunk.num_values))
    return Unpacked(kind.path, most, shared, prefixed)


@dataclass(frozen=True, slots=True)
class _Page:
    kind: int
    size: int  # unpacked
    packed: memoryview
    count: int
    encoding: int


def _pages(chunk: Any, data: memoryview) -> Iterator[_Page]:
    """Yield the pages of a column chunk as the reader takes them: until it has all values."""
    begin = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < begin:
        begin = chunk.dictionary_page_offset
    end, seen = begin + chunk.total_compressed_size + PADDING, 0
    while begin < end and seen < chunk.num_values:
        header, begin = _read_struct(data, begin, 0)
        kind, size, packed = header.get(1, 0), header.get(2, 0), header.get(3, 0)
        second = header.get(8)  # of a page in the second version
        detail = header.get(7) if kind == DICTIONARY else second or header.get(5)
        count, encoding = (detail or {}).get(1, 0), (detail or {}).get(4 if second else 2, 0)
        if min(size, packed, count) < 0 or begin + packed > len(data):
            raise ValueError("a page beyond the end of the file")
        seen += 0 if kind == DICTIONARY else count
        yield _Page(kind, size, data[begin : begin + packed], count, encoding)
        begin += packed


def _longest(codec: str, page: _Page) -> int:
    """Return the bytes of the longest value in a page of a dictionary of texts, at most those of the page."""
    known = codec == "UNCOMPRESSED" or codec in CODECS
    if not known or not 0 <= page.count <= MOST_WALKED:
        return page.size
    try:
        plain = page.packed if codec == "UNCOMPRESSED" else pa.decompress(page.packed, page.size, CODECS[codec])
    except (pa.ArrowException, OSError):  # of an older kind of LZ4
        return page.size
    view, longest, place = memoryview(plain), 0, 0
    for _ in range(page.count):
        (length,) = struct.unpack_from("<I", view, place)
        longest = max(longest, length)
        place += 4 + length
    return min(longest, page.size)


def _read_struct(data: memoryview, at: int, depth: int) -> tuple[dict[int, Any], int]:
    if depth > DEEPEST:
        raise ValueError("a header nested too deep")
    fields: dict[int, Any] = {}
    number = 0
    while kind := data[at]:
        at += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, at = _number(data, at)
        fields[number], at = _read_value(data, at, kind & 15, depth)
    return fields, at + 1


def _read_value(data: memoryview, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true and false, without a byte of their own
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _number(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:  # statistics, which no one needs here
        length, at = _varint(data, at)
        return None, at + length
    if kind == 12:
        return _read_struct(data, at, depth + 1)
    raise ValueError(f"a field of type {kind} in a header")


def _number(data: memoryview, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number that does not end")
