"""Files compressed with gzip (.gz): unpacked into memory, within limits."""

import gzip
import zlib

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.ingest.decoded_size import Decoded

MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20


def is_gzip(data: pa.Buffer) -> bool:
    """Return whether the bytes begin as gzip's."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def unpacked(name: str, data: pa.Buffer) -> pa.Buffer:
    """Return the content of a gzip file; InputError where it is damaged, too large, or compressed beyond the limit."""
    content, decoded = bytearray(), Decoded(name, data.size, "gzip")
    try:
        with gzip.GzipFile(fileobj=pa.BufferReader(data)) as stream:
            while chunk := stream.read(CHUNK):
                decoded.add(len(chunk))
                content += chunk
    except (OSError, EOFError, zlib.error) as error:
        raise _error(name, f"gzip that cannot be read ({error})", "a complete .gz file") from None
    if not content:
        raise _error(name, "an empty file in gzip", "a file with content")
    return pa.py_buffer(content)


def _error(name: str, found: str, expected: str) -> InputError:
    return InputError([InputProblem(name, found, expected)])
