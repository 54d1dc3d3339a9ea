"""Files compressed with gzip (.gz): unpacked into memory, within limits."""

import gzip
import zlib

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.ingest.media.archive import MAX_RATIO, RATIO_FROM

MAGIC = b"\x1f\x8b"
UNPACKED_BYTES = 2 << 30
CHUNK = 1 << 20
LARGER = "a smaller file, or one that is not compressed"


def is_gzip(data: pa.Buffer) -> bool:
    """Return whether the bytes begin as gzip's."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def unpacked(name: str, data: pa.Buffer) -> pa.Buffer:
    """Return the content of a gzip file; InputError where it is damaged, too large, or compressed beyond the limit."""
    content = bytearray()
    try:
        with gzip.GzipFile(fileobj=pa.BufferReader(data)) as stream:
            while chunk := stream.read(CHUNK):
                content += chunk
                if len(content) > UNPACKED_BYTES:
                    raise _error(name, f"more than {UNPACKED_BYTES:,} bytes unpacked", LARGER)
                if len(content) > max(RATIO_FROM, MAX_RATIO * data.size):
                    raise _error(name, f"gzip that is compressed more than {MAX_RATIO} : 1", LARGER)
    except (OSError, EOFError, zlib.error) as error:
        raise _error(name, f"gzip that cannot be read ({error})", "a complete .gz file") from None
    if not content:
        raise _error(name, "an empty file in gzip", "a file with content")
    return pa.py_buffer(content)


def _error(name: str, found: str, expected: str) -> InputError:
    return InputError([InputProblem(name, found, expected)])
