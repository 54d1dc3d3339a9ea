"""From uploads and data frames to previews, suites and outputs: the format's reader does the work."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from metrics.core.errors import InputError
from metrics.core.receipt import sorted_receipt
from metrics.core.suite import CASES, Outputs, Suite, Task, conform
from metrics.ingest.format_table import open_upload, reader_of
from metrics.ingest.formats.coco_files import written_document
from metrics.ingest.joined_sheets import join_sheets, joined_name
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages
from metrics.ingest.output_parts import VISION, Part, outputs_of
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import combined_of, part_of, suite_of, take_images
from metrics.ingest.source import AS_IT_SEEMS, Loaded, Problems, Reading, labels_of
from metrics.ingest.tables.columns import EXPECTED, USEFUL, Role
from metrics.ingest.tables.native_types import frame_sheet
from metrics.ingest.vectors import vector_part

P = ParamSpec("P")
T = TypeVar("T")
PathLike = str | Path


def inspect(
    path: PathLike, role: Role | Literal["auto"] = "auto", filename: str | None = None,
    *, task: Task | None = None, mapping: Mapping[str, str] | None = None, reading: Reading = AS_IT_SEEMS,
    labels: Sequence[str] = (),
) -> Preview:  # fmt: skip
    """Return how an upload would be read: format, kind, mapping, questions, first rows, list cells.

    `labels` are the classes of the suite that outputs are for.
    InputError where it cannot be read at all; bad rows are no error here, the readers list them.
    """
    request = Request(Problems(keep_good_rows=True), task, mapping, role, labels=tuple(labels))
    with _opened(path, filename, reading, request.problems) as upload:
        seen = reader_of(upload).preview(upload, request)
    apart = _sheets_apart(path, filename, reading, seen, task, mapping) if role in ("auto", "combined") else None
    if apart is None:
        return seen
    cases, answers = apart
    columns = tuple(dict.fromkeys((*cases.columns, *answers.columns)))
    questions = (*cases.questions, *answers.questions)
    return replace(
        cases, role="combined", columns=columns, mapping=answers.mapping | cases.mapping, questions=questions,
        sheet=f"{cases.sheet} and {answers.sheet}",
        notes=(f"Cases of the sheet {cases.sheet}, answers of the sheet {answers.sheet}.",),
    )  # fmt: skip


def _sheets_apart(
    path: PathLike, filename: str | None, reading: Reading, seen: Preview, task: Task | None,
    mapping: Mapping[str, str] | None,
) -> tuple[Preview, Preview] | None:  # fmt: skip
    """Return the sheet of a workbook that has the cases and the one that has the answers; None where it is not so."""
    # It is where no sheet was chosen, and one alone has cases without answers and one alone answers.
    if len(seen.sheets) < 2 or reading.sheet is not None:
        return None
    found: dict[str, list[Preview]] = {}
    for name in seen.sheets:
        try:
            each = inspect(path, "auto", filename, task=task, mapping=mapping, reading=replace(reading, sheet=name))
        except InputError:
            continue
        asks = each.role == "combined" and EXPECTED.isdisjoint(each.mapping)  # with questions, to tell the cases
        kind = "outputs" if asks else "combined" if each.role == "suite" and each.candidates else each.role
        found.setdefault(kind, []).append(each)
    outputs = found.get("outputs", [])
    suites = [each for each in found.get("suite", []) if not USEFUL.isdisjoint(each.mapping)]
    return (suites[0], outputs[0]) if len(suites) == len(outputs) == 1 and "combined" not in found else None


def load_suite(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: PathLike | None = None, name: str | None = None, keep_good_rows: bool = False,
    workspace_media: PathLike | None = None,
    filename: str | None = None, images_filename: str | None = None, reading: Reading = AS_IT_SEEMS,
) -> Loaded[Suite]:  # fmt: skip
    """Return the suite in a CSV, JSONL, JSON, YAML, Parquet, Arrow, Excel or COCO file, or in a folder or zip.

    A folder or zip holds YOLO labels, Pascal VOC annotations or those of another tool (docs/formats.md), indexed PNG
    masks, or one table such as an Open Images CSV, and may hold the images too. JSON may also be an H2O test suite.
    `mapping` {canonical: column} goes before the automatic one; `metadata.NAME` as canonical keeps a column as
    metadata, `context_#` as column stands for context_1, context_2, …. Other columns are kept as metadata.*. `images`
    is a folder or zip: the images found are stored in `workspace_media`, which becomes `Suite.media`; where None, in a
    temporary folder that is removed when the process ends. `cases.image` is then the stored file's name,
    `metadata.image_name` always the upload's. `filename` is the user's name of the file, for messages. `reading` says
    the encoding of a text and the sheet of a workbook, where the ones found are wrong. Rows are numbered where a file
    has no case ids.

    Raises InputError with every problem; with `keep_good_rows` only where no valid row is left or the file as a whole
    cannot be used, and `Suite.left_out` counts the bad rows. `load_suite` also returns the problems of these rows,
    `read_suite` the suite alone.
    """
    request = Request(Problems(keep_good_rows), task, mapping, "suite", suite_name=name)
    with _opened(path, filename, reading, request.problems) as upload:
        reader, given = reader_of(upload), images
        if images is None and upload.bundle is not None and reader.images(upload.bundle):
            images, images_filename = upload.bundle.path, upload.bundle.name
        pictures = SuiteImages(images, workspace_media, images_filename, request.problems)
        loaded = reader.suite(upload, request, pictures)
        _note_rest(upload, reader, request.problems, loaded.value)
        if given:
            _need_images(pictures, loaded.value.task)
        suite = replace(loaded.value, receipt=request.problems.receipt)
        return replace(loaded, value=suite, notes=(*upload.notes, *loaded.notes))


def load_outputs(
    paths: PathLike | Sequence[PathLike], *, suite: Suite, mapping: Mapping[str, str] | None = None,
    mappings: Mapping[PathLike, Mapping[str, str]] | None = None,
    model_names: Mapping[PathLike, str] | None = None, keep_good_rows: bool = False,
    filenames: Mapping[PathLike, str] | None = None, readings: Mapping[PathLike, Reading] | None = None,
    keep_unknown_classes: bool = False,
) -> Loaded[Outputs]:  # fmt: skip
    """Return the outputs of one or many models in one or many uploads, checked against the suite.

    `mapping` is of every file, `mappings` {path: mapping} of one, in its place.
    The model is the `model` column, else the file's name without extension; `model_names` {path: name} replaces it, and
    `filenames` {path: name} gives the user's names of the files, `readings` {path: reading} what `load_suite` takes for
    one. In classification the predictions are rows (label, score), a score column for each class, or an answer alone,
    without a score; in detection every case has a row for every model. A folder or zip holds YOLO labels with
    confidences, indexed PNG masks (of one model, or a folder for each), or one table. In segmentation a model has an
    output for each of its masks or, with rows of regions, for every image;
    a region needs no score.

    Unknown cases, unknown classes of objects (unless `keep_unknown_classes`: then metrics.ingest.lint says what they
    are and settles what becomes of them), and two answers for one case, model and run are problems; cases without
    an answer are not, `Loaded.missing` counts them. InputError as in `load_suite`; `read_outputs` returns the outputs
    alone.
    """
    problems = _problems(keep_good_rows, None, suite, keep_unknown_classes)
    names = {str(path): name for path, name in (filenames or {}).items()}
    models = {str(path): name for path, name in (model_names or {}).items()}
    files = [paths] if isinstance(paths, str | Path) else paths
    labels = labels_of(map(str, files), names)
    given = {str(path): reading for path, reading in (readings or {}).items()}
    mapped = {str(path): own for path, own in (mappings or {}).items()}
    parts: list[Part] = []
    notes: list[str] = []
    for path in files:
        own = mapped.get(str(path), mapping)
        request = Request(problems, suite.task, own, "outputs", model=models.get(str(path)))
        try:
            reading = given.get(str(path), AS_IT_SEEMS)
            reading = reading if reading.label else replace(reading, label=labels[str(path)])
            with _opened(path, names.get(str(path)), reading, problems) as upload:
                reader = reader_of(upload)
                parts.append(reader.outputs(upload, request, suite))
                _note_rest(upload, reader, problems)
                notes += upload.notes
        except InputError as error:
            problems.absorb(error)
    loaded = outputs_of(parts, suite, problems)
    outputs = replace(loaded.value, receipt=problems.receipt)
    return replace(loaded, value=outputs, notes=(*notes, *loaded.notes))


def load_combined(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None, name: str | None = None,
    model_name: str | None = None, keep_good_rows: bool = False, filename: str | None = None,
    reading: Reading = AS_IT_SEEMS, workspace_media: PathLike | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Return suite and outputs from one file that has case and answer in every row; each case is taken once.

    The images that a zip has beside the table are stored as `load_suite` does.

    promptfoo's results, H2O's test labs, Inspect's logs and LangSmith's runs are such files. Suite values that differ
    between rows of one case are problems. A metadata column belongs to the cases where it is the same in all rows of
    every case, else to the outputs. Without case ids the questions are numbered. InputError as in `load_suite`;
    `read_combined` returns the two alone.
    """
    problems = Problems(keep_good_rows)
    request = Request(problems, task, mapping, "combined", name, model_name, media=workspace_media)
    with _opened(path, filename, reading, problems) as upload:
        reader = reader_of(upload)
        seen = reader.preview(upload, replace(request, problems=Problems(True))) if upload.is_workbook else None
        apart = seen and _sheets_apart(path, filename, reading, seen, task, mapping)
        if apart:
            return _of_sheets(apart, path, filename, reading, request)
        loaded = reader.combined(upload, request)
        _note_rest(upload, reader, problems, loaded.value[0] if loaded.value[0].media else None)
        found = replace(_with_receipt(loaded, problems), notes=tuple(dict.fromkeys((*upload.notes, *loaded.notes))))
        if upload.bundle is None or loaded.value[0].media or not reader.images(upload.bundle):
            return found
        pictures = SuiteImages(upload.bundle.path, workspace_media, upload.bundle.name, Problems(keep_good_rows))
        return _with_pictures(found, pictures)


def _of_sheets(
    sheets: tuple[Preview, Preview], path: PathLike, filename: str | None, reading: Reading, request: Request
) -> Loaded[tuple[Suite, Outputs]]:
    cases, answers = (replace(reading, sheet=each.sheet) for each in sheets)
    keep, mapping = request.problems.keep_good_rows, request.mapping
    suite = load_suite(
        path, task=request.task, mapping=mapping, name=request.suite_name, keep_good_rows=keep, filename=filename,
        reading=cases,
    )  # fmt: skip
    model = None if "model" in sheets[1].mapping or sheets[1].candidates else request.model or sheets[1].sheet
    outputs = load_outputs(
        path, suite=suite.value, mapping=mapping, keep_good_rows=keep, readings={path: answers},
        filenames={path: filename} if filename else None, model_names={path: model} if model else None,
        keep_unknown_classes=True,
    )  # fmt: skip
    read = {f"sheet {each.sheet}" for each in sheets}
    every = (*suite.value.receipt, *outputs.value.receipt)
    receipt = [line for line in every if line.place not in read or line.use == "used"]
    both = (replace(suite.value, receipt=sorted_receipt(dict.fromkeys(receipt))), replace(outputs.value, receipt=()))
    return Loaded(both, (*suite.problems, *outputs.problems), (), outputs.missing)


def with_images(
    loaded: Loaded[tuple[Suite, Outputs]], images: PathLike, *, keep_good_rows: bool = False,
    workspace_media: PathLike | None = None, filename: str | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Return suite and outputs that were one table with the images of the cases, as `load_suite` takes them."""
    pictures = SuiteImages(images, workspace_media, filename, Problems(keep_good_rows))
    found = _with_pictures(loaded, pictures)
    _need_images(pictures, found.value[0].task)
    return found


def _with_pictures(loaded: Loaded[tuple[Suite, Outputs]], pictures: SuiteImages) -> Loaded[tuple[Suite, Outputs]]:
    suite, outputs = loaded.value
    cases = conform(take_images(suite.cases, suite.task == "classification", pictures), CASES)
    problems = pictures.problems
    problems.check()
    seen = replace(suite, cases=cases, media=pictures.folder, receipt=(*suite.receipt, *problems.receipt))
    notes = (*loaded.notes, *pictures.notes(len(suite)))
    return Loaded((seen, outputs), (*loaded.problems, *problems.listed), notes, loaded.missing)


def _need_images(pictures: SuiteImages, task: Task) -> None:
    name = pictures.filename or Path(str(pictures.images)).name
    if not pictures.looked_for:
        expected = "cases with images: a column image, or objects"
        raise pictures.problems.fail(name, f"images for a suite of {task}", expected)
    if not pictures.fitting:
        raise pictures.problems.fail(name, "no image of any case", "images with the names that the suite has")


def load_joined(
    paths: Sequence[PathLike], *, task: Task | None = None,
    mappings: Mapping[PathLike, Mapping[str, str]] | None = None,
    model_names: Mapping[PathLike, str] | None = None, name: str | None = None, keep_good_rows: bool = False,
    filenames: Mapping[PathLike, str] | None = None, readings: Mapping[PathLike, Reading] | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Return suite and outputs from several files that each have case and answer in every row, of a model each.

    The suite has the cases of all; a file without case ids is joined by its questions, which then are unique in it. The
    model is the column `model`, else what the file is named for, or what `model_names` says. Otherwise as
    `load_combined`.
    """
    problems = Problems(keep_good_rows)
    labels = labels_of(map(str, paths), {str(path): called for path, called in (filenames or {}).items()})
    sheets: list[Sheet] = []
    models: list[str] = []
    stems: list[str] = []
    notes: list[str] = []
    for path in paths:
        reading = (readings or {}).get(path, AS_IT_SEEMS)
        reading = reading if reading.label else replace(reading, label=labels[str(path)])
        try:
            with _opened(path, (filenames or {}).get(path), reading, problems) as upload:
                reader = reader_of(upload)
                if reader.sheet is None:
                    found = f"a file of the format {reader.name}"
                    raise upload.error(found, "tables of cases and answers, or it alone")
                sheets.append(reader.sheet(upload.source, problems))
                models.append((model_names or {}).get(path) or upload.model)
                stems.append(upload.stem)
                notes += upload.notes
        except InputError as error:
            problems.absorb(error)
    problems.stop()
    given = [(mappings or {}).get(path) for path in paths]
    sheet = join_sheets(sheets, models, problems, task, given)
    problems.answers[sheet.file] = {name: text for own in problems.answers.values() for name, text in own.items()}
    loaded = combined_of(sheet, name or joined_name(stems), task, given[0], models[0])
    return replace(_with_receipt(loaded, problems), notes=(*notes, *loaded.notes))


@contextmanager
def _opened(path: PathLike, filename: str | None, reading: Reading, problems: Problems) -> Iterator[Upload]:
    """Yield an upload as `open_upload` does; the problems know a person's answers to questions about it."""
    with open_upload(path, filename, reading) as upload:
        problems.answers[upload.name] = reading.answers
        yield upload


def _with_receipt(loaded: Loaded[tuple[Suite, Outputs]], problems: Problems) -> Loaded[tuple[Suite, Outputs]]:
    suite, outputs = loaded.value
    return replace(loaded, value=(replace(suite, receipt=problems.receipt), outputs))


def _note_rest(upload: Upload, reader: Reader, problems: Problems, suite: Suite | None = None) -> None:
    """Say which files of a folder or zip were not read, and as what a text was decoded where somebody chose that."""
    if upload.bundle is not None:
        names = [name for name in (IMAGE_NAME, "case_id") if suite is not None and name in suite.cases.column_names]
        known = [name for column in names for name in suite.cases[column].to_pylist()] if suite is not None else []
        why = "no object or label file is of them" if suite is not None else "the images are the suite's"
        upload.bundle.note_unused(problems, known, why, reader.name)
    if upload.decoded_as:
        problems.note(upload.name, "encoding", "used", f"{upload.decoded_as}, as you said", question="encoding")


def _value_of(load: Callable[P, Loaded[T]]) -> Callable[P, T]:
    """Return the function that reads as `load` does and returns the value alone."""

    @wraps(load)
    def read(*args: P.args, **kwargs: P.kwargs) -> T:
        return load(*args, **kwargs).value

    read.__name__ = read.__qualname__ = load.__name__.replace("load_", "read_")
    return read


read_suite = _value_of(load_suite)
read_outputs = _value_of(load_outputs)
read_combined = _value_of(load_combined)


def suite_from_frame(
    frame: Any, *, name: str = "suite", task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: str | Path | None = None, keep_good_rows: bool = False, workspace_media: str | Path | None = None,
    answers: Mapping[str, str] | None = None,
) -> Suite:  # fmt: skip
    """Return the suite in a table in memory, as `read_suite`; messages count rows from 1.

    `frame` is a data frame of pandas or polars, an Arrow table, a list of dictionaries, a Hugging Face Dataset (class
    labels become their names) or anything else with `__arrow_c_stream__`, or a COCO ground truth as a dictionary.
    `answers` are to questions about the table.
    """
    with written_document(frame if isinstance(frame, dict) else None, name) as path:
        if path is not None:
            return load_suite(
                path, task=task, images=images, name=name, keep_good_rows=keep_good_rows,
                workspace_media=workspace_media, reading=Reading(answers=answers or {}),
            ).value  # fmt: skip
    sheet = frame_sheet(frame, name, _problems(keep_good_rows, answers))
    pictures = SuiteImages(images, workspace_media, None, sheet.problems)
    return replace(suite_of(sheet, name, task, mapping, pictures).value, receipt=sheet.problems.receipt)


def outputs_from_frame(
    frame: Any, *, suite: Suite, name: str = "outputs", mapping: Mapping[str, str] | None = None,
    model_name: str | None = None, keep_good_rows: bool = False, keep_unknown_classes: bool = False,
    answers: Mapping[str, str] | None = None,
) -> Outputs:  # fmt: skip
    """Return the outputs in a table in memory, as `read_outputs`; `frame` as in `suite_from_frame`.

    Without a column `model` the model is `model_name`, or `model`. {model: frame} has a frame of each model, or a list,
    array or series of its answers in the order of the cases. COCO results may be a list or data frame of records.
    """
    problems = _problems(keep_good_rows, answers, suite, keep_unknown_classes)
    if isinstance(frame, Mapping):
        parts = [_part_in_memory(own, str(model), suite, mapping, str(model), problems) for model, own in frame.items()]
    else:
        parts = [_part_in_memory(frame, name, suite, mapping, None, problems, model_name or "model")]
    return replace(outputs_of(parts, suite, problems).value, receipt=problems.receipt)


def _part_in_memory(
    given: Any, name: str, suite: Suite, mapping: Mapping[str, str] | None, renamed: str | None, problems: Problems,
    model: str = "",
) -> Part:  # fmt: skip
    """Return the outputs in a table, COCO results or answers in order; `model` where they do not name theirs."""
    with written_document(given if suite.task in VISION else None, name) as path:
        if path is not None:
            request = Request(problems, suite.task, None, "outputs", model=renamed or model)
            with _opened(path, None, Reading(answers=problems.answers[""]), problems) as upload:
                reader = reader_of(upload)
                part = reader.outputs(upload, request, suite)
                _note_rest(upload, reader, problems)
                return part
    answers = None if hasattr(given, "columns") else vector_part(given, renamed or model, suite, problems)
    known = suite.cases["case_id"].to_pylist() if hasattr(given, "iloc") else None
    return answers or part_of(frame_sheet(given, name, problems, known), suite, mapping, renamed or model, renamed)


def combined_from_frame(
    frame: Any, *, task: Task | None = None, mapping: Mapping[str, str] | None = None, keep_good_rows: bool = False,
    answers: Mapping[str, str] | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Return suite and outputs from a table in memory that has case and answer in every row, as `load_combined`.

    `frame` as in `suite_from_frame`. Without a column `model` the model is `model`.
    """
    sheet = frame_sheet(frame, "suite", _problems(keep_good_rows, answers))
    return _with_receipt(combined_of(sheet, "suite", task, mapping, "model"), sheet.problems)


def _problems(
    keep_good_rows: bool, answers: Mapping[str, str] | None, suite: Suite | None = None, keep_unknown: bool = False
) -> Problems:
    problems = Problems(keep_good_rows)
    problems.answers[""] = answers or {}
    if suite is not None:
        problems.keep_unknown_classes = keep_unknown and suite.task in VISION and not suite.label_keys
    return problems
