"""Parquet files."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.ingest.decoded_size import ROW, Decoded, count_written_out
from metrics.ingest.formats.parquet_pages import DAMAGED, unpacked
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
