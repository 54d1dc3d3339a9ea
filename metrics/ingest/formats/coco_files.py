"""COCO JSON as uploads: ground truth is a suite, results (or annotations with scores) are outputs.

What a script has in memory is written to a file, so that it is read as files are. See coco and coco_results.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from metrics.core.files import scratch_folder
from metrics.core.suite import Outputs, Suite
from metrics.ingest.formats import coco, coco_results
from metrics.ingest.formats.coco_listing import class_facts
from metrics.ingest.formats.json_records import JSON
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import VISION, Part, need_sizes, objects_part
from metrics.ingest.reader import FIRST_ROWS, Preview, Reader, Request, Upload, need_images
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.columns import Role
from metrics.ingest.tables.object_tables import check_keypoints, check_labels

SHAPES = ("bbox", "segmentation", "keypoints")  # a record of results has one of them
AS_RECORDS = ("to_dicts", "to_pylist")  # of polars, of Arrow; pandas has to_dict("records")


def _suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    source = upload.source
    task = request.task or "detection"
    need_masks = task == "segmentation"
    cases, annotations, categories = coco.read_ground_truth(source, source.document, request.problems, need_masks)
    if not len(cases):
        raise request.problems.fail(source.name, "no usable image", "at least one", column="images")
    name, labels = request.suite_name or upload.stem, tuple(categories.labels.values())
    cases = pictures.take(cases)
    loaded = pictures.suite(source.name, name, task, cases, annotations, labels, categories.numbers)
    classes = class_facts(source.document["categories"], named=not categories.numbers)
    return replace(loaded, value=replace(loaded.value, classes=classes)) if classes else loaded


def _outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the predictions; an empty list is a model that found nothing."""
    if suite.task not in VISION:
        return JSON.outputs(upload, request, suite)
    source, model = upload.source, request.model or upload.model
    results = coco_results.results_in(source, request.problems) or []
    sheet, predictions = coco_results.read_results(source, results, request.problems, suite, model)
    check_labels(sheet, "label", predictions["label"], suite)
    need_sizes(sheet, predictions["case_id"], predictions["width"], suite.cases)
    check_keypoints(sheet, "keypoints", predictions, suite)
    return objects_part(sheet, predictions, model)


def _scored(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the predictions in a document of the form of ground truth, whose annotations have scores."""
    need_images(upload, suite)
    source, model = upload.source, request.model or upload.model
    if not coco_results.is_scored(source.document):
        expected = "results: an array of {image_id, category_id, bbox, score}, or a score in each annotation"
        raise upload.error("COCO ground truth", expected)
    sheet, predictions = coco_results.read_scored(source, source.document, request.problems, suite, model)
    check_labels(sheet, "annotations.category_id", predictions["label"], suite)
    need_sizes(sheet, predictions["case_id"], predictions["width"], suite.cases)
    check_keypoints(sheet, "annotations.keypoints", predictions, suite)
    return objects_part(sheet, predictions, model)


def _no_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    if upload.source.document == []:  # it may be of anything
        return JSON.suite(upload, request, pictures)
    raise upload.error("COCO results", "ground truth: an object with images, annotations and categories")


def _combined(upload: Upload, request: Request) -> Loaded[tuple[Suite, Outputs]]:
    if upload.source.document == []:
        return JSON.combined(upload, request)
    return GROUND_TRUTH.combined(upload, request)


def _preview(upload: Upload, name: str, role: Role, document: dict[str, Any], records: Any) -> Preview:
    counts = {name: len(value) for name, value in document.items() if isinstance(value, list)}
    listed = records if isinstance(records, list) else []
    first = [record for record in listed[:FIRST_ROWS] if isinstance(record, dict)]
    names = tuple(dict.fromkeys(name for record in first for name in record))
    raw = [{name: None if value is None else str(value)[:200] for name, value in record.items()} for record in first]
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    notes, file = (note, *upload.notes), upload.source.name
    return Preview(file, name, role, "detection", names, {}, rows=len(listed), first=tuple(raw), notes=notes)


def _preview_ground_truth(upload: Upload, _: Request) -> Preview:
    document = upload.source.document
    coco.refuse_panoptic(upload.source, document)
    role: Role = "outputs" if coco_results.is_scored(document) else "suite"
    return _preview(upload, "coco_ground_truth", role, document, document.get("annotations"))


def _preview_results(upload: Upload, _: Request) -> Preview:
    results = coco_results.results_in(upload.source, Problems())
    return _preview(upload, "coco_results", "outputs", {"results": results}, results)


@contextmanager
def written_document(given: Any, name: str) -> Iterator[Path | None]:
    """Yield a file with the ground truth or results of COCO that are in memory; None where these are none.

    Results may be a list of records, or a data frame with their keys as columns.
    """
    document = given if coco.is_ground_truth(given) else _results_in_memory(given)
    if document is None:
        yield None
        return
    with scratch_folder("coco") as folder:
        path = folder / f"{Path(name).name or 'coco'}.json"
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS))
        yield path


def _results_in_memory(given: Any) -> list[Any] | None:
    names = getattr(given, "column_names", getattr(given, "columns", None))
    if names is not None:
        names = [str(name) for name in names]
        if not {"image_id", "category_id"} <= set(names) or not set(names) & set(SHAPES):
            return None
        plain = next((getattr(given, way)() for way in AS_RECORDS if hasattr(given, way)), None)
        records = given.to_dict("records") if plain is None else plain
        return [{key: value for key, value in record.items() if not _absent(value)} for record in records]
    return given if coco_results.is_results(given) else None  # an empty list is of a model that found nothing


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


GROUND_TRUTH = Reader(
    "coco_ground_truth", lambda upload: coco.is_ground_truth(upload.source.document), _preview_ground_truth, _suite,
    _scored,
)  # fmt: skip
RESULTS = Reader(
    "coco_results", lambda upload: coco_results.results_in(upload.source) is not None, _preview_results, _no_suite,
    _outputs, _combined,
)  # fmt: skip
