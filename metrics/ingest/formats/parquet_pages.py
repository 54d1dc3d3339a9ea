"""The pages of a Parquet file, by their own headers: what the columns unpack to at most, whatever the footer states.

The reader unpacks each page to exactly the bytes that its header has, so these bind; a footer's totals do not. A value
of a page's dictionary may be used by any number of rows, so the longest one counts for each of them.

Source: the Parquet format 2.11, PageHeader, in Thrift's compact protocol.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.ingest.decoded_size import Decoded

DICTIONARY = 2  # a page's type
SHARED_BEGINNINGS = 7  # the encoding DELTA_BYTE_ARRAY
PADDING = 100  # bytes by which old writers state a chunk too short
DAMAGED = (pa.ArrowException, OSError, ValueError, IndexError, struct.error)
DEEPEST = 8  # structs in a header
MOST_WALKED = 1_000_000  # values of a dictionary whose lengths are looked at; of a larger one its size counts
CODECS = {
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "BROTLI": "brotli",
    "LZ4_RAW": "lz4_raw",
    "LZ4": "lz4_raw",
    "ZSTD": "zstd",
}
FIXED = 8  # bytes of a number


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
        longest = FIXED if texts else max(FIXED, kind.length)
        for page in _pages(chunk, data):
            decoded.add(page.size)
            most += page.size
            if page.kind == DICTIONARY and texts:
                longest, shared = max(longest, FIXED + _longest(chunk.compression, page)), True
            elif page.kind != DICTIONARY and page.encoding == SHARED_BEGINNINGS:
                most += page.size * page.count
                prefixed = max(prefixed, page.size)
                if kind.max_repetition_level:  # one row may hold them all
                    decoded.add(page.size * page.count)
        most += longest * chunk.num_values
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
        if size < 0 or packed < 0 or begin + packed > len(data):
            raise ValueError("a page beyond the end of the file")
        second = header.get(8)  # of a page in the second version
        detail = header.get(7) if kind == DICTIONARY else second or header.get(5)
        count, encoding = (detail or {}).get(1, 0), (detail or {}).get(4 if second else 2, 0)
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
    """Return the fields of a struct by their numbers, and where it ends."""
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
