"""COCO JSON: ground truth (images, annotations, categories) and results; every bad value listed with its index."""

from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.core.errors import InputError
from metrics.core.suite import METADATA, STRINGS
from metrics.ingest.arrays import only
from metrics.ingest.formats.coco_listing import Listing, Sizes, checked_labels, image_name, names
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Source, load_json, open_source
from metrics.ingest.tables.object_tables import SIDES, find_cases, sizes_of
from metrics.vision.coco_columns import (
    Fault,
    GroundTruth,
    IouType,
    Results,
    annotation_faults,
    category_faults,
    codes_of,
    crowd_faults,
    image_faults,
    member_faults,
    pixel_faults,
    score_faults,
    size_faults,
)
from metrics.vision.masks import Masks, Shapes, draw

IMAGE, OWN_IMAGE = "the id of an image in images", "the id of an image of the suite"
RESULT = ("bbox", "segmentation", "keypoints", "score")  # a result has one of these
UNKNOWN_CATEGORY = "category_id {}"  # a class of predictions that the suite does not have
CATEGORY, OWN_CATEGORY = "the id of a category", "the id of a category of the suite"


def is_ground_truth(document: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON document is COCO ground truth."""
    found = document.keys() if isinstance(document, dict) else set()
    return "images" in found and not found.isdisjoint(("annotations", "categories"))


def is_results(document: Any) -> TypeGuard[list[Any]]:
    """Return whether a JSON document is a list of COCO results; an empty list is one, of a model that found nothing."""
    if not isinstance(document, list):
        return False
    first = document[0] if document else {"image_id": 0, "bbox": 0}
    return isinstance(first, dict) and "image_id" in first and not first.keys().isdisjoint(RESULT)


def refuse_panoptic(source: Source, document: dict[str, Any]) -> None:
    """Raise InputError for panoptic segments without their maps."""
    listed = document.get("annotations")
    first = listed[0] if isinstance(listed, list) and listed else None
    if isinstance(first, dict) and "segments_info" in first:
        expected = "a folder or zip of this JSON and the PNG maps that it names"
        raise source.error("COCO panoptic segments", expected)


def read_ground_truth(
    source: Source, document: dict[str, Any], problems: Problems
) -> tuple[pa.Table, pa.Table, dict[int, str]]:
    """Return the cases by image id, the annotations in file order, and the labels by category id, both ascending."""
    refuse_panoptic(source, document)
    images, annotations, labels = _listings(source, document, problems)
    ids, sizes = _images(images, sized=True)
    files, tags = [image_name(record) for record in images.records], images.values("tags")
    images.wrong(_not_text(files), "file_name", files, "the name of the image file")
    images.wrong(_not_tags(tags), "tags", tags, 'a list of texts such as ["night", "rain"]')
    checked = checked_labels(images, labels)
    sides = np.minimum(sizes, 2**31 - 1).astype(np.int32)
    cases = pa.table(
        {
            "case_id": pa.array(ids).cast(pa.string()),
            "image_width": pa.array(sides[:, 1]),
            "image_height": pa.array(sides[:, 0]),
            METADATA + "image_name": pa.array([name if isinstance(name, str) else None for name in files], pa.string()),
            **({"tags": _tags(tags, images.bad)} if any(tags) else {}),
            **checked,
        }
    )
    order = _ascending(ids, ~images.bad)
    found = _annotations(annotations, ids[order], sizes[order], labels, OWN_CATEGORY)
    table = {
        "case_id": pa.array(found.image_ids).cast(pa.string()),
        "annotation_id": pa.array(found.ids),
        "label": _label_column(labels, found.category),
        **found.shapes,
        "is_crowd": pa.array(found.crowd),
    }
    for listing in (images, annotations):
        listing.leave_out()
    return cases.take(pa.array(order)), only(pa.table(table), ~annotations.bad), labels


def read_rag_results(
    source: Source, document: list[Any], problems: Problems, sizes: dict[str, tuple[int, int]], labels: dict[int, str],
    model: str,
) -> tuple[Sheet, pa.Table]:  # fmt: skip
    """Return the predictions in file order; `sizes` are (height, width) by case id, `labels` go by category id.

    Without labels the suite is not from COCO, and the records name theirs.
    """
    listing = Listing(source, "", document, problems)
    cases = {int(case): case for case in sizes if case.isascii() and case.isdigit()}  # 000139 is the image 139
    by_id = {number: sizes[case] for number, case in cases.items()}
    image_ids = listing.integers("image_id")
    known = np.sort(np.fromiter(by_id, np.int64, len(by_id)))
    places = codes_of(image_ids, known)
    listing.apply(member_faults("image_id", places, OWN_IMAGE))
    case_ids = pa.array([cases[number] for number in known.tolist()], pa.string())
    if labels:
        label = _predicted_labels(listing, labels)
    else:
        given = any("label" in record for record in listing.records)
        texts = listing.values("label" if given else "category_name")
        expected = "a label (the suite is not from COCO, so a category_id has no meaning)"
        listing.wrong(_not_text(texts), "label", texts, expected)
        label = pa.array([text if isinstance(text, str) else None for text in texts], pa.string())
    score = listing.floats("score")
    listing.apply(score_faults(score))
    shapes = listing.shapes(image_ids, by_id, guessed=True)
    models = [value if isinstance(value, str) and value else model for value in listing.values("model")]
    case_id = case_ids.take(pa.array(places, mask=places < 0))
    columns = {"case_id": case_id, "model": pa.array(models, pa.string()), "label": label}
    return listing, pa.table({**columns, "score": pa.array(score), **shapes})


def is_scored(document: dict[str, Any]) -> bool:
    """Return whether the annotations of a document of COCO's form have scores: it is a model's."""
    listed = document.get("annotations")
    return isinstance(listed, list) and any(isinstance(record, dict) and "score" in record for record in listed)


def read_scored(
    source: Source, document: dict[str, Any], problems: Problems, cases: pa.Table, model: str
) -> tuple[Sheet, pa.Table]:
    """Return the annotations of a model as predictions for `cases`, in file order.

    Images go by their file names, without one by their ids, and classes by their names: the numbers are the file's own.
    """
    images, annotations, labels = _listings(source, document, problems)
    ids, _ = _images(images, sized=False)
    named = pa.array(
        [name if isinstance(name, str) and name else None for name in images.values("file_name")], pa.string()
    )
    index = find_cases(pc.coalesce(named, pa.array(ids).cast(pa.string())), cases)
    image_ids = annotations.integers("image_id")
    order = _ascending(ids, ~images.bad)
    codes = codes_of(image_ids, ids[order])
    annotations.apply(member_faults("image_id", codes, IMAGE))
    row = np.full(len(annotations), -1, np.int64)
    row[codes >= 0] = np.asarray(index.fill_null(-1))[order][codes[codes >= 0]]
    annotations.wrong((row < 0) & ~annotations.bad, "image_id", annotations.values("image_id"), OWN_IMAGE)
    known = sizes_of(cases)
    places = cases["case_id"].to_pylist()
    sizes = {int(ids[at]): known[places[case]][::-1] for at, case in enumerate(index.to_pylist())
             if case is not None and places[case] in known}  # fmt: skip
    label = _label_column(labels, _categories(annotations, labels, CATEGORY))
    score = annotations.floats("score")
    annotations.apply(score_faults(score))
    shapes = annotations.shapes(image_ids, sizes, guessed=True)
    case_ids = cases["case_id"].take(pa.array(row, mask=row < 0))
    models = pa.repeat(model, len(annotations))
    columns = {"case_id": case_ids, "model": models, "label": label, "score": pa.array(score), **shapes}
    return annotations, pa.table(columns)


def read_columns(gt_json: Path, results_json: Path, iou_type: IouType) -> tuple[GroundTruth, Results]:
    """Return both files as columns of numbers; InputError listing every problem of both."""
    problems = Problems()
    truth = found = None
    try:
        truth = _truth_columns(gt_json, iou_type, problems)
    except InputError as error:
        problems.absorb(error)
    try:
        found = _result_columns(results_json, truth, iou_type, problems)
    except InputError as error:
        problems.absorb(error)
    problems.check()
    assert truth is not None  # else there was a problem
    assert found is not None
    return truth, found


def _truth_columns(path: Path, iou_type: IouType, problems: Problems) -> GroundTruth:
    source = open_source(path)
    document = load_json(source)
    if not is_ground_truth(document):
        raise source.error(_kind(document), "COCO ground truth: an object with images, annotations and categories")
    images, annotations, labels = _listings(source, document, problems)
    masks = iou_type == "segm"
    ids, sizes = _images(images, sized=masks)
    if masks:
        images.apply(pixel_faults(sizes))
    order = _ascending(ids, ~images.bad)
    ids, sizes = ids[order], sizes[order]
    found = _annotations(annotations, ids, sizes, labels, CATEGORY, masks)
    box, area = _boxes(found.shapes), found.shapes["area"].to_numpy()
    drawn = _drawn(found.shapes, box, sizes, found.image) if masks and not annotations.bad.any() else None
    categories = np.fromiter(labels, np.int64, len(labels))
    return GroundTruth(
        ids, sizes, categories, tuple(labels.values()), found.image, found.category, box, area, found.crowd, drawn
    )


def _result_columns(path: Path, truth: GroundTruth | None, iou_type: IouType, problems: Problems) -> Results:
    source = open_source(path)
    document = load_json(source)
    if not isinstance(document, list):
        raise source.error(_kind(document), "COCO results: an array of objects with image_id, category_id, score")
    listing = Listing(source, "", document, problems)
    score = listing.floats("score")
    listing.apply(score_faults(score))
    if truth is None:  # what the results point to is unknown
        listing.boxes()
        raise InputError(problems.listed)
    image_ids = listing.integers("image_id")
    image = codes_of(image_ids, truth.image_ids)
    listing.apply(member_faults("image_id", image, IMAGE))
    category = _categories(listing, dict(zip(truth.category_ids.tolist(), truth.labels, strict=True)), CATEGORY)
    masks = iou_type == "segm"
    shapes = listing.shapes(image_ids, _by_id(truth.image_ids, truth.sizes), masks)
    box = _boxes(shapes)
    drawn = _drawn(shapes, box, truth.sizes, image) if masks and not listing.bad.any() else None
    boxed = not masks or not document or bool(listing.records[0].get("bbox"))
    return Results(image, category, box, score, boxed, drawn)


class _Annotations(NamedTuple):
    """Annotations in file order: ids, image ids and their codes, codes of categories, crowds, Listing.shapes."""

    ids: Ints
    image_ids: Ints
    image: Int32s
    category: Int32s
    crowd: Bools
    shapes: dict[str, pa.Array]


def _listings(source: Source, document: dict[str, Any], problems: Problems) -> tuple[Listing, Listing, dict[int, str]]:
    """Return the images, the annotations, and the labels by ascending category id.

    Wrong categories are fatal: annotations rest on them, so none can be left out.
    """
    categories = Listing(source, "categories", document.get("categories"), problems)
    images = Listing(source, "images", document.get("images"), problems)
    annotations = Listing(source, "annotations", document.get("annotations", []), problems)
    problems.stop()
    ids, texts = categories.integers("id"), categories.values("name")
    categories.apply(category_faults(ids, names(texts)))
    if categories.bad.any():
        problems.fatal = True
        problems.stop()
    return images, annotations, {int(ids[place]): texts[place] for place in np.argsort(ids, kind="stable")}


def _images(listing: Listing, sized: bool) -> tuple[Ints, Ints]:
    """Return the ids of the images and their sizes [I, 2] (height, width), 0 where these are not needed."""
    ids = listing.integers("id")
    listing.apply(image_faults(ids))
    if not sized:
        return ids, np.zeros((len(ids), 2), np.int64)
    sizes = np.column_stack([listing.integers("height"), listing.integers("width")])
    listing.apply(size_faults(sizes))
    return ids, sizes


def _annotations(
    listing: Listing, known: Ints, sizes: Ints, labels: dict[int, str], categories: str, masks: bool = True
) -> _Annotations:
    """Return the annotations of the images with the ids `known`, ascending, and the sizes [I, 2]."""
    ids = listing.integers("id")
    listing.apply(annotation_faults(ids))
    image_ids = listing.integers("image_id")
    image = codes_of(image_ids, known)
    listing.apply(member_faults("image_id", image, IMAGE))
    category = _categories(listing, labels, categories)
    flags = listing.integers("iscrowd", default=0)
    listing.apply(crowd_faults(flags))
    shapes = listing.shapes(image_ids, _by_id(known, sizes), masks)
    return _Annotations(ids, image_ids, image, category, flags == 1, shapes)


def _predicted_labels(listing: Listing, labels: dict[int, str]) -> pa.Array:
    """Return the label of each result; where unknown classes are kept, those are named by their number."""
    if not listing.problems.keep_unknown_classes:
        return _label_column(labels, _categories(listing, labels, OWN_CATEGORY))
    numbers = listing.integers("category_id")
    listing.apply([Fault("category_id", numbers < 0, OWN_CATEGORY)])
    known, places = np.unique(numbers, return_inverse=True)
    names = [labels.get(number, UNKNOWN_CATEGORY.format(number)) for number in known.tolist()]
    return pa.array(names, pa.string()).take(pa.array(places))


def _categories(listing: Listing, labels: dict[int, str], expected: str) -> Int32s:
    """Return the codes of the records' categories in `labels`; −1 for unknown ones, which are recorded as problems."""
    known = np.fromiter(labels, np.int64, len(labels))
    order = np.argsort(known, kind="stable")
    codes = codes_of(listing.integers("category_id"), known[order])
    listing.apply(member_faults("category_id", codes, expected))
    return np.where(codes < 0, -1, order[codes.clip(0)] if len(order) else -1).astype(np.int32)


def _label_column(labels: dict[int, str], codes: Int32s) -> pa.Array:
    return pa.array(list(labels.values()), pa.string()).take(pa.array(codes, mask=codes < 0))


def _ascending(ids: Ints, kept: Bools) -> Ints:
    """Return the places that are kept, by ascending id."""
    places = np.flatnonzero(kept)
    return places[np.argsort(ids[places], kind="stable")]


def _by_id(ids: Ints, sizes: Ints) -> Sizes:
    return dict(zip(ids.tolist(), map(tuple, sizes.tolist()), strict=True))


def _boxes(shapes: dict[str, pa.Array]) -> Floats:
    return np.column_stack([shapes[side].to_numpy(zero_copy_only=False) for side in SIDES])


def _drawn(shapes: dict[str, pa.Array], box: Floats, sizes: Ints, image: Int32s) -> Masks:
    return draw(
        Shapes.of(box=box, polygons=shapes["polygons"].to_pylist(), rle=shapes["rle"].to_pylist()),
        *sizes[image].reshape(-1, 2).T,
    )


def _kind(document: Any) -> str:
    return f"a JSON {'array' if isinstance(document, list) else 'object' if isinstance(document, dict) else 'value'}"


def _not_text(values: list[Any]) -> Bools:
    return np.fromiter((not (isinstance(value, str) and value) for value in values), bool, len(values))


def _not_tags(values: list[Any]) -> Bools:
    wrong = (value is not None and (not isinstance(value, list) or _not_text(value).any()) for value in values)
    return np.fromiter(wrong, bool, len(values))


def _tags(values: list[Any], bad: Bools) -> pa.Array:
    """Return tags in the order given, each once; an empty list is none."""
    lists = [
        list(dict.fromkeys(value)) if value and not wrong else None for value, wrong in zip(values, bad, strict=True)
    ]
    return pa.array(lists, STRINGS)
