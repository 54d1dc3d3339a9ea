"""A reader of a format that is a table of records: it only says how the records are read."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from metrics.core.suite import Outputs, Suite, Task
from metrics.ingest.formats.open_images import class_names, name_classes, with_facts
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import VISION, Part
from metrics.ingest.reader import FIRST_ROWS, ListCell, Preview, Reader, Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import columns_of, combined_of, part_of, suite_of, task_of
from metrics.ingest.source import BINARY, DOCUMENTS, Loaded, Problems, Source
from metrics.ingest.tables import class_scores, contexts, keyed_labels, model_columns, object_tables, text_cases
from metrics.ingest.tables.columns import (
    FIELD_NAMES,
    LISTS,
    Columns,
    Role,
    fold,
    guess_role,
    is_detection,
    is_open_images,
)
from metrics.ingest.tables.list_columns import settle_lists
from metrics.ingest.tables.lists import understand
from metrics.ingest.traces import trace_column

WHOLE_BYTES = 32 << 20  # up to here a text file is read whole for a preview, so its rows can be counted
HEAD_BYTES = 8 << 20  # of a larger one
LIST_CELLS = 3  # examples shown of each list column
HEADER_ROWS = 12  # among which its header is

ReadSheet = Callable[[Source, Problems], Sheet]
ReadHead = Callable[[Source, Problems], tuple[Sheet, int | None]]
ReadUpload = Callable[[Upload, Problems], Sheet]
UploadHead = Callable[[Upload, Problems], tuple[Sheet, int | None]]


def table_reader(
    name: str, recognises: Callable[[Source], bool], sheet: ReadSheet, head: ReadHead | None = None,
    answered: bool = False,
) -> Reader:  # fmt: skip
    """Return the reader of a table. `sheet` reads it; `head`, for a preview, its beginning and the number of rows, else
    the first lines of a large text file.

    `answered`: every row holds a case and an answer, so that cases occur once for each answer; a suite has each once.
    """

    def read_settled(source: Source, problems: Problems) -> Sheet:
        return settle_lists(sheet(source, problems))

    def beginning(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
        if source.data.size <= WHOLE_BYTES or source.format in (*DOCUMENTS, *BINARY):
            whole = sheet(source, problems)
            return whole, len(whole)
        cut = source.data[:HEAD_BYTES].to_pybytes()
        return sheet(replace(source, data=pa.py_buffer(cut[: cut.rfind(b"\n") + 1])), problems), None

    def preview(upload: Upload, request: Request) -> Preview:
        source = upload.source
        first, rows = (head or beginning)(source, request.problems)
        first = settle_lists(first)
        encoding = "" if source.format in BINARY else source.encoding
        return _preview_of(source.name, name, first, rows, request, encoding)

    def read(upload: Upload, problems: Problems) -> Sheet:
        found = read_settled(upload.source, problems)
        if upload.bundle is not None and is_open_images(found.table.column_names):
            name_classes(found, class_names(upload.bundle, problems))
        return found

    made = _reader(name, lambda upload: recognises(upload.source), preview, read, answered)
    return replace(made, sheet=read_settled)


def bundle_reader(
    name: str, recognises: Callable[[Upload], bool], read: ReadUpload, head: UploadHead, answered: bool = False,
    contents: str = "", splits: Callable[[Upload], Collection[str]] = lambda _: (), preferred: Sequence[str] = (),
) -> Reader:  # fmt: skip
    """Return the reader of a table that is made of several files of a folder or zip; see choose_split."""

    def preview(upload: Upload, request: Request) -> Preview:
        seen = _preview_of(upload.name, name, *head(upload, request.problems), request)
        names = tuple(splits(upload))
        return replace(seen, sheets=names, sheet=choose_split(upload, names, preferred)) if len(names) > 1 else seen

    return replace(_reader(name, recognises, preview, read, answered), contents=contents)


def choose_split(upload: Upload, splits: Collection[str], preferred: Sequence[str]) -> str:
    """Return the split asked for (as a sheet of a workbook is), else the first of those preferred, else the first."""
    if upload.sheet is not None and upload.sheet not in splits:
        raise upload.error(f"no split {upload.sheet!r}", "one of " + ", ".join(splits))
    return upload.sheet or next((name for name in preferred if name in splits), next(iter(splits)))


def _reader(
    name: str, recognises: Callable[[Upload], bool], preview: Callable[[Upload, Request], Preview], read: ReadUpload,
    answered: bool,
) -> Reader:  # fmt: skip
    def suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
        found, named = read(upload, request.problems), request.suite_name or upload.stem
        if answered and "answer" in found.table.column_names:
            both = combined_of(found, named, request.task, request.mapping, upload.model)
            return Loaded(both.value[0], both.problems, both.notes)
        loaded = suite_of(found, named, request.task, request.mapping, pictures)
        if upload.bundle is None or not is_open_images(found.table.column_names):
            return loaded
        return with_facts(loaded, upload.bundle, class_names(upload.bundle, Problems()), request.problems)

    def outputs(upload: Upload, request: Request, suite: Suite) -> Part:
        return part_of(read(upload, request.problems), suite, request.mapping, upload.model, request.model)

    def combined(upload: Upload, request: Request) -> Loaded[tuple[Suite, Outputs]]:
        found = read(upload, request.problems)
        names = request.suite_name or upload.stem, request.model or upload.model
        return combined_of(found, names[0], request.task, request.mapping, names[1])

    return Reader(name, recognises, preview, suite, outputs, combined)


def header_place(rows: Sequence[Sequence[Any]]) -> int:
    """Return the index of the row with the names of the columns: below titles of one cell each, and comments (#).

    It is the first one, unless one below it has several cells and a name that is known.
    """
    for place, row in enumerate(rows[:HEADER_ROWS]):
        cells = [str(cell) for cell in row if cell not in (None, "") and str(cell).strip()]
        if (len(cells) > 1 or not place) and any(fold(cell) in FIELD_NAMES for cell in cells):
            return place
        if len(cells) > 1 and not cells[0].lstrip().startswith("#"):
            break
    return 0


def _preview_of(
    name: str, format: str, sheet: Sheet, rows: int | None, request: Request, encoding: str = ""
) -> Preview:
    """Return the preview of a table, of which `sheet` may be only the beginning; `rows` None: not counted."""
    role: Role = guess_role(sheet.table.column_names) if request.role == "auto" else request.role
    task = request.task
    keyed_labels.gather(sheet, role, task)
    if task is None and role == "outputs" and not is_detection(sheet.table.column_names):
        task = _outputs_task(sheet.table.column_names)
    columns, task = columns_of(sheet, role, task, request.mapping, Problems())
    names = sheet.table.column_names
    task = task or ("detection" if is_detection(names) else task_of(columns))
    scores = class_scores.class_columns(sheet, names, request.labels) if role == "outputs" and request.labels else {}
    unmapped = tuple(name for name in columns.unmapped if name not in scores.values())
    return Preview(
        name, format, role, task, tuple(names), columns.columns, columns.questions, unmapped,
        columns.ignored, rows, tuple(sheet.table.slice(0, FIRST_ROWS).to_pylist()), tuple(_list_cells(sheet, columns)),
        tuple(_preview_notes(sheet, columns, task, role)), encoding=encoding, scored=tuple(scores),
        candidates=tuple(model_columns.likely_models(sheet, None if task == "text" else task, request.mapping)),
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
    rule, items = understand(value, sheet.list_form(canonical, name))
    return ListCell(name, canonical, number, value, rule, None if items is None else tuple(items))


def _preview_notes(sheet: Sheet, columns: Columns, task: Task, role: Role) -> list[str]:
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
    if role != "suite" and (note := trace_column.describe(sheet, columns, role)):
        notes.append(note)
    return notes
