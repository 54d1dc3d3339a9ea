"""Shapes and forms of records: the same data with other names, cells and order, as files and as tables in memory."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import yaml
from openpyxl import Workbook
from pyarrow import parquet

from tests.laws.doors import Row, key

Shape = Callable[[list[Row], Random], list[Row]]
Form = Callable[[list[Row], Path], Any]  # the path without ending → the file's path, or a table in memory
TYPED = ("metadata.level", "metadata.seed", "case_id", "label", "perturbs", "predicted_label")
ALIASES = {
    "case_id": "id", "question": "user_input", "expected_answers": "ground_truths", "answer": "response",
    "retrieved_contexts": "retrieval_context", "duration_s": "latency", "cost_usd": "cost", "tokens": "total_tokens",
    "model": "model_name", "run": "trial", "score": "confidence", "true_value": "y_true", "predicted_value": "y_pred",
    "true_labels": "gold_labels", "image": "file_name", "predicted_labels": "predicted_classes",
    "expected_calls": "expected_tools", "predicted_label": "y_pred",
}  # fmt: skip


def _cells(change: Callable[[Any], Any]) -> Shape:
    return lambda rows, _: [{name: change(value) for name, value in row.items()} for row in rows]


def _names(change: Callable[[str], str]) -> Shape:
    plain = lambda name: name.startswith("metadata.")  # noqa: E731 - their case is their own
    return lambda rows, _: [{name if plain(name) else change(name): own for name, own in row.items()} for row in rows]


def _reordered(rows: list[Row], random: Random) -> list[Row]:
    names = random.sample(list(rows[0]), len(rows[0]))
    return [{name: row[name] for name in names} for row in rows]


def _numbered(rows: list[Row], _: Random) -> list[Row]:
    """Return the rows with a column for each item of a list."""
    most = {name: max(len(row[name] or ()) for row in rows) for name in rows[0] if isinstance(rows[0][name], list)}
    spread = [
        {f"{name}_{place + 1}": ([*(row[name] or ()), *[None] * count])[place]
         for name, count in most.items() for place in range(count)}
        for row in rows
    ]  # fmt: skip
    return [
        {name: own for name, own in row.items() if name not in most} | more
        for row, more in zip(rows, spread, strict=True)
    ]


def _wide(prefix: str) -> Shape:
    def spread(rows: list[Row], _: Random) -> list[Row]:
        if "score" not in rows[0] or "x" in rows[0]:
            return rows
        made: dict[tuple[Any, ...], Row] = {}
        for row in rows:
            own = made.setdefault(key(row), {name: row[name] for name in ("case_id", "model", "run")})
            own[prefix + row["label"]] = row["score"]
        return list(made.values())

    return spread


def _typed(kind: type) -> Shape:
    """Return the shape in which ids, classes and metadata that are whole numbers are numbers."""

    def change(name: str, value: Any) -> Any:
        return kind(value) if name in TYPED and str(value).isdigit() and str(int(value)) == value else value

    return lambda rows, _: [{name: change(name, value) for name, value in row.items()} for row in rows]


def _json_cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _in_title(name: str) -> str:
    return f" {name.replace('_', ' ').title()} "


SHAPES: dict[str, Shape] = {
    "as it is": lambda rows, _: rows,
    "rows shuffled": lambda rows, random: random.sample(rows, len(rows)),
    "columns reordered": _reordered,
    "aliases": _names(lambda name: ALIASES.get(name, name)),
    "titles": _names(_in_title),
    "capitals": _names(str.upper),
    "no empty keys": lambda rows, _: [{name: own for name, own in row.items() if own is not None} for row in rows],
    "empty texts": lambda rows, _: [
        {name: "" if own is None and name in ("group", "answer", "error") else own for name, own in row.items()}
        for row in rows
    ],
    "an empty row": lambda rows, _: [*rows[:1], dict.fromkeys(rows[0]), *rows[1:]],
    "numbered columns": _numbered,
    "JSON lists": _cells(_json_cell),
    "Python lists": _cells(lambda value: repr(value) if isinstance(value, list) else value),
    "numbers as text": _cells(lambda value: str(value) if isinstance(value, int | float) else value),
    "whole numbers": _typed(int),
    "floats": _typed(float),
    "wide": _wide(""), "wide, p_": _wide("p_"), "wide, prob_": _wide("prob_"), "wide, score_": _wide("score_"),
    "wide, score.": _wide("score."), "wide, probability": _wide("probability "),
}  # fmt: skip
NATIVE_ONLY = ("floats",)  # in a text, 1.0 is another text than 1
WRITTEN_LISTS = ("JSON lists", "Python lists")  # where there are types, an expected answer is the text that it is


def _text(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | list | dict) else str(value)


def _header(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _csv(delimiter: str = ",", newline: str = "\n") -> Callable[[list[Row]], str]:
    def text(rows: list[Row]) -> str:
        names, target = _header(rows), io.StringIO(newline="")
        writer = csv.writer(target, delimiter=delimiter, lineterminator=newline)
        writer.writerows([names, *([_text(row.get(name)) for name in names] for row in rows)])
        return target.getvalue()

    return text


def _file(ending: str, make: Callable[[list[Row]], str], encoding: str = "utf-8") -> Form:
    def write(rows: list[Row], path: Path) -> Path:
        place = path.with_suffix(ending)
        place.write_bytes(make(rows).encode(encoding))
        return place

    return write


def _workbook(rows: list[Row], path: Path) -> Path:
    book, names = Workbook(), _header(rows)
    for number, values in enumerate([names, *([row.get(name) for name in names] for row in rows)], 1):
        for column, value in enumerate(values, 1):
            cell = book.active.cell(number, column)
            cell.value = value if isinstance(value, int | float | str | None) else _text(value)
            if isinstance(cell.value, str):
                cell.data_type = "s"  # a text that begins with = is no formula
    book.save(path.with_suffix(".xlsx"))
    return path.with_suffix(".xlsx")


def _arrow(rows: list[Row], _: Path | None = None) -> pa.Table:
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in _header(rows)})


def _arrow_file(rows: list[Row], path: Path) -> Path:
    table, place = _arrow(rows), path.with_suffix(".arrow")
    with pa.ipc.new_file(place, table.schema) as file:
        file.write_table(table)
    return place


def _parquet(rows: list[Row], path: Path) -> Path:
    parquet.write_table(_arrow(rows), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _dump(rows: list[Row]) -> str:
    return json.dumps(rows, ensure_ascii=False)


FILES: dict[str, Form] = {
    "CSV": _file(".csv", _csv()),
    "CSV, BOM": _file(".csv", _csv(), "utf-8-sig"),
    "CSV, UTF-16": _file(".csv", _csv(), "utf-16"),
    "CSV, cp1252": _file(".csv", _csv(), "cp1252"),
    "CSV, semicolons": _file(".csv", _csv(";")),
    "CSV, CRLF": _file(".csv", _csv(newline="\r\n")),
    "CSV of pandas": lambda rows, path: _file(".csv", lambda _: pd.DataFrame(rows).to_csv(index=False))(rows, path),
    "TSV": _file(".tsv", _csv("\t")),
    "JSON": _file(".json", _dump),
    "JSON, escaped": _file(".json", json.dumps),
    "JSON, wrapped": _file(".json", lambda rows: json.dumps({"data": rows}, indent=1)),
    "JSON, UTF-16": _file(".json", _dump, "utf-16"),
    "JSONL": _file(".jsonl", lambda rows: "\n".join(map(json.dumps, rows))),
    "YAML": _file(".yaml", lambda rows: yaml.safe_dump(rows, allow_unicode=True, sort_keys=False)),
    "Excel": _workbook,
    "Parquet": _parquet,
    "Arrow": _arrow_file,
}
TABLES: dict[str, Form] = {
    "records": lambda rows, _: rows,
    "Arrow table": _arrow,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars": lambda rows, _: pl.DataFrame(rows, infer_schema_length=None),
}
FORMS = FILES | TABLES
TEXTS = tuple(name for name in FILES if name.startswith(("CSV", "TSV", "YAML")))
ONE_TYPE = ("Parquet", "Arrow", "Arrow table", "polars")  # whose columns cannot hold texts and numbers


def can_hold(form: str, shape: str, rows: list[Row]) -> bool:
    """Return whether records of a shape are the same data in a form."""
    if form in ONE_TYPE and any(_kinds(rows, name) > 1 for name in _header(rows)):
        return False
    if shape in WRITTEN_LISTS and "expected_answers" in _header(rows) and not form.startswith(("CSV", "TSV", "Excel")):
        return False
    whole = shape == "whole numbers" and form == "CSV of pandas"  # which writes 1.0 where a number is missing
    return not whole and not (shape in NATIVE_ONLY and form in TEXTS)


def _kinds(rows: list[Row], name: str) -> int:
    return len({type(row[name]) for row in rows if row.get(name) is not None})
