"""Tables, suites and outputs as files that are read back the same: JSON lines, Parquet or CSV."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import write_export
from metrics.core.suite import Outputs, Suite

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


def suite_bytes(suite: Suite, format: str) -> bytes:
    """Return the cases in one of table_files.FORMATS, see table_bytes; InputError for suites about images."""
    if suite.annotations is not None or suite.task in ("detection", "segmentation"):
        expected = "cases with text: objects have no row of a case"
        raise InputError([InputProblem(suite.name, f"a suite of task {suite.task}", expected)])
    return table_bytes(suite.cases, format)


def write_suite(suite: Suite, path: str | Path) -> None:
    """Write a suite to a file, in the format that its name ends in."""
    write_export(Path(path), suite_bytes(suite, check_format(path)))


def write_outputs(outputs: Outputs, path: str | Path) -> None:
    """Write outputs to a file, in the format that its name ends in; in classification with label and score."""
    write_export(Path(path), table_bytes(_with_labels(outputs), check_format(path)))


def _with_labels(outputs: Outputs) -> pa.Table:
    """Return the outputs, in classification those with a class, and that class with its score."""
    table = outputs.outputs
    if outputs.predictions is None:
        return table
    found = {(row["case_id"], row["model"], row["run"]): row for row in outputs.predictions.to_pylist()}
    keys = list(zip(*(table[name].to_pylist() for name in ("case_id", "model", "run")), strict=True))
    kept = table.filter(pa.array([key in found for key in keys]))
    own = [found[key] for key in keys if key in found]
    return kept.append_column("label", pa.array([row["label"] for row in own], pa.string())).append_column(
        "score", pa.array([row["score"] for row in own], pa.float64())
    )
