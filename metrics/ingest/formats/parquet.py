"""Parquet files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.reader import FIRST_ROWS
from metrics.ingest.sheet import Problems, Sheet, first_line
from metrics.ingest.source import Source
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.native_types import UNREADABLE, check_names, texts

UNPACKED_BYTES = 16 << 30  # that a Parquet file may state
ROWS = 50_000_000


def parquet_file(source: Source) -> pq.ParquetFile:
    """Return the opened file; InputError where it is damaged or its footer states more than the limits."""
    try:
        file = pq.ParquetFile(
            pa.BufferReader(source.data), thrift_string_size_limit=1 << 26, thrift_container_size_limit=1 << 20
        )
        unpacked = sum(file.metadata.row_group(index).total_byte_size for index in range(file.metadata.num_row_groups))
        rows = file.metadata.num_rows
    except UNREADABLE as error:
        raise source.error(f"Parquet that cannot be read: {first_line(error)}", "a complete Parquet file") from None
    if not 0 <= unpacked <= UNPACKED_BYTES or not 0 <= rows <= ROWS:
        found = f"{rows:,} rows of {unpacked:,} bytes unpacked"
        raise source.error(found, f"at most {ROWS:,} rows and {UNPACKED_BYTES:,} bytes")
    return file


def read_parquet(source: Source, problems: Problems, head: int | None = None) -> Sheet:
    """Return the file as a sheet whose rows count from 1; with `head`, only its first rows."""
    file = parquet_file(source)
    try:
        if head is None:
            table = file.read()
        else:
            batches = [next(file.iter_batches(head), None)]
            table = pa.Table.from_batches([batch for batch in batches if batch is not None], file.schema_arrow)
        table.validate(full=True)
        table = texts(named_features(source.name, table))
    except UNREADABLE as error:
        raise source.error(f"Parquet that cannot be read: {first_line(error)}", "a complete Parquet file") from None
    check_names(source.name, table.column_names, problems)
    return Sheet(source.name, table, np.arange(1, table.num_rows + 1, dtype=np.int64), problems)


def _head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
    return read_parquet(source, problems, FIRST_ROWS), parquet_file(source).metadata.num_rows


READER = table_reader("parquet", lambda source: source.format == "parquet", read_parquet, _head)
