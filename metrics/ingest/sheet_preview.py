"""How a table would be read: what its columns and list cells were taken for, before anything is read from it."""

from typing import Any

from metrics.core.suite import Task
from metrics.ingest.output_parts import VISION
from metrics.ingest.reader import FIRST_ROWS, ListCell, Preview, Request
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import task_of
from metrics.ingest.tables import contexts, keyed_labels, number_targets, object_tables, text_cases
from metrics.ingest.tables.columns import LISTS, Columns, Role, fold, guess_role, is_detection, resolve
from metrics.ingest.tables.lists import understand
from metrics.ingest.traces import trace_column

LIST_CELLS = 3  # examples shown of each list column


def preview_of(name: str, format: str, sheet: Sheet, rows: int | None, request: Request, encoding: str = "") -> Preview:
    """Return the preview of a table, of which `sheet` may be only the beginning; `rows` None: not counted."""
    role: Role = guess_role(sheet.table.column_names) if request.role == "auto" else request.role
    task = request.task
    keyed_labels.gather(sheet, role, task)
    names = sheet.table.column_names
    if task is None and role == "outputs" and not is_detection(names):
        task = _outputs_task(names)
    task = task or number_targets.task_of(sheet, role, request.mapping)
    columns = number_targets.asked(
        sheet, resolve(names, role, task, request.mapping, None, name), task, request.mapping
    )
    task = task or ("detection" if is_detection(names) else task_of(columns))
    return Preview(
        name, format, role, task, tuple(names), columns.columns, columns.questions, columns.unmapped,
        columns.ignored, rows, tuple(sheet.table.slice(0, FIRST_ROWS).to_pylist()), tuple(_list_cells(sheet, columns)),
        tuple(_notes(sheet, columns, task, role)), encoding=encoding,
    )  # fmt: skip


def _outputs_task(names: list[str]) -> Task | None:
    folded = {fold(name) for name in names}
    predicted, answered = {"label", "predicted_label", "y_pred", "predicted_labels"}, {"answer", "retrieved_contexts"}
    if folded & set(text_cases.PREDICTED):
        return "regression"
    return "classification" if folded & predicted and not folded & answered else None


def _list_cells(sheet: Sheet, columns: Columns) -> list[ListCell]:
    shown: list[ListCell] = []
    single = contexts.LISTED if contexts.passage_rows(columns) else ()
    for canonical in LISTS:
        name = columns.columns.get(canonical)
        if name is None or canonical in single:
            continue
        numbered = name in columns.numbered
        rows = sheet.table.select(columns.numbered.get(name, (name,))).slice(0, FIRST_ROWS).to_pylist()
        cells = [[value for value in row.values() if value is not None] for row in rows]
        filled = [place for place, values in enumerate(cells) if values]
        shown += [_list_cell(sheet, canonical, name, row, cells[row], numbered) for row in filled[:LIST_CELLS]]
    return shown


def _list_cell(sheet: Sheet, canonical: str, name: str, row: int, values: list[Any], numbered: bool) -> ListCell:
    number = int(sheet.rows[row])
    if numbered:
        texts = tuple(map(str, values))
        return ListCell(name, canonical, number, " | ".join(texts), "numbered columns", texts)
    value = values[0]
    if isinstance(value, list):
        return ListCell(name, canonical, number, str(value), "list", tuple(value))
    rule, items = understand(value, sheet.splits(canonical, name))
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
    if task in ("classification", *VISION) and (keys := keyed_labels.keys_in(sheet, columns)):
        notes.append(f"Labels have the keys {', '.join(keys)}: each is evaluated by itself.")
    if role == "outputs" and "model" not in columns.columns:
        notes.append("No column model: the file's name is the model's.")
    if role != "suite" and contexts.passage_rows(columns):
        notes.append("One passage a row: those of a case, model and run are put together, with the first answer given.")
    if role != "suite" and (note := trace_column.note(sheet, columns, role)):
        notes.append(note)
    return notes
