"""Tables, suites and outputs as files: in every format of exports, and so that they are read back the same."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.errors import InputError, InputProblem
from metrics.core.fields import SERVING, fold
from metrics.core.files import write_export
from metrics.core.rounding import round_tree
from metrics.core.suite import METADATA, Outputs, Suite

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["json", "csv", "parquet"]
EXPORT_FORMATS: tuple[Format, ...] = get_args(Format)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what spreadsheets take for a formula
CHUNK = 50_000  # rows turned into JSON at a time


def write(frame: pd.DataFrame, format: Format) -> bytes:
    """Return a data frame in one of FORMATS; ValueError on any other.

    json: a list of flat objects, null for no value, numbers with core.rounding.DIGITS significant digits. csv: UTF-8,
    header first, empty for no value, text cells that a spreadsheet would run as a formula begin with an apostrophe.
    parquet: the columns' own types.
    """
    if format == "json":
        return _json(frame)
    if format == "csv":
        import pandas as pd

        flat = frame.rename(columns=_neutral)
        for name in flat.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in flat.dtypes]]:
            if flat[name].dtype == object or flat[name].str.startswith(FORMULA).any():
                flat[name] = flat[name].map(_cell, na_action="ignore")
        return flat.to_csv(index=False, lineterminator="\r\n").encode()  # both ends of line are quoted
    if format == "parquet":
        return _parquet(pa.Table.from_pandas(frame, preserve_index=False))
    raise ValueError(f"there is no format {format!r}; there are {', '.join(EXPORT_FORMATS)}")


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _json(frame: pd.DataFrame) -> bytes:
    import orjson

    parts = []
    for start in range(0, len(frame), CHUNK):
        piece = frame.iloc[start : start + CHUNK]
        columns = [_values(piece[name]) for name in piece.columns]
        rows = [dict(zip(piece.columns, values, strict=True)) for values in zip(*columns, strict=True)]
        parts.append(orjson.dumps(rows)[1:-1])
    return b"[" + b",\n".join(parts) + b"]\n"


def _values(column: pd.Series) -> list[Any]:
    values = column.astype(object).where(column.notna(), None).tolist()
    return round_tree([_plain(value) for value in values] if column.dtype == object else values)


def _cell(value: Any) -> Any:
    """Return a text cell, safe from spreadsheets; lists become JSON text."""
    value = _plain(value)
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    return _neutral(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    """Return a cell without numpy: lists as Arrow hands them out are arrays, also inside one another."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _neutral(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text


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
        return _parquet(kept)
    if format == "csv":
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
    names = {name: name.removeprefix(METADATA) for name in suite.cases.column_names}
    served = {
        name: plain  # as it was read; texts that are no lists stay metadata, or they would be read as lists
        for name, plain in names.items()
        if fold(plain) in SERVING and all(map(_is_list, filter(None, suite.cases[name].to_pylist())))
    }
    return table_bytes(suite.cases.rename_columns(served), format)


def _is_list(text: str) -> bool:
    try:
        items = json.loads(text)
    except ValueError:
        return False
    plain = isinstance(items, list) and all(isinstance(item, str) for item in items)
    return plain and json.dumps(items, ensure_ascii=False) == text


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
