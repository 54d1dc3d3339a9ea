"""Preview: what a file looks like and how it would be read, before anything is taken from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from metrics.core.suite import Task
from metrics.ingest import cells
from metrics.ingest.bundle import open_bundle
from metrics.ingest.bundled import facts_of, format_of, table_source
from metrics.ingest.columns import LISTS, Columns, Question, Role, fold, guess_role, is_detection, resolve
from metrics.ingest.formats import coco, mask_images, object_tables, traces
from metrics.ingest.formats.delimited import read_delimited
from metrics.ingest.formats.json_records import load_json, read_json, read_jsonl
from metrics.ingest.formats.tabular import parquet_file, read_parquet
from metrics.ingest.lists import Rule, understand
from metrics.ingest.problems import Problems, Sheet
from metrics.ingest.source import HEAD, Source, open_source

FIRST_ROWS = 20
LIST_CELLS = 3  # examples shown of each list column
WHOLE_BYTES = 32 << 20  # up to here a text file is read whole, so its rows can be counted


@dataclass(frozen=True)
class ListCell:
    """How a list cell was understood: text, items, rule; `items` None: it begins like a list and is none."""

    column: str
    canonical: str
    row: int
    text: str
    rule: Rule
    items: tuple[str, ...] | None


@dataclass(frozen=True)
class Preview:
    """What was found in a file. `mapping` {canonical: column} can be edited and given to the readers.

    `questions` must be answered in the mapping; `unmapped` columns become metadata.*; `ignored` ones belong to the
    other kind of file. `rows` is None where counting would take long. `first` has the raw cells:
    text, or native lists. `models` are those that a folder or zip of masks has folders for.
    """

    file: str
    format: str
    role: Role
    task: Task
    columns: tuple[str, ...]
    mapping: dict[str, str]
    questions: tuple[Question, ...] = ()
    unmapped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    rows: int | None = None
    first: tuple[dict[str, Any], ...] = ()
    lists: tuple[ListCell, ...] = ()
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def inspect(
    path: str | Path, role: Literal["auto", "suite", "outputs", "combined"] = "auto", filename: str | None = None,
    *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
) -> Preview:  # fmt: skip
    """Return how the file would be read: format, kind, mapping, questions, first rows, list cells. InputError if
    unreadable.

    Bad rows are no error here; the readers list them.
    """
    with open_bundle(path, filename) as bundle:
        if bundle is not None and (kind := format_of(bundle)) == "masks":
            table, models, note = mask_images.facts_of(bundle)
            return Preview(
                bundle.name, kind, "outputs" if role == "outputs" else "suite", "segmentation",
                tuple(table.column_names), {}, rows=len(table), first=tuple(table.slice(0, FIRST_ROWS).to_pylist()),
                notes=(note,), models=models,
            )  # fmt: skip
        if bundle is not None and kind == "traces":
            made = traces.read_bundle(bundle, Problems(keep_good_rows=True))
            return Preview(
                bundle.name, kind, "outputs", "text", tuple(made.table.column_names), {}, rows=len(made),
                first=tuple(made.table.slice(0, FIRST_ROWS).to_pylist()),
                notes=("A trace in each file, which is named by its case.",),
            )  # fmt: skip
        if bundle is not None and kind != "table":
            scored, table, count, note = facts_of(bundle, kind)
            return Preview(
                bundle.name, kind, "outputs" if scored else "suite", "detection", tuple(table.column_names), {},
                rows=count, first=tuple(table.slice(0, FIRST_ROWS).to_pylist()), notes=(note,),
            )  # fmt: skip
        source = open_source(path, filename) if bundle is None else table_source(bundle)
    document = load_json(source, lenient_numbers=True) if source.format == "json" else None
    if coco.is_ground_truth(document):
        return _coco(source, "coco_ground_truth", "suite", document, document.get("annotations"))
    if coco.is_results(document):
        return _coco(source, "coco_results", "outputs", {"results": document}, document)
    sheet, rows = _head(source, document)
    names = sheet.table.column_names
    chosen: Role = guess_role(names) if role == "auto" else role
    if task is None and chosen == "outputs" and not is_detection(names):
        task = _outputs_task(names)
    columns = resolve(names, chosen, task, mapping, None, source.name)
    task = task or _task(columns, names)
    return Preview(
        source.name, source.format, chosen, task, tuple(names), columns.columns, columns.questions, columns.unmapped,
        columns.ignored, rows, tuple(sheet.table.slice(0, FIRST_ROWS).to_pylist()), tuple(_list_cells(sheet, columns)),
        tuple(_notes(sheet, columns, task, chosen)),
    )  # fmt: skip


def _head(source: Source, document: Any) -> tuple[Sheet, int | None]:
    """Return the file, or its beginning where it is large, and the number of rows where that is known."""
    problems = Problems(keep_good_rows=True)
    if source.format == "parquet":
        return read_parquet(source, problems, FIRST_ROWS), parquet_file(source).metadata.num_rows
    if source.format == "json":
        sheet = read_json(source, document, problems)
        return sheet, len(sheet)
    whole = source.data.size <= WHOLE_BYTES
    part = source
    if not whole:
        cut = source.data[: 8 * HEAD * 16].to_pybytes()
        part = Source(source.path, source.name, source.format, pa.py_buffer(cut[: cut.rfind(b"\n") + 1]))
    sheet = read_jsonl(part, problems) if source.format == "jsonl" else read_delimited(part, problems)
    return sheet, len(sheet) if whole else None


def _coco(source: Source, format: str, role: Role, document: dict[str, Any], records: Any) -> Preview:
    counts = {name: len(value) for name, value in document.items() if isinstance(value, list)}
    listed = records if isinstance(records, list) else []
    first = [record for record in listed[:FIRST_ROWS] if isinstance(record, dict)]
    names = tuple(dict.fromkeys(name for record in first for name in record))
    raw = tuple(
        {name: None if value is None else str(value)[:200] for name, value in record.items()} for record in first
    )
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Preview(source.name, format, role, "detection", names, {}, rows=len(listed), first=raw, notes=(note,))


def _task(columns: Columns, names: list[str]) -> Task:
    if is_detection(names):
        return "detection"
    found = columns.columns
    return "classification" if "label" in found and "expected_answers" not in found else "text"


def _outputs_task(names: list[str]) -> Task | None:
    folded = {fold(name) for name in names}
    return (
        "classification"
        if folded & {"label", "predicted_label", "y_pred"} and not folded & {"answer", "retrieved_contexts"}
        else None
    )


def _list_cells(sheet: Sheet, columns: Columns) -> list[ListCell]:
    shown: list[ListCell] = []
    for canonical in LISTS:
        name = columns.columns.get(canonical)
        if name is None:
            continue
        members = columns.numbered.get(name, (name,))
        found = 0
        for row in range(min(len(sheet), FIRST_ROWS)):
            values = [sheet.table[member][row].as_py() for member in members]
            present = [value for value in values if value is not None]
            if not present or found == LIST_CELLS:
                continue
            found += 1
            shown.append(_list_cell(sheet, canonical, name, row, present, len(members) > 1 or name in columns.numbered))
    return shown


def _list_cell(sheet: Sheet, canonical: str, name: str, row: int, values: list[Any], numbered: bool) -> ListCell:
    number = int(sheet.rows[row])
    if numbered:
        return ListCell(
            name, canonical, number, " | ".join(map(str, values)), "numbered columns", tuple(map(str, values))
        )
    value = values[0]
    if isinstance(value, list):
        return ListCell(name, canonical, number, str(value), "list", tuple(value))
    rule, items = understand(value, cells.splits(sheet, canonical, name))
    return ListCell(name, canonical, number, value, rule, None if items is None else tuple(items))


def _notes(sheet: Sheet, columns: Columns, task: Task, role: Role) -> list[str]:
    notes = []
    if columns.ignored:
        notes.append("Not read, because they belong to the other file: " + ", ".join(columns.ignored) + ".")
    if task == "detection" and len(sheet):
        notes.append("Boxes: " + object_tables.scale(columns, sheet) + ".")
    elif "case_id" not in columns.columns and role != "outputs":
        by = "questions" if "question" in columns.columns else "rows"
        notes.append(f"No case ids: the {by} are numbered.")
    if role == "outputs" and "model" not in columns.columns:
        notes.append("No column model: the file's name is the model's.")
    if role != "suite" and (told := traces.note(sheet, columns, role)):
        notes.append(told)
    return notes
