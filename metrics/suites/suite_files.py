"""A suite as a file that read_suite reads back as the same suite: JSON lines, Parquet or CSV."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Suite

FORMATS = ("jsonl", "csv", "parquet")
BATCH = 10_000  # cases turned into JSON at a time


def suite_bytes(suite: Suite, format: str) -> bytes:
    """Return the cases in one of FORMATS, without empty columns; InputError for suites about images.

    In CSV lists are JSON arrays, and cells that a spreadsheet would run as a formula begin with an apostrophe, which is
    kept when the file is read back; the other two formats are exact.
    """
    if suite.annotations is not None or suite.task in ("detection", "segmentation"):
        expected = "cases with text: objects have no row of a case"
        raise InputError([InputProblem(suite.name, f"a suite of task {suite.task}", expected)])
    cases = suite.cases.select([name for name in suite.cases.column_names if suite.cases[name].null_count < len(suite)])
    if format == "jsonl":
        return b"".join(_lines(batch) for batch in cases.to_batches(max_chunksize=BATCH))
    if format == "parquet":
        buffer = io.BytesIO()
        pq.write_table(cases, buffer, compression="zstd")
        return buffer.getvalue()
    if format == "csv":
        from metrics.store.export_formats import write  # on use: pandas

        return write(cases.to_pandas(), "csv")
    raise InputError([InputProblem("format", repr(format), f"one of {', '.join(FORMATS)}")])


def write_suite(suite: Suite, path: str | Path) -> None:
    """Write a suite to a file, in the format that its name ends in."""
    Path(path).write_bytes(suite_bytes(suite, check_format(path)))


def check_format(path: str | Path) -> str:
    """Return the format that a file's name ends in; InputError where it is none."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise InputError([InputProblem(str(path), f"the ending {kind!r}", f"one of {', '.join(FORMATS)}")])
    return kind


def _lines(batch: pa.RecordBatch) -> bytes:
    rows = ({name: value for name, value in row.items() if value is not None} for row in batch.to_pylist())
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
