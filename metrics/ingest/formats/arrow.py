"""Arrow files (.arrow, Feather): IPC streams and IPC files, as Hugging Face datasets and pandas write them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from metrics.ingest.formats.parquet import ROWS, UNPACKED_BYTES
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import FIRST_ROWS
from metrics.ingest.sheet import Problems, Sheet, first_line
from metrics.ingest.source import Source
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.native_types import UNREADABLE, check_names, texts

COMPLETE = "a complete Arrow file"


def read_arrow(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the file as a sheet whose rows count from 1; with `head`, only its first rows."""
    table = arrow_table(source, head)
    check_names(source.name, table.column_names, problems)
    return Sheet(source.name, table, np.arange(1, len(table) + 1, dtype=np.int64), problems)


def arrow_table(source: Source, head: int | None = None) -> pa.Table:
    """Return the file's rows as texts; InputError where it is damaged, or has more than the limits."""
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    try:
        reader = _opened(source)
        for batch in _batches(reader):
            batch.validate(full=True)
            rows, size = rows + len(batch), size + batch.nbytes
            if rows > ROWS or size > UNPACKED_BYTES:
                raise source.error(
                    f"{rows:,} rows of {size:,} bytes", f"at most {ROWS:,} rows, {UNPACKED_BYTES:,} bytes"
                )
            batches.append(batch)
            if head is not None and rows >= head:
                break
        table = pa.Table.from_batches(batches, reader.schema)
        table = named_features(source.name, table if head is None else table.slice(0, head))
        return texts(table)
    except UNREADABLE as error:
        raise source.error(f"Arrow that cannot be read: {first_line(error)}", COMPLETE) from None


def arrow_names(source: Source) -> list[str]:
    """Return the names of the columns; none where the file is damaged, which its reader says."""
    try:
        return list(_opened(source).schema.names)
    except UNREADABLE:
        return []


def _opened(source: Source) -> pa.RecordBatchReader | pa.ipc.RecordBatchFileReader:
    stream = pa.BufferReader(source.data)
    is_file = source.data[:6].to_pybytes() == b"ARROW1"
    return pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)


def _batches(reader: pa.RecordBatchReader | pa.ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        return (reader.get_batch(place) for place in range(reader.num_record_batches))
    return iter(reader)


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    return read_arrow(source, problems, FIRST_ROWS), None


READER = table_reader("arrow", lambda source: source.format == "arrow", read_arrow, _head)
