"""Several tables that each hold cases and answers, as one: the cases of all, and the answers of a model in each."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import Task
from metrics.ingest import arrays
from metrics.ingest.media.bundle import Rows
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import NUMBER_ALIASES, OUTPUT_ALIASES, SCORED_ALIASES, fold, resolve
from metrics.ingest.tables.row_joins import joined_rows, plain_texts

TRUTHS = ("label", "labels", "true_value", "expected_answers")
ANSWERED = {  # what an answer's columns are called, in any task
    alias for name, aliases in (OUTPUT_ALIASES | SCORED_ALIASES | NUMBER_ALIASES).items() if name not in TRUTHS
    for alias in (name, *aliases)
}  # fmt: skip
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
    id are of the case that asks the same question; without questions, of that row where all have the same truths and
    no column contradicts it, or of the case that has the same value in a column of different ones.
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
        truths = [names[name] for name in TRUTHS if name in names]
        tables = _with_row_ids(sheets, tables, truths, names["model"])
        problems.stop()
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


def _with_row_ids(sheets: Sequence[Sheet], tables: list[pa.Table], truths: Sequence[str], model: str) -> list[pa.Table]:
    """Return the tables with ids of the cases, the rows of the longest; as they are where nothing tells the case."""
    longest = max(range(len(tables)), key=lambda place: len(tables[place]))
    first = tables[longest]
    cases = first.filter(pc.equal(first[model], first[model][0])) if len(first) else first
    kept = {name: texts for name in cases.column_names if fold(name) not in ANSWERED and (texts := _texts(cases, name))}
    found = []
    for sheet, table in zip(sheets, tables, strict=True):
        shared = {name: (own, texts) for name, texts in kept.items() if (own := _texts(table, name))}
        in_order = arrays.occurrences([table[model]]) - 1
        counts = np.bincount(in_order, minlength=1)
        fits = len(counts) == len(cases) and bool((counts == counts[0]).all())
        same = fits and all(own.equals(theirs.take(pa.array(in_order))) for own, theirs in shared.values())
        if same and any(name in truths for name in shared):
            places = pa.array(in_order)
        else:
            places = joined_rows(sheet, shared, [table[model]], in_order if fits else None, sheets[longest].file)
        if places is None:
            return tables
        found.append(table.append_column("case_id", pc.cast(pc.add(places, 1), pa.string())))
    return found


def _texts(table: pa.Table, name: str) -> pa.Array | None:
    if name not in table.column_names or not pa.types.is_string(table[name].type):
        return None
    return plain_texts(table[name])


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
