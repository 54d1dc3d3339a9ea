"""The tables of a run as flat rows, and their bytes as JSON, CSV or Parquet: what `export` writes."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from metrics import analysis
from metrics.presentation.safe_text import safe
from metrics.store import Run

What = Literal[
    "aggregates", "scores", "curves", "matches", "judgements", "problems", "insights", "flips", "flip_rates",
    "compliance", "slices",
]  # fmt: skip
Format = Literal["json", "csv", "parquet"]
WHATS: tuple[What, ...] = get_args(What)
FORMATS: tuple[Format, ...] = get_args(Format)

AGGREGATES = ["model", "evaluator", "metric", "label", "slice", "value", "low", "high", "n", "unscored"]
COUNTS = [
    "run", "interval", "not_applicable", "parse_failure", "error", "skipped", "reason", "if_worst", "if_best",
]  # fmt: skip
SCORES = ["case_id", "model", "run", "evaluator", "metric", "value", "status", "reason"]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what spreadsheets take for a formula
ANALYSES = {
    "problems": analysis.problems, "insights": analysis.insights, "flips": analysis.flips,
    "flip_rates": analysis.flip_rates, "compliance": analysis.compliance_table,
    "slices": analysis.slices,
}  # fmt: skip
CHUNK = 50_000  # rows turned into JSON at a time


def table(run: Run, what: What) -> pd.DataFrame:
    """One of WHATS as a data frame of flat rows, in the engine's order; ValueError on any other name.

    aggregates: AGGREGATES, the evaluators' own columns (iou, area …; absent ones null), COUNTS. scores: SCORES.
    curves, matches: model, run, evaluator, then the columns of the evaluators that have them. problems, insights,
    flips, flip_rates, compliance, slices: as metrics.analysis gives them. Integers with nulls stay integers; every text
    has passed metrics.presentation.safe_text.safe.
    """
    if what == "aggregates":
        found = _aggregates(run)
    elif what == "scores":
        found = run.stored_table("scores", SCORES)
    elif what == "curves":
        found = _joined((name, run.table_path(f"curves/{name}")) for name in run.curve_names())
    elif what == "matches":
        found = _joined((name, run.table_path(f"matches/{name}")) for name in run.match_names())
    elif what == "judgements":
        found = _judgements(run)
    elif what in ANALYSES:
        found = pa.Table.from_pandas(ANALYSES[what](run), preserve_index=False)
    else:
        raise ValueError(f"a run has no table {what!r}; it has {', '.join(WHATS)}")
    frame: pd.DataFrame = _safe(found).to_pandas(
        types_mapper={pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}.get
    )
    return frame


def write(frame: pd.DataFrame, format: Format) -> bytes:
    """Return a data frame in one of FORMATS; ValueError on any other.

    json: a list of flat objects, null for no value. csv: UTF-8, header first, empty for no value, text cells that a
    spreadsheet would run as a formula begin with an apostrophe. parquet: the columns' own types.
    """
    if format == "json":
        return _json(frame)
    if format == "csv":
        flat = frame.rename(columns=_neutral)
        for name in flat.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in flat.dtypes]]:
            if flat[name].dtype == object or flat[name].str.startswith(FORMULA).any():
                flat[name] = flat[name].map(_cell, na_action="ignore")
        return flat.to_csv(index=False, lineterminator="\r\n").encode()  # both ends of line are quoted
    if format == "parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer, compression="zstd")
        return buffer.getvalue()
    raise ValueError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")


def _aggregates(run: Run) -> pa.Table:
    rows = run.stored_table("aggregates")
    own = [json.loads(text) for text in rows["columns"].to_pylist()]
    names = list(dict.fromkeys(name for columns in own for name in columns))
    found = rows.select(AGGREGATES)
    for name in names:
        label = name if name not in rows.column_names else f"own_{name}"
        found = found.append_column(label, _column([columns.get(name) for columns in own]))
    for name in COUNTS:
        found = found.append_column(name, rows[name])
    return found


def _judgements(run: Run) -> pa.Table:
    """JUDGEMENTS with the verdict and the reason of each reply in words of their own, several joined by line breaks."""
    found = run.stored_table("judgements")
    said = [_said(reply) for reply in found["reply"].to_pylist()]
    for name in ("reason", "verdict"):
        place = found.column_names.index("reply")
        found = found.add_column(place, name, pa.array([one[name] for one in said], pa.string()))
    return found


def _said(reply: str | None) -> dict[str, str | None]:
    """Return what a reply says, without its reasons, as compact JSON; and the reasons."""
    try:
        value = json.loads(reply or "")
    except ValueError:
        return {"verdict": None, "reason": None}
    entries = value.get("replies", [value]) if isinstance(value, dict) else [value]
    reasons = [str(entry["reason"]) for entry in entries if isinstance(entry, dict) and entry.get("reason")]
    verdicts = [
        {name: said for name, said in entry.items() if name != "reason"} if isinstance(entry, dict) else entry
        for entry in entries
    ]
    verdict = verdicts[0] if len(verdicts) == 1 and "replies" not in value else verdicts
    return {"verdict": json.dumps(verdict, ensure_ascii=False), "reason": "\n".join(reasons) or None}


def _column(values: Sequence[Any]) -> pa.Array:
    """Return the values as one Arrow column; of mixed kinds as text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values])


def _joined(parts: Iterator[tuple[str, Any]]) -> pa.Table:
    tables = []
    for name, path in parts:
        found = pq.read_table(path)
        tables.append(found.add_column(2, "evaluator", pa.array([name] * found.num_rows, pa.string())))
    if not tables:
        return pa.table({name: pa.array([], pa.string()) for name in ("model", "run", "evaluator")})
    return pa.concat_tables(tables, promote_options="permissive")


def _safe(found: pa.Table) -> pa.Table:
    """Return every text column with `safe` applied to each distinct value once."""
    for place, field in enumerate(found.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            coded = found[field.name].combine_chunks().dictionary_encode()
            coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
            words = pa.array([safe(word) for word in coded.dictionary.to_pylist()], field.type)
            found = found.set_column(place, field.name, words.take(coded.indices))
    return found


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
