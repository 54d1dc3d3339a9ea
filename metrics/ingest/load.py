"""From files to Suite and Outputs: the reader of the format, the mapping, the validation, the images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from metrics.core.errors import InputError
from metrics.core.suite import ANNOTATIONS, CASES, Outputs, Suite, Task, conform
from metrics.ingest import cells, text
from metrics.ingest.assemble import (
    VISION,
    Part,
    answered_twice,
    answers_part,
    ask,
    coco_part,
    need_rows,
    outputs_of,
    part_of,
    sizes_of,
)
from metrics.ingest.bundle import Bundle, open_bundle
from metrics.ingest.bundled import format_of, part_in, suite_in, table_source
from metrics.ingest.columns import Columns, is_detection, resolve
from metrics.ingest.formats import coco, object_tables, open_images, traces
from metrics.ingest.formats.delimited import read_delimited
from metrics.ingest.formats.json_records import load_json, read_json, read_jsonl
from metrics.ingest.formats.mask_images import picture_files
from metrics.ingest.formats.tabular import frame_sheet, read_parquet
from metrics.ingest.pictures import Pictures
from metrics.ingest.problems import Loaded, Mask, Problems, Sheet, only
from metrics.ingest.source import Source, open_source

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | Path


def load_suite(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: PathLike | None = None, name: str | None = None, keep_good_rows: bool = False,
    workspace_media: PathLike | None = None,
    filename: str | None = None, images_filename: str | None = None,
) -> Loaded[Suite]:  # fmt: skip
    """Return the suite in a file, with the problems of the rows left out. See `read_suite`."""
    problems = Problems(keep_good_rows)
    with open_bundle(path, filename) as bundle:
        kind = None if bundle is None else format_of(bundle)
        if bundle is not None and images is None and (picture_files(bundle) if kind == "masks" else bundle.images):
            images, images_filename = bundle.path, bundle.name
        pictures = Pictures(images, workspace_media, images_filename, problems)
        if bundle is None or kind is None:
            return _file_suite(open_source(path, filename), name, task, mapping, pictures)
        if kind == "table":
            return _file_suite(table_source(bundle), name or bundle.stem, task, mapping, pictures, bundle)
        return suite_in(bundle, kind, name or bundle.stem, task, pictures, problems)


def _file_suite(
    source: Source, name: str | None, task: Task | None, mapping: Mapping[str, str] | None, pictures: Pictures,
    bundle: Bundle | None = None,
) -> Loaded[Suite]:  # fmt: skip
    problems = pictures.problems
    document = load_json(source, lenient_numbers=True) if source.format == "json" else None
    if coco.is_ground_truth(document):
        cases, annotations, labels = coco.read_ground_truth(source, document, problems)
        if not len(cases):
            raise problems.fail(source.name, "no usable image", "at least one", column="images")
        cases = pictures.take(cases)
        problems.check()
        suite = Suite(
            name or source.stem, task or "detection", conform(cases, CASES), conform(annotations, ANNOTATIONS),
            tuple(labels.values()), pictures.folder, problems.left_out, tuple(labels),
        )  # fmt: skip
        return Loaded(suite, problems.listed)
    if coco.is_results(document) and document:
        raise source.error("COCO results", "ground truth: an object with images, annotations and categories")
    sheet = read_sheet(source, document, problems)
    if bundle is not None:
        open_images.name_classes(sheet, bundle)
    return suite_of(sheet, name or source.stem, task, mapping, pictures)


def load_outputs(
    paths: PathLike | Sequence[PathLike], *, suite: Suite, mapping: Mapping[str, str] | None = None,
    model_names: Mapping[PathLike, str] | None = None, keep_good_rows: bool = False,
    filenames: Mapping[PathLike, str] | None = None,
) -> Loaded[Outputs]:  # fmt: skip
    """Return the outputs in one or many files, with the problems of the rows left out. See `read_outputs`."""
    problems = Problems(keep_good_rows)
    names = {str(path): name for path, name in (filenames or {}).items()}
    renamed = {str(path): name for path, name in (model_names or {}).items()}
    parts: list[Part] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        model = renamed.get(str(path))
        try:
            with open_bundle(path, names.get(str(path))) as bundle:
                kind = "table" if bundle is None else format_of(bundle)
                if bundle is not None and kind != "table":
                    parts.append(part_in(bundle, kind, suite, model, problems))
                    continue
                source = open_source(path, names.get(str(path))) if bundle is None else table_source(bundle)
                parts.append(_file_part(source, suite, mapping, model, problems, bundle))
        except InputError as error:
            problems.absorb(error)
    problems.stop()
    return outputs_of(parts, suite, problems)


def _file_part(
    source: Source, suite: Suite, mapping: Mapping[str, str] | None, model: str | None, problems: Problems,
    bundle: Bundle | None,
) -> Part:  # fmt: skip
    document = load_json(source, lenient_numbers=True) if source.format == "json" else None
    if coco.is_ground_truth(document):
        raise source.error("COCO ground truth", "results: an array of {image_id, category_id, bbox, score}")
    if suite.task in VISION and coco.is_results(document):
        return coco_part(source, document, suite, model or (bundle.stem if bundle else None), problems)
    sheet = read_sheet(source, document, problems)
    if bundle is not None:
        open_images.name_classes(sheet, bundle)
    return part_of(sheet, suite, mapping, source.stem if bundle is None else bundle.stem, model)


def load_combined(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None, name: str | None = None,
    model_name: str | None = None, keep_good_rows: bool = False, filename: str | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Suite and outputs from one file, with the problems of the rows left out. See `read_combined`."""
    problems = Problems(keep_good_rows)
    with open_bundle(path, filename) as bundle:
        if bundle is not None and (kind := format_of(bundle)) != "table":
            raise bundle.error(f"a data set ({kind})", "ground truth and predictions in files of their own")
        source = open_source(path, filename) if bundle is None else table_source(bundle)
    stem = source.stem if bundle is None else bundle.stem
    document = load_json(source, lenient_numbers=True) if source.format == "json" else None
    if coco.is_ground_truth(document) or (coco.is_results(document) and document):
        raise source.error("a COCO file, which holds only one of them", "a file with cases and answers in every row")
    sheet = read_sheet(source, document, problems)
    return combined_of(sheet, name or stem, task, mapping, model_name or stem)


def read_sheet(source: Source, document: Any, problems: Problems) -> Sheet:
    """Return the file's table, whatever its format."""
    if source.format == "parquet":
        return read_parquet(source, problems)
    if source.format == "jsonl":
        return read_jsonl(source, problems)
    if source.format == "json":
        return read_json(source, document, problems)
    return read_delimited(source, problems)


def load_suite_frame(
    frame: "pd.DataFrame", *, name: str = "suite", task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: PathLike | None = None, keep_good_rows: bool = False, workspace_media: PathLike | None = None,
) -> Loaded[Suite]:  # fmt: skip
    """Return the suite in a data frame, with the problems of the rows left out. See `suite_from_frame`."""
    problems = Problems(keep_good_rows)
    return suite_of(
        frame_sheet(frame, name, problems), name, task, mapping, Pictures(images, workspace_media, None, problems)
    )


def load_outputs_frame(
    frame: "pd.DataFrame", *, suite: Suite, name: str = "outputs", mapping: Mapping[str, str] | None = None,
    model_name: str | None = None, keep_good_rows: bool = False,
) -> Loaded[Outputs]:  # fmt: skip
    """Return the outputs in a data frame, with the problems of the rows left out. See `outputs_from_frame`."""
    problems = Problems(keep_good_rows)
    part = part_of(frame_sheet(frame, name, problems), suite, mapping, model_name or name, None)
    return outputs_of([part], suite, problems)


def suite_of(
    sheet: Sheet, name: str, task: Task | None, mapping: Mapping[str, str] | None, pictures: Pictures
) -> Loaded[Suite]:
    """Return the suite in a sheet."""
    problems = sheet.problems
    columns = resolve(sheet.table.column_names, "suite", task, mapping, problems, sheet.file)
    ask(sheet, columns)
    need_rows(sheet)
    if task in VISION or (task is None and is_detection(_names(columns))):
        return _detection_suite(sheet, columns, name, task or "detection", pictures)
    task = task or (
        "classification" if "label" in columns.columns and "expected_answers" not in columns.columns else "text"
    )
    table = text.cases(sheet, columns, task == "classification")
    text.unique_cases(sheet, table)
    return _text_suite(sheet, table, name, task, columns)


def _text_suite(sheet: Sheet, table: pa.Table, name: str, task: Task, columns: Columns) -> Loaded[Suite]:
    sheet.leave_out()
    sheet.problems.check()
    cases = conform(sheet.good(table), CASES)
    if not len(cases):
        raise sheet.problems.fail(sheet.file, "no good row", "at least one case")
    labels = tuple(sorted(label for label in cases["label"].unique().to_pylist() if label is not None))
    suite = Suite(name, task, cases, None, labels, None, sheet.problems.left_out)
    return Loaded(suite, sheet.problems.listed, _notes(columns))


def _detection_suite(sheet: Sheet, columns: Columns, name: str, task: Task, pictures: Pictures) -> Loaded[Suite]:
    cases, index, ids = object_tables.image_cases(sheet, columns)
    cases = pictures.take(cases)
    geometry, present = object_tables.geometry(sheet, columns, ids, sizes_of(cases))
    open_images.forget_unknown_flags(sheet)
    crowd = (
        cells.flags(sheet, columns.columns["is_crowd"]) if "is_crowd" in columns.columns else np.zeros(len(sheet), bool)
    )
    sheet.leave_out()
    sheet.problems.check()
    numbered = pa.array(np.arange(1, len(sheet) + 1))
    annotations = pa.table({"case_id": ids, "annotation_id": numbered, **geometry, "is_crowd": pa.array(crowd)})
    annotations = only(annotations, present & ~sheet.bad)
    kept = np.zeros(len(cases), bool)
    kept[index[~sheet.bad]] = True
    cases = only(cases, kept)
    if not len(cases):
        raise sheet.problems.fail(sheet.file, "no good row", "at least one image")
    labels = tuple(sorted(set(annotations["label"].to_pylist())))
    suite = Suite(
        name,
        task,
        conform(cases, CASES),
        conform(annotations, ANNOTATIONS),
        labels,
        pictures.folder,
        sheet.problems.left_out,
    )
    return Loaded(suite, sheet.problems.listed, _notes(columns))


def combined_of(
    sheet: Sheet, name: str, task: Task | None, mapping: Mapping[str, str] | None, model: str
) -> Loaded[tuple[Suite, Outputs]]:
    """Suite and outputs from a sheet that has both in every row."""
    problems = sheet.problems
    if task in VISION or (task is None and is_detection(sheet.table.column_names)):
        raise problems.fail(sheet.file, "objects in images", "ground truth and predictions in files of their own")
    columns = resolve(sheet.table.column_names, "combined", task, mapping, problems, sheet.file)
    ask(sheet, columns)
    need_rows(sheet)
    columns = traces.unpack(sheet, columns, "combined")
    task = task or (
        "classification" if "label" in columns.columns and "expected_answers" not in columns.columns else "text"
    )
    suite_part = text.cases(sheet, columns, task == "classification")
    outputs_columns = columns
    if task == "classification":  # in such a file `label` is the true class, and the prediction has a column of its own
        kept = {canonical: column for canonical, column in columns.columns.items() if canonical != "label"}
        outputs_columns = Columns(kept, (), columns.unmapped, columns.ignored, columns.metadata, columns.numbered)
    outputs_part = text.outputs(sheet, outputs_columns, model, None)
    part = answers_part(sheet, outputs_columns, outputs_part, {}, task)
    suite_part, part.table, heads = text.split_combined(sheet, suite_part, outputs_part)
    text.known_cases(sheet, suite_part)
    if not heads.all():
        answered_twice([part])
    problems.check()
    good = _first_good(sheet, suite_part, heads)
    cases = conform(only(suite_part, good), CASES)
    if not len(cases):
        raise problems.fail(sheet.file, "no good row", "at least one case")
    labels = tuple(sorted(label for label in cases["label"].unique().to_pylist() if label is not None))
    suite = Suite(name, task, cases, None, labels)
    loaded = outputs_of([part], suite, problems)
    suite = Suite(name, task, cases, None, labels, left_out=problems.left_out)
    return Loaded((suite, loaded.value), loaded.problems, _notes(columns), loaded.missing)


def _first_good(sheet: Sheet, suite_part: pa.Table, heads: Mask) -> Mask:
    """Return the first good row of every case that has one."""
    if not sheet.bad.any():
        return heads
    codes, _ = cells.codes_of(suite_part["case_id"])
    rows = np.flatnonzero(~sheet.bad)
    _, first = np.unique(codes[rows], return_index=True)
    chosen = np.zeros(len(sheet), bool)
    chosen[rows[first]] = True
    return chosen


def _names(columns: Columns) -> list[str]:
    return [*columns.columns, *columns.columns.values()]


def _notes(columns: Columns) -> tuple[str, ...]:
    if not columns.ignored:
        return ()
    return ("Columns that belong to the other file of the two and were not read: " + ", ".join(columns.ignored),)
