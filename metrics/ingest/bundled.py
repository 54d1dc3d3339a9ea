"""Which format a folder or zip holds, and its suite, outputs or preview."""

from typing import Literal

import numpy as np
import pyarrow as pa

from metrics.core.suite import ANNOTATIONS, CASES, Suite, Task, conform
from metrics.ingest.archive import Entry
from metrics.ingest.assemble import VISION, Part, objects_part, part_of
from metrics.ingest.bundle import EXPECTED, Bundle
from metrics.ingest.formats import mask_images, traces, voc, yolo
from metrics.ingest.formats.open_images import DESCRIPTIONS
from metrics.ingest.pictures import Pictures
from metrics.ingest.problems import Loaded, Problems
from metrics.ingest.source import MAX_JSON_BYTES, Source, open_source, source_of

BundleFormat = Literal["masks", "yolo", "pascal_voc", "traces", "table"]
TABLE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")


def format_of(bundle: Bundle) -> BundleFormat:
    """Return what the bundle holds, told by its files; InputError where that is nothing known, or several things."""
    if mask_images.recognises(bundle):
        return "masks"
    found: list[BundleFormat] = []
    if yolo.recognises(bundle):
        found.append("yolo")
    if voc.recognises(bundle):
        found.append("pascal_voc")
    if not found and _tables(bundle):
        found.append("traces" if traces.recognises(bundle) else "table")
    if len(found) == 1:
        return found[0]
    count = len(bundle.entries)
    some = ", ".join(entry.name for entry in bundle.entries[:3])
    what = "both YOLO labels and Pascal VOC annotations" if found else f"{count:,} files ({some}{', …' * (count > 3)})"
    raise bundle.error(what if count else "no files", "one of them" if found else EXPECTED)


def table_source(bundle: Bundle) -> Source:
    """Return the bundle's only table."""
    tables = _tables(bundle)
    if len(tables) > 1:
        names = ", ".join(entry.name for entry in tables[:5])
        raise bundle.error(f"{len(tables)} tables: {names}", "one table, or each uploaded by itself")
    name = bundle.file(tables[0])
    if bundle.path.is_dir():
        return open_source(bundle.path / tables[0].name, name)
    problems = Problems()
    data = bundle.data(tables[0], problems, MAX_JSON_BYTES)
    problems.check()
    return source_of(bundle.path / tables[0].name, name, pa.py_buffer(data or b""))


def suite_in(
    bundle: Bundle, kind: BundleFormat, name: str, task: Task | None, pictures: Pictures, problems: Problems
) -> Loaded[Suite]:
    """Return the suite in a bundle of indexed masks, YOLO labels or VOC annotations."""
    if kind == "traces":
        raise bundle.error("traces, which are outputs", "a suite: a table of cases")
    if kind == "masks":
        return _masks_suite(bundle, name, pictures, problems)
    reader = yolo if kind == "yolo" else voc
    cases, annotations, labels = reader.read_ground_truth(bundle, problems, pictures)
    problems.check()
    if not len(cases):
        raise problems.fail(bundle.name, "no good image", "at least one")
    notes: tuple[str, ...] = ()
    if voc.DIFFICULT in annotations.column_names:
        difficult = annotations[voc.DIFFICULT].to_pylist().count("1")
        notes = (
            f"{difficult:,} objects are marked difficult; they count as all others do, unlike in VOC's own score.",
        )
    suite = Suite(
        name, task or "detection", conform(cases, CASES), conform(annotations, ANNOTATIONS), labels, pictures.folder,
        problems.left_out, tuple(range(len(labels))) if kind == "yolo" else (),
    )  # fmt: skip
    return Loaded(suite, problems.listed, notes)


def _masks_suite(bundle: Bundle, name: str, pictures: Pictures, problems: Problems) -> Loaded[Suite]:
    cases, annotations, classes = mask_images.read_ground_truth(bundle, problems, pictures)
    problems.check()
    if not len(cases):
        raise problems.fail(bundle.name, "no good mask", "at least one")
    suite = Suite(
        name, "segmentation", conform(cases, CASES), conform(annotations, ANNOTATIONS), tuple(classes.values()),
        pictures.folder, problems.left_out, tuple(classes),
    )  # fmt: skip
    return Loaded(suite, problems.listed)


def part_in(bundle: Bundle, kind: BundleFormat, suite: Suite, renamed: str | None, problems: Problems) -> Part:
    """Return the predictions in a bundle of indexed masks or YOLO labels; the traces in one of these."""
    if kind == "traces":
        return part_of(traces.read_bundle(bundle, problems), suite, None, bundle.stem, renamed)
    if kind == "masks" and suite.task == "segmentation":
        sheet, table, predictions, which = mask_images.read_predictions(bundle, problems, suite, renamed or bundle.stem)
        return Part(sheet, table, predictions, which)
    if suite.task not in VISION:
        raise bundle.error("labels of objects in images", f"outputs for a suite of {suite.task}")
    if kind != "yolo":
        found = "Pascal VOC annotations, which have no scores" if kind == "pascal_voc" else "images, and no labels"
        raise bundle.error(found, "YOLO labels with confidences, or a table")
    model = renamed or bundle.stem
    sheet, predictions = yolo.read_predictions(bundle, problems, suite, model)
    return objects_part(sheet, predictions, model)


def facts_of(bundle: Bundle, kind: BundleFormat) -> tuple[bool, pa.Table, int, str]:
    """For a preview: whether the objects have scores, the objects as text, their number, and a note."""
    problems = Problems(keep_good_rows=True)
    images = f"{len(bundle.images):,} images"
    if kind == "pascal_voc":
        sheet, facts, _ = voc.read_objects(bundle, problems)
        table = sheet.table
        note = f"{len(facts):,} annotation files, {images}"
        scored = False
    else:
        sheet, _ = yolo.read_lines(bundle, problems, scored=None)
        scored = bool(sheet.table["conf"].null_count < len(sheet))
        shown = [*yolo.FIELDS, *(["conf"] if scored else [])]
        table = sheet.table.select(shown)
        names = yolo.class_names(bundle, problems)
        classes = "no names of classes" if names is None else f"{len(names):,} classes"
        note = f"{len(sheet.files):,} label files, {classes}, {images}"
    files = np.array(sheet.files, object)[sheet.which]
    return scored, table.add_column(0, "file", pa.array(files, pa.string())), len(sheet), note


def _tables(bundle: Bundle) -> list[Entry]:
    return [entry for entry in bundle.ending(*TABLE_SUFFIXES) if not entry.base.lower().startswith(DESCRIPTIONS)]
