"""Arrow files (.arrow, Feather): IPC streams and IPC files, as Hugging Face datasets and pandas write them."""

import numpy as np
import pyarrow as pa

from metrics.ingest.decoded_size import Decoded
from metrics.ingest.formats.arrow_messages import DAMAGED, count_unpacked, stream_of
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.problems import Problems, first_line
from metrics.ingest.reader import FIRST_ROWS
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Source
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.native_types import UNREADABLE, texts
from metrics.ingest.tables.shared_values import count_written_out

COMPLETE = "a complete Arrow file"


def read_arrow(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the file as a sheet whose rows count from 1; with `head`, only its first rows."""
    table = arrow_table(source, head)
    return Sheet(source.name, table, np.arange(1, len(table) + 1, dtype=np.int64), problems)


def arrow_table(source: Source, head: int | None = None) -> pa.Table:
    """Return the file's rows as texts; InputError where it is damaged, or has more than the limits."""
    tables: list[pa.Table] = []
    rows, decoded = 0, Decoded(source.name, source.data.size, "table")
    try:
        count_unpacked(stream_of(source.data), Decoded(source.name, source.data.size, "table"))
        reader = _opened(source)
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


def arrow_names(source: Source) -> list[str]:
    """Return the names of the columns; none where the file is damaged, which its reader says."""
    try:
        return list(_opened(source).schema.names)
    except UNREADABLE:
        return []


def _opened(source: Source) -> pa.RecordBatchReader:
    return pa.ipc.open_stream(pa.BufferReader(stream_of(source.data)))


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    return read_arrow(source, problems, FIRST_ROWS), None


READER = table_reader("arrow", lambda source: source.format == "arrow", read_arrow, _head)
