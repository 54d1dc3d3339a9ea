"""Several tables that each hold cases and answers, as one: the cases of all, and the answers of a model in each."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from metrics.core.suite import Task
from metrics.ingest import arrays
from metrics.ingest.arrays import is_null
from metrics.ingest.media.bundle import Rows
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import resolve

TRUTHS = ("label", "labels", "true_value")
UNIQUE = "a column with case ids: where a question is asked again it does not say whose answer it is"


def joined_name(names: Sequence[str]) -> str:
    """Return what several files together are called."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def join_sheets(
    sheets: Sequence[Sheet], models: Sequence[str], problems: Problems, task: Task | None = None,
    mappings: Sequence[Mapping[str, str] | None] = (),
) -> Sheet:  # fmt: skip
    """Return the records of several tables as one, with `model` from `models` where a table has no such column.

    A column goes by what it means: expected answers are one column, whatever each table calls them. Rows without a case
    id are of the case that asks the same question; without questions, of that row where all have the same truths.
    """
    names: dict[str, str] = {}  # what a column means → what it is called
    tables = []
    for place, (sheet, model) in enumerate(zip(sheets, models, strict=True)):
        own = mappings[place] if place < len(mappings) else None
        columns = resolve(sheet.table.column_names, "combined", task, own, problems, sheet.file).columns
        called = {column: names.setdefault(canonical, column) for canonical, column in columns.items()}
        table = sheet.table.rename_columns([called.get(name, name) for name in sheet.table.column_names])
        if "model" not in columns:
            table = table.append_column(names.setdefault("model", "model"), pa.repeat(model, len(sheet)))
        if not {"case_id", "run"} & columns.keys() and "question" in columns:
            _need_unique(sheet, columns["question"], columns.get("model"), problems)
        tables.append(table)
    problems.stop()
    if {"case_id", "question"}.isdisjoint(names):
        tables = _with_row_ids(tables, [names[name] for name in TRUTHS if name in names])
    if {"case_id", "question"} <= names.keys():
        tables = _with_ids(tables, names["case_id"], names["question"])
    joined = pa.concat_tables(_of_one_type(tables), promote_options="default")
    rows = [row for sheet in sheets for row in sheet.rows.tolist()]
    which = [place for place, sheet in enumerate(sheets) for _ in range(len(sheet))]
    files = [sheet.file for sheet in sheets]
    return Rows(joined_name(files), joined, rows, which, files, problems)


def _need_unique(sheet: Sheet, question: str, model: str | None, problems: Problems) -> None:
    """Record as one problem that questions are asked again in a table in which only they name the cases."""
    keys = [sheet.text(name) for name in (question, model) if name]
    again, _ = arrays.duplicates(keys)
    again &= ~is_null(keys[0])
    if count := int(again.sum()):
        first = int(np.flatnonzero(again)[0])
        found = f"{count:,} questions again, such as {str(keys[0][first])[:80]!r}"
        problems.add(sheet.file, found, UNIQUE, int(sheet.rows[first]), question, fatal=True)


def _with_ids(tables: Sequence[pa.Table], case_id: str, question: str) -> list[pa.Table]:
    """Return the tables, those without case ids with the ids that their questions have in the others."""
    known = [table.select([question, case_id]) for table in tables if {question, case_id} <= {*table.column_names}]
    if not known:
        return list(tables)
    ids = {asked: id for table in known for asked, id in zip(*(c.to_pylist() for c in table.columns), strict=True)}
    return [
        table if case_id in table.column_names or question not in table.column_names
        else table.append_column(case_id, pa.array([ids.get(asked) for asked in table[question].to_pylist()]))
        for table in tables
    ]  # fmt: skip


def _with_row_ids(tables: list[pa.Table], truths: Sequence[str]) -> list[pa.Table]:
    """Return the tables with their rows numbered, where all have the same truth in the same rows; else as they are."""
    told = [[table[name].to_pylist() for name in truths if name in table.column_names] for table in tables]
    if not any(told) or any(each != told[0] for each in told):
        return tables
    ids = pa.array([str(row) for row in range(1, len(tables[0]) + 1)])
    return [table.append_column("case_id", ids) for table in tables]


def _of_one_type(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Return the tables, lists as JSON texts where another table has texts in that column."""
    texts = {field.name for table in tables for field in table.schema if pa.types.is_string(field.type)}
    found = []
    for table in tables:
        for place, field in enumerate(table.schema):
            if field.name in texts and not pa.types.is_string(field.type):
                cells = [
                    None if cell is None else json.dumps(cell, ensure_ascii=False) for cell in table[place].to_pylist()
                ]
                table = table.set_column(place, field.name, pa.array(cells, pa.string()))
        found.append(table)
    return found
