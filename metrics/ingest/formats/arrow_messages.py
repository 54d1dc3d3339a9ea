"""The messages of an Arrow stream: what their compressed buffers unpack to, by the lengths that bind the reader.

Source: the Arrow columnar format 1.5 (Message.fbs): a compressed buffer begins with the length it unpacks to, −1 where
it is not compressed.
"""

import struct
from collections.abc import Iterator

import pyarrow as pa

from metrics.ingest.decoded_size import Decoded

FILE = b"ARROW1\0\0"  # what a file has before its stream
HEADER_TYPE, HEADER = 1, 2  # fields of a message
BUFFERS, COMPRESSION = 2, 3  # of a batch
BATCH_OF_DICTIONARY = 1  # of a dictionary
DICTIONARY, BATCH = 2, 3  # types of a message's header
DAMAGED = (pa.ArrowException, OSError, ValueError, struct.error)


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
