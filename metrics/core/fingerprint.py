"""The content fingerprint of tables: what identifies a suite or outputs wherever they are stored."""

import hashlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def fingerprint(*parts: pa.Table | str) -> str:
    """Return the sha256 (64 hex digits) of the values of tables and strings; their chunks and slices do not matter."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(f"text {len(part)} {part}\n".encode())
            continue
        for name in part.column_names:
            digest.update(f"column {name}\n".encode())
            _digest_array(digest, part[name])
    return digest.hexdigest()


def _digest_array(digest: Any, column: pa.ChunkedArray | pa.Array) -> None:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # combining over 2 GiB of text leaves several chunks
        array = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in array.chunks])
    # the name of a list's field changes when it goes through Parquet
    kind = "list" if pa.types.is_list(array.type) else str(array.type).removeprefix("large_")
    digest.update(f"{kind} {len(array)} {array.null_count}\n".encode())
    if array.null_count:
        digest.update(array.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    if array.null_count == len(array):
        return
    if pa.types.is_list(array.type):
        digest.update(pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).tobytes())
        _digest_array(digest, array.flatten())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        values = pc.fill_null(array, "").cast(pa.large_binary())
        digest.update(pc.binary_length(values).to_numpy(zero_copy_only=False).tobytes())
        _, offsets, data = values.buffers()
        bounds = memoryview(offsets).cast("q")
        first, last = bounds[values.offset], bounds[values.offset + len(values)]
        if data is not None:
            digest.update(memoryview(data)[first:last])
    elif pa.types.is_boolean(array.type):
        digest.update(pc.fill_null(array, False).cast(pa.uint8()).to_numpy(zero_copy_only=False).tobytes())
    else:
        digest.update(pc.fill_null(array, 0).to_numpy(zero_copy_only=False).tobytes())
