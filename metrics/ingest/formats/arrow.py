"""Arrow files (.arrow, Feather): IPC streams and IPC files, as Hugging Face datasets and pandas write them."""

import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from metrics.ingest.decoded_size import Decoded, check_columns, count_leaves, count_written_out
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import FIRST_ROWS
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source, first_line
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.native_types import UNREADABLE, texts

COMPLETE = "a complete Arrow file"
FILE = b"ARROW1\0\0"  # what a file has before its stream
HEADER_TYPE, HEADER = 1, 2  # fields of a message
BUFFERS, COMPRESSION = 2, 3  # of a batch
BATCH_OF_DICTIONARY = 1  # of a dictionary
DICTIONARY, BATCH = 2, 3  # types of a message's header
DAMAGED = (pa.ArrowException, OSError, ValueError, struct.error)


def read_arrow(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the file as a sheet whose rows count from 1; with `head`, only its first rows."""
    table = arrow_table(source, head)
    return Sheet(source.name, table, np.arange(1, len(table) + 1, dtype=np.int64), problems)


def arrow_table(source: Source, head: int | None = None) -> pa.Table:
    """Return the file's rows as texts; InputError where it is damaged, or has more than the limits."""
    tables: list[pa.Table] = []
    rows, decoded = 0, Decoded(source.name, source.data.size, "table")
    try:
        reader = _opened(source)
        count_unpacked(stream_of(source.data), Decoded(source.name, source.data.size, "table"))
        for batch in reader:
            batch.validate(full=True)
            table = pa.Table.from_batches([batch if head is None else batch.slice(0, head - rows)])
            tables.append(named_features(source.name, table))
            count_written_out(tables[-1], decoded)
            rows += len(table)
            if head is not None and rows >= head:
                break
        empty = named_features(source.name, reader.schema.empty_table())
        return texts(pa.concat_tables(tables or [empty]))
    except (*UNREADABLE, *DAMAGED) as error:
        raise source.error(f"Arrow that cannot be read: {first_line(error)}", COMPLETE) from None


def arrow_schema(source: Source) -> pa.Schema:
    """Return the columns with their types; none where the file is damaged, which its reader says."""
    try:
        return _opened(source).schema
    except UNREADABLE:
        return pa.schema([])


def _opened(source: Source) -> pa.RecordBatchReader:
    reader = pa.ipc.open_stream(pa.BufferReader(stream_of(source.data)))
    check_columns(source.name, count_leaves(reader.schema))
    return reader


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    return read_arrow(source, problems, FIRST_ROWS), None


def stream_of(data: pa.Buffer) -> pa.Buffer:
    """Return the stream in an Arrow file, which is complete without the file's footer; a stream itself."""
    return data[len(FILE) :] if data[: len(FILE)].to_pybytes() == FILE else data


def count_unpacked(stream: pa.Buffer, decoded: Decoded) -> None:
    """Count what all compressed buffers unpack to; InputError beyond the limit, one of DAMAGED for a damaged stream."""
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
        body = memoryview(message.body) if message.body is not None else memoryview(b"")
        for place, length in _compressed(memoryview(message.metadata)):
            (unpacked,) = struct.unpack_from("<q", body, place) if length else (0,)
            if unpacked < -1:
                raise ValueError("a buffer of negative length")
            decoded.add(max(unpacked, 0))


def _compressed(message: memoryview) -> Iterator[tuple[int, int]]:
    """Yield where each compressed buffer of a message's body begins, and its bytes there."""
    (root,) = struct.unpack_from("<I", message, 0)
    kind = _field(message, root, HEADER_TYPE)
    header = _followed(message, _field(message, root, HEADER))
    if kind is not None and message[kind] == DICTIONARY:
        header = _followed(message, _field(message, header or 0, BATCH_OF_DICTIONARY))
    elif kind is None or message[kind] != BATCH:
        return
    if header is None or _field(message, header, COMPRESSION) is None:
        return
    buffers = _followed(message, _field(message, header, BUFFERS))
    if buffers is None:
        return
    (count,) = struct.unpack_from("<I", message, buffers)
    for place in range(count):
        yield struct.unpack_from("<qq", message, buffers + 4 + 16 * place)


def _field(message: memoryview, table: int, number: int) -> int | None:
    """Return where a field of a table stands; None where it has its default."""
    (back,) = struct.unpack_from("<i", message, table)
    (size,) = struct.unpack_from("<H", message, table - back)
    if 4 + 2 * number >= size:
        return None
    (offset,) = struct.unpack_from("<H", message, table - back + 4 + 2 * number)
    return table + offset if offset else None


def _followed(message: memoryview, place: int | None) -> int | None:
    return None if place is None else place + int(struct.unpack_from("<I", message, place)[0])


READER = table_reader("arrow", lambda source: source.format == "arrow", read_arrow, _head)
