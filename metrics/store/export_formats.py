"""A data frame as the bytes of a JSON, CSV or Parquet file."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["json", "csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what spreadsheets take for a formula
CHUNK = 50_000  # rows turned into JSON at a time


def write(frame: pd.DataFrame, format: Format) -> bytes:
    """Return a data frame in one of FORMATS; ValueError on any other.

    json: a list of flat objects, null for no value. csv: UTF-8, header first, empty for no value, text cells that a
    spreadsheet would run as a formula begin with an apostrophe. parquet: the columns' own types.
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
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer, compression="zstd")
        return buffer.getvalue()
    raise ValueError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")


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
    return [_plain(value) for value in values] if column.dtype == object else values


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
