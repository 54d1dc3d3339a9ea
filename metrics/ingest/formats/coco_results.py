"""COCO's results, and annotations with scores: which image and class each is of, whatever says it."""

from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.receipt import FileQuestion
from metrics.core.suite import METADATA, Suite
from metrics.ingest.formats.coco import (
    CATEGORY,
    IMAGE,
    OWN_CATEGORY,
    OWN_IMAGE,
    are_no_texts,
    ascending,
    category_codes,
    label_column,
    read_images,
    read_listings,
)
from metrics.ingest.formats.coco_keys import ANNOTATION_KEYS, RESULT_KEYS, UNUSED_KEYS, note_document
from metrics.ingest.formats.coco_listing import CLASS_NAMES, Ids, Listing, same_class
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.media.class_names import result_classes
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.object_tables import find_cases, sizes_of
from metrics.ingest.tables.values import whole_number
from metrics.vision.coco_columns import Fault, codes_of, member_faults, score_faults
from metrics.vision.geometry import image_sizes, whole

RESULT = ("bbox", "segmentation", "keypoints", "score")  # a result has one of these
HOLDERS = ("annotations", "predictions", "detections", "results")  # keys of an object that holds results
UNKNOWN_CATEGORY = "category_id {}"  # a class of predictions that the suite does not have

IMAGE_ID = FileQuestion(
    "image_id", "Is image_id the id of an image in the ground truth, or the name or number of its file?", ("id", "name")
)
WHICH_IMAGE = FileQuestion("image", "Which of the two says the image that the boxes are of?", ("image_id", "file_name"))


def is_results(document: Any) -> TypeGuard[list[Any]]:
    """Return whether a JSON document is a list of COCO results; an empty list is one, of a model that found nothing."""
    if not isinstance(document, list):
        return False
    first = document[0] if document else {"image_id": 0, "bbox": 0}
    named = isinstance(first, dict) and ("image_id" in first or first.keys() >= {"file_name", "category_id"})
    return named and not first.keys().isdisjoint(RESULT)


def results_in(source: Source, problems: Problems | None = None) -> list[Any] | None:
    """Return the COCO results of a file: a list, alone or under one of HOLDERS, or one a line; None for other files.

    Without `problems`, to recognise them, only the first of the lines.
    """
    if source.format == "jsonl":
        first = first_value(source)
        if not isinstance(first, dict) or not first.keys() >= {"category_id", "score"} or not is_results([first]):
            return None
        return [first] if problems is None else [record for _, record in line_values(source, problems)]
    document = source.document
    if isinstance(document, dict) and document.keys().isdisjoint(("images", "categories")):
        held = [name for name in HOLDERS if isinstance(document.get(name), list)]
        if len(held) != 1 or not document[held[0]]:
            return None
        if problems is not None:
            note_document(source, {key: document[key] for key in document.keys() - held}, problems)
        document = document[held[0]]
    return document if is_results(document) else None


def is_scored(document: dict[str, Any]) -> bool:
    """Return whether the annotations of a document of COCO's form have scores: it is a model's."""
    listed = document.get("annotations")
    return isinstance(listed, list) and any(isinstance(record, dict) and "score" in record for record in listed)


def read_results(
    source: Source, document: list[Any], problems: Problems, suite: Suite, model: str
) -> tuple[Sheet, pa.Table]:
    """Return the predictions in file order.

    Images go by their ids, else by their files' names. Classes go by the category ids of the suite; where it is not
    from COCO the records name theirs.
    """
    listing = Listing(source, "", document, problems)
    image = _result_images(listing, suite.cases)
    sizes = {place: (high, wide) for place, (high, wide) in enumerate(image_sizes(suite.cases).tolist())}
    numbers = result_classes(problems, source.name, document, suite)
    named = {facts.id: label for label, facts in suite.classes.items() if facts.id is not None}
    key = next((key for key in CLASS_NAMES if any(listing.values(key))), None)
    if (numbers or named) and (key is None or any(value is not None for value in listing.values("category_id"))):
        label = same_class(listing, _predicted_labels(listing, numbers, named), suite.labels)
        used = RESULT_KEYS | {"category_id": "label"}
    else:
        key = key or "label"
        texts = listing.values(key)
        expected = "a label (the suite is not from COCO, so a category_id has no meaning)"
        listing.wrong(are_no_texts(texts), "label", texts, expected)
        label = pa.array([text if isinstance(text, str) else None for text in texts], pa.string())
        used = RESULT_KEYS | {key: "label"}
    score = listing.floats("score")
    listing.apply(score_faults(score))
    shapes = listing.shapes(image, sizes, guessed=True, need_masks=suite.task == "segmentation")
    models = [value if isinstance(value, str) and value else model for value in listing.values("model")]
    case_id = whole(suite.cases["case_id"]).take(pa.array(image, mask=image < 0))
    columns = {"case_id": case_id, "model": pa.array(models, pa.string()), "label": label}
    listing.note_keys(used, UNUSED_KEYS)
    return listing, pa.table({**columns, "score": pa.array(score), **shapes})


def _result_images(listing: Listing, cases: pa.Table) -> Ints:
    """Return the row in `cases` of each result's image, −1 where it is unknown, which is a problem."""
    # `image_id` is an id of the suite; where it is none for any record, but the name of an image's file, with or
    # without folders and ending, for all, it is that name. Trainers write the number in it. Where it can be both, of
    # different images, the ids count, and the receipt says so. A file name beside it has to be that of the same image.
    given, files = listing.values("image_id"), listing.values("file_name")
    if not any(value is not None for value in given):
        given, files = files, []  # only the name of the file says the image
    if set(map(type, given)) <= {int}:
        numbers, codes = np.unique(listing.integers("image_id"), return_inverse=True)
        distinct = pa.array(numbers).cast(pa.string())
    else:
        texts = [
            None if own is None else str(own if (number := whole_number(own)) is None else number) for own in given
        ]
        encoded = pa.array(texts, pa.string()).dictionary_encode()
        distinct, codes = encoded.dictionary, np.asarray(encoded.indices.fill_null(-1))
    by_id = find_cases(distinct, cases.select(["case_id"]), listing.problems, listing.file)
    by_name = pa.nulls(len(distinct), pa.int32())
    if (names := METADATA + "image_name") in cases.column_names:
        by_name = find_cases(distinct, pa.table({"case_id": cases[names]}), listing.problems, listing.file)
        other = pc.any(pc.not_equal(by_id, by_name)).as_py()
        if by_name.null_count < by_id.null_count:
            if by_id.null_count < len(by_id):
                as_ids, as_names = (f"{len(by_id) - each.null_count:,} of" for each in (by_id, by_name))
                found = f"{as_ids} {len(by_id):,} are ids of images, {as_names} them names or numbers of image files"
                chosen = listing.problems.ask(listing.file, IMAGE_ID, found, default="name", place="image_id")
            else:
                listing.problems.note(listing.file, "[].image_id", "used", "the name of an image's file", len(given))
                chosen = "name"
            by_id = by_name if chosen == "name" else by_id
        elif other and not by_name.null_count:
            found = "every image_id is the id of one image, and the name or number of another one's file"
            chosen = listing.problems.ask(listing.file, IMAGE_ID, found, default="id", place="image_id")
            by_id = by_name if chosen == "name" else by_id
    rows = np.append(np.asarray(by_id.fill_null(-1)), -1).astype(np.int64)[codes]
    if any(files):
        rows = _same_image(listing, rows, files, cases)
    listing.apply(member_faults("image_id", rows.astype(np.int32), OWN_IMAGE))
    return rows


def _same_image(listing: Listing, rows: Ints, files: list[Any], cases: pa.Table) -> Ints:
    """Return the rows in `cases` of results that name a file beside the id: a question where that is another image."""
    named = find_cases(pa.array([name if isinstance(name, str) else None for name in files], pa.string()), cases)
    own = np.asarray(pc.fill_null(named, -1)).astype(np.int64)
    if unknown := sum(bool(name) and at < 0 for name, at in zip(files, own.tolist(), strict=True)):
        listing.note_unused("file_name", "no image of the suite has this name", unknown)
    differs = (own >= 0) & (own != rows)
    if not differs.any():
        return rows
    at = int(differs.argmax())
    found = f"{int(differs.sum()):,} records whose file_name, such as {files[at]!r}, is of another image than image_id"
    chosen = listing.problems.ask(listing.file, WHICH_IMAGE, found, place="file_name", row=at + 1)
    return np.where(own >= 0, own, rows) if chosen == "file_name" else rows


def read_scored(
    source: Source, document: dict[str, Any], problems: Problems, suite: Suite, model: str
) -> tuple[Sheet, pa.Table]:
    """Return the annotations of a model as predictions, in file order.

    Images go by their file names, without one by their ids, and classes by their names: the numbers are the file's own.
    """
    images, annotations, categories = read_listings(source, document, problems)
    cases, image_ids = suite.cases, Ids()
    ids, _ = read_images(images, image_ids)
    named = pa.array(
        [name if isinstance(name, str) and name else None for name in images.values("file_name")], pa.string()
    )
    index = find_cases(pc.coalesce(named, image_ids.texts(ids)), cases)
    numbers = annotations.ids("image_id", image_ids)
    order = ascending(ids, ~images.bad)
    codes = codes_of(numbers, ids[order])
    annotations.apply(member_faults("image_id", codes, IMAGE))
    row = np.full(len(annotations), -1, np.int64)
    row[codes >= 0] = np.asarray(index.fill_null(-1))[order][codes[codes >= 0]]
    annotations.wrong((row < 0) & ~annotations.bad, "image_id", annotations.values("image_id"), OWN_IMAGE)
    known = sizes_of(cases)
    places = cases["case_id"].to_pylist()
    sizes = {int(ids[at]): known[places[case]][::-1] for at, case in enumerate(index.to_pylist())
             if case is not None and places[case] in known}  # fmt: skip
    label = label_column(categories.labels, category_codes(annotations, categories, CATEGORY))
    score = annotations.floats("score")
    annotations.apply(score_faults(score))
    shapes = annotations.shapes(numbers, sizes, guessed=True, need_masks=suite.task == "segmentation")
    case_ids = cases["case_id"].take(pa.array(row, mask=row < 0))
    note_document(source, document, problems)
    images.note_keys({"id": "the key of image_id", "file_name": "case_id"}, UNUSED_KEYS | dict.fromkeys(
        ("width", "height"), "the suite has the images' sizes"))  # fmt: skip
    annotations.note_keys(ANNOTATION_KEYS | {"score": "score"}, UNUSED_KEYS | dict.fromkeys(
        ("id", "iscrowd"), "predictions are numbered, and none is a crowd"))  # fmt: skip
    models = pa.repeat(model, len(annotations))
    columns = {"case_id": case_ids, "model": models, "label": label, "score": pa.array(score), **shapes}
    return annotations, pa.table(columns)


def _predicted_labels(listing: Listing, labels: dict[int, str], named: dict[str, str]) -> pa.Array:
    """Return the label of each result, whose category_id is a number of `labels`, a text of `named` or a class's name.

    Where unknown classes are kept, those are named by their number.
    """
    values = listing.values("category_id")
    if set(map(type, values)) <= {int, float} and labels:
        numbers = listing.integers("category_id")
        known, places = np.unique(numbers, return_inverse=True)
    else:
        texts = ["" if value is None else str(int(value) if isinstance(value, float) else value) for value in values]
        known, places = np.unique(np.array(texts, np.str_), return_inverse=True)
    of = {str(number): label for number, label in labels.items()}
    of = {label: label for label in (*labels.values(), *named.values())} | named | of
    names = [of.get(str(each).strip()) for each in known.tolist()]
    if listing.problems.keep_unknown_classes:
        listing.apply([Fault("category_id", np.isin(known, ("", "-1", -1))[places], OWN_CATEGORY)])
        spelled = [UNKNOWN_CATEGORY.format(each) if str(each).isdecimal() else str(each) for each in known.tolist()]
        names = [name or text for name, text in zip(names, spelled, strict=True)]
    else:
        unknown = np.array([name is None for name in names], bool)
        listing.apply([Fault("category_id", unknown[places], OWN_CATEGORY)])
    return pa.array(names, pa.string()).take(pa.array(places))
