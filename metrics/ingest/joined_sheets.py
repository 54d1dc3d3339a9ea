"""Several tables that each hold cases and answers, as one: the cases of all, and the answers of a model in each."""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from metrics.core.suite import Task
from metrics.ingest.media.bundle import Rows
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import resolve

TRUTHS = ("label", "labels", "true_value")
UNIQUE = "a column with case ids: the other files have several of such a question"


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
        tables.append(table)
    problems.stop()
    if {"case_id", "question"}.isdisjoint(names):
        tables = _with_row_ids(tables, [names[name] for name in TRUTHS if name in names])
    if {"case_id", "question"} <= names.keys():
        tables = _with_ids(tables, names["case_id"], names["question"], sheets)
        problems.stop()
    joined = pa.concat_tables(_of_one_type(tables), promote_options="default")
    rows = [row for sheet in sheets for row in sheet.rows.tolist()]
    which = [place for place, sheet in enumerate(sheets) for _ in range(len(sheet))]
    files = [sheet.file for sheet in sheets]
    return Rows(joined_name(files), joined, rows, which, files, problems)


def _with_ids(tables: Sequence[pa.Table], case_id: str, question: str, sheets: Sequence[Sheet]) -> list[pa.Table]:
    """Return the tables, those without case ids with the ids that their questions have in the others. InputError."""
    ids: dict[str, set[str | None]] = {}
    for table in tables:
        if {question, case_id} <= {*table.column_names}:
            for asked, id in zip(table[question].to_pylist(), table[case_id].to_pylist(), strict=True):
                ids.setdefault(asked, set()).add(id)
    found = []
    for table, sheet in zip(tables, sheets, strict=True):
        if ids and case_id not in table.column_names and question in table.column_names:
            questions = table[question].to_pylist()
            if doubtful := [row for row, asked in enumerate(questions) if len(ids.get(asked, ())) > 1]:
                what = f"{len(doubtful):,} questions of several cases, such as {questions[doubtful[0]][:80]!r}"
                sheet.problems.add(sheet.file, what, UNIQUE, int(sheet.rows[doubtful[0]]), question, fatal=True)
            own = [next(iter(ids.get(asked, ())), None) for asked in questions]
            table = table.append_column(case_id, pa.array(own, pa.string()))
        found.append(table)
    return found


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
