"""A table of ours as a file that is read back the same: JSON lines, Parquet or CSV."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.errors import InputError, InputProblem

FORMATS = ("jsonl", "csv", "parquet")
BATCH = 10_000  # rows turned into JSON at a time


def table_bytes(table: pa.Table, format: str) -> bytes:
    """Return a table in one of FORMATS, without empty columns.

    In CSV lists are JSON arrays, and cells that a spreadsheet would run as a formula begin with an apostrophe, which is
    kept when the file is read back; the other two formats are exact.
    """
    kept = table.select([name for name in table.column_names if table[name].null_count < len(table)])
    if format == "jsonl":
        return b"".join(_lines(batch) for batch in kept.to_batches(max_chunksize=BATCH))
    if format == "parquet":
        buffer = io.BytesIO()
        pq.write_table(kept, buffer, compression="zstd")
        return buffer.getvalue()
    if format == "csv":
        from metrics.store.export_formats import write  # on use: pandas

        return write(kept.to_pandas(), "csv")
    raise InputError([InputProblem("format", repr(format), f"one of {', '.join(FORMATS)}")])


def check_format(path: str | Path) -> str:
    """Return the format that a file's name ends in; InputError where it is none."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError([InputProblem(str(path), f"the ending {kind!r}", f"one of {', '.join(FORMATS)}")])
    return kind


def _lines(batch: pa.RecordBatch) -> bytes:
    rows = ({name: value for name, value in row.items() if value is not None} for row in batch.to_pylist())
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
