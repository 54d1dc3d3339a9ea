"""What detectors write: JSON or JSON lines of images with boxes, in the form of the library or service that ran them.

Read are torchvision and MMDetection (`boxes` or `bboxes`, `labels`, `scores`: x1 y1 x2 y2), TensorFlow's Object
Detection API (`detection_boxes`: y1 x1 y2 x2, 0–1), pipelines of transformers and Ultralytics' `to_json` (a `box` of
named corners), Roboflow's inference (`x`, `y` are the centre), FiftyOne (`bounding_box`: x y width height, 0–1), Azure
(`topX` …, 0–1) and Vertex AI (`bboxes` beside `displayNames`: x1 x2 y1 y2, 0–1). A record says its image, a key of an
object does, or the name of a file by itself. Files of the same form without scores are ground truth.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import orjson

from metrics.ingest.formats.annotation_reader import (
    SHARES,
    UNNAMED,
    Document,
    Purpose,
    annotation_reader,
    documents,
    heads,
    json_of,
)
from metrics.ingest.formats.coco import is_ground_truth
from metrics.ingest.formats.json_records import first_value
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.drawn_objects import (
    DrawnObjects,
    Faulty,
    Picture,
    Thing,
    corner_box,
    label_of,
    number,
    score_of,
    side_of,
)
from metrics.ingest.problems import Problems
from metrics.ingest.reader import Upload
from metrics.ingest.tables.box_lists import BOX_FORM

Value = TypeVar("Value")
LOOKED_AT = 3  # files of a folder or zip, to recognise it
MOST_BYTES = 200 << 20
DEEPEST = 3  # records within a record, down to the objects
ENDINGS = (".json", ".jsonl", ".ndjson")
HINT = re.compile(rb'"(?:\w*b?boxe?s?|xyxy|bounding_box|predictions|x_?min|topX|x1)"', re.IGNORECASE)
NAMES = (
    "image_id", "image", "image_name", "file_name", "filename", "image_path", "img_path", "filepath", "path", "file",
    "image_url", "imageGcsUri", "content", "uri", "key",
)  # fmt: skip
INNER = (  # where the objects of an image are
    "predictions", "prediction", "detections", "boundingBoxAnnotations", "objects", "boxes", "outputs", "output",
    "results", "result", "instances", "pred_instances", "label", "ground_truth", "annotations",
)  # fmt: skip
LISTS = ("samples", "labels", "images")  # where the images of a document are
SIZES = ("image", "metadata", "image_details", "size")  # where the size of an image is, or in the record itself
LABELS = ("class_name", "name", "label", "displayName", "class", "class_id", "category", "category_id")
SCORES = ("score", "confidence", "conf", "probability")
COLUMNS = {  # a key with all boxes of an image → keys with their labels, and with their scores
    "detection_boxes": (("detection_class_entities", "detection_classes"), ("detection_scores",)),
    **dict.fromkeys(
        ("boxes", "bboxes", "pred_boxes", "xyxy", "bbox"),
        (("class_name", "label_names", "displayNames", "labels", "classes", "pred_classes", "class_id", "category",
          "categories", "label"),
         ("scores", "confidence", "confidences", "conf")),
    ),
}  # fmt: skip
CORNERS = (  # names of the left, upper, right and lower side, and whether they are shares of the image
    (("xmin", "ymin", "xmax", "ymax"), False),
    (("x1", "y1", "x2", "y2"), False),
    (("topX", "topY", "bottomX", "bottomY"), True),
    (("xMin", "yMin", "xMax", "yMax"), True),
)
READ = {*NAMES, *INNER, *SIZES, *LABELS, *SCORES, *COLUMNS, "width", "height"}
READ |= {name for names, _ in CORNERS for name in names}
READ |= {"box", "bbox", "bounding_box", "x", "y", "isCrowd", "iscrowd"}
READ |= {key for labels, scores in COLUMNS.values() for key in (*labels, *scores)}


class Detection(NamedTuple):
    """An object as a file has it: left, top, right, bottom, in pixels or (`shares`) in shares of the image.

    `asked`: four numbers of which only a person can say what they are.
    """

    label: Any
    score: Any
    corners: Sequence[Any]
    shares: bool
    asked: bool = False
    crowd: bool = False


class Found(NamedTuple):
    """The objects of an image, its name (None: the file does not say) and size."""

    name: str | None
    size: tuple[Any, Any]
    objects: list[Detection]
    record: Any


def recognises(upload: Upload) -> bool:
    """Return whether a file, or the first JSON files of a folder or zip, hold images with boxes in one of the forms."""
    hints = [HINT.search(head) is not None for head in heads(upload, *ENDINGS)]
    if not hints or not all(hints):
        return False
    if upload.bundle is not None:
        return all(map(_holds_ours, _entries(upload)[:LOOKED_AT]))
    source = upload.source
    return _is_ours(first_value(source) if source.format == "jsonl" else source.document)


def _holds_ours(entry: Entry) -> bool:
    try:
        with entry.open() as stream:
            return _is_ours(_parse(stream.read(MOST_BYTES)))
    except UNREADABLE:
        return False


def _parse(text: bytes) -> Any:
    """Return the JSON value of a text, or of its first line; None for another text."""
    for part in (text, text.split(b"\n", 1)[0]):
        try:
            return orjson.loads(part.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError:
            continue
    return None


def _is_ours(document: Any) -> bool:
    images = [] if is_ground_truth(document) else _images(document) or []
    return any(image.objects or _column_key(image.record) for image in images)


def _images(document: Any, depth: int = 0) -> list[Found] | None:
    """Return the images in a document, None where it is of another form."""
    if depth > 1:
        return None
    if isinstance(document, Mapping):
        own = _image(document)
        if own is not None:
            return [own]
        for key in LISTS:
            if isinstance(document.get(key), list | Mapping) and (inside := _images(document[key], depth + 1)):
                return inside
        named = ((str(name), _image(value)) for name, value in document.items())
        return _all(image and image._replace(name=name) for name, image in named) or None
    if not isinstance(document, list) or not document:
        return None
    alone = _image(document)
    if alone is not None and not any(key in document[0] for key in NAMES):
        return [alone]  # else a table with a row for each object
    return _all(map(_image, document))


def _all(values: Iterable[Value | None]) -> list[Value] | None:
    """Return the images or objects; None where one is none, after which none is looked at."""
    known: list[Value] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return known


def _image(record: Any) -> Found | None:
    """Return an image with its objects, None where the record is none."""
    objects = _objects(record)
    if objects is None:
        return None
    if not isinstance(record, Mapping):
        return Found(None, (None, None), objects, record)
    named = [record, record.get("instance")]
    texts = (part.get(key) for part in named if isinstance(part, Mapping) for key in NAMES)
    name = next((str(text) for text in texts if isinstance(text, str | int) and not isinstance(text, bool)), None)
    items = record.get("predictions")
    paths = [item.get("image_path") for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    if name is None and paths and isinstance(paths[0], str) and all(path == paths[0] for path in paths):  # Roboflow's
        name = paths[0]
    places = [record, *(record.get(key) for key in SIZES)]
    sizes = [place for place in places if isinstance(place, Mapping) and "width" in place and "height" in place]
    sides = (sizes[0]["width"], sizes[0]["height"]) if sizes else (None, None)
    wide, high = (side.removesuffix("px") if isinstance(side, str) else side for side in sides)  # Azure's
    return Found(name, (wide, high), objects, record)


def _objects(record: Any, depth: int = 0) -> list[Detection] | None:
    """Return the objects of an image, None where the record has none in a known form."""
    if depth > DEEPEST:
        return None
    if isinstance(record, list):
        items = zip(record, map(_item, record), strict=True)
        return _all(own and own._replace(crowd=_is_crowd(item)) for item, own in items)
    if record is None or not isinstance(record, Mapping):
        return [] if record is None else None
    if key := _column_key(record):
        return _of_columns(record, key)
    inside = (_objects(record[key], depth + 1) for key in INNER if record.get(key) is not None)
    return next((objects for objects in inside if objects is not None), None)


def _column_key(record: Any) -> str | None:
    """Return the key with the boxes of all objects, None where each object is a record."""
    if not isinstance(record, Mapping):
        return None
    lists = {key: record[key] for key in COLUMNS if isinstance(record.get(key), list)}
    boxed = (key for key, boxes in lists.items() if all(isinstance(box, list) for box in boxes))
    return next((key for key in boxed if any(name in record for name in COLUMNS[key][0])), None)


def _of_columns(record: Mapping[str, Any], key: str) -> list[Detection] | None:
    labels, scores = (
        next((record[name] for name in names if isinstance(record.get(name), list)), None) for names in COLUMNS[key]
    )
    boxes, batch = record[key], 1
    if boxes and boxes[0] and isinstance(boxes[0][0], list):  # a batch of one image
        boxes, batch = boxes[0], len(boxes)
        labels, scores = (
            values[0] if values and isinstance(values[0], list) else values for values in (labels, scores)
        )
    if labels is None or batch > 1 or len(labels) != len(boxes) or (scores is not None and len(scores) != len(boxes)):
        return None
    order, shares = (0, 1, 2, 3), False
    if key == "detection_boxes":
        order, shares = (1, 0, 3, 2), True
    elif "displayNames" in record:
        order, shares = (0, 2, 1, 3), True
    scores, asked = [None] * len(boxes) if scores is None else scores, key == "bbox"
    return [
        Detection(label, score, [box[at] for at in order] if _is_four(box) else [box], shares, asked and _is_four(box))
        for label, score, box in zip(labels, scores, boxes, strict=True)
    ]


def _is_crowd(item: Mapping[str, Any]) -> bool:
    return str(item.get("isCrowd", item.get("iscrowd"))).lower() in ("true", "1")


def _is_four(box: Any) -> bool:
    return isinstance(box, list) and len(box) == 4


def _item(item: Any) -> Detection | None:
    """Return an object that is a record of its own."""
    if not isinstance(item, Mapping):
        return None
    label = next((item[key] for key in LABELS if item.get(key) is not None), None)
    score = next((item[key] for key in SCORES if item.get(key) is not None), None)
    box = item["box"] if isinstance(item.get("box"), Mapping) else item
    for names, shares in CORNERS:
        if all(name in box for name in names) or (shares and any(name in box for name in names)):
            return Detection(label, score, [box.get(name, 0) for name in names], shares)  # services leave out zeros
    four = next((item[key] for key in ("bbox", "box", "xyxy") if isinstance(item.get(key), list)), None)
    if four is not None and len(four) == 4 and label is not None and "image_id" not in item:
        return Detection(label, score, four, False, "xyxy" not in item)
    ring = item.get("bounding_box")
    if isinstance(ring, list) and len(ring) == 4 and label is not None:
        return Detection(label, score, _sides(ring, 0), True)
    if all(name in item for name in ("x", "y", "width", "height", "class")):
        centred = [item[name] for name in ("x", "y", "width", "height")]
        return Detection(label, score, _sides(centred, 0.5), False)
    return None


def _sides(box: Sequence[Any], share: float) -> list[Any]:
    """Return the corners of a box about a point that lies at a share of its sides; what is no number stays."""
    x, y, width, height = box
    if not all(isinstance(value, int | float) for value in (x, y, width, height)):
        return [x, y, width, height]
    left, top = x - share * width, y - share * height
    return [left, top, left + width, top + height]


def _entries(upload: Upload) -> list[Entry]:
    return upload.folder.ending(*ENDINGS)


def _documents(upload: Upload, problems: Problems) -> Iterator[tuple[Document, int, Any]]:
    """Yield the values with the number of their line: a file of JSON has one, lines of JSON have many."""
    entries = [] if upload.bundle is None else _entries(upload)
    for document in documents(upload, problems, entries):
        lines = document.data.splitlines()
        if document.name.endswith((".jsonl", ".ndjson")) or (upload.bundle is None and upload.source.format == "jsonl"):
            for row, line in enumerate(lines, 1):
                if line.strip():
                    yield document, row, json_of(document._replace(data=line), problems)
        else:
            yield document, 1, json_of(document, problems)


def _truths(value: Any) -> Any:
    """Return a document without the predictions that stand beside a ground truth, as in FiftyOne's samples."""
    if isinstance(value, list):
        return list(map(_truths, value))
    if not isinstance(value, Mapping):
        return value
    if value.get("ground_truth") is None:
        return {key: _truths(own) for key, own in value.items()}
    return {key: own for key, own in value.items() if key == "ground_truth" or key not in INNER}


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    unread: dict[str, list[Any]] = {}
    form: str | None = None
    for document, row, value in _documents(upload, found.problems):
        if purpose == "suite" and b'"ground_truth"' in document.data:
            value, whole = _truths(value), value
            if value != whole:
                found.problems.note(found.file, "predictions", "unused", "ground_truth beside them is read")
        images = None if value is None else _images(value)
        if images is None:
            if value is not None:
                found.problems.add(document.name, repr(value)[:80], "images with boxes, as in the other records", row)
            found.lost += 1
            continue
        found.add_file(document.name)
        if isinstance(value, Mapping) and not value.keys().isdisjoint(LISTS) and images[0].record is not value:
            for key in [key for key in value if key not in LISTS]:
                unread.setdefault(str(key)[:60], []).append(value[key])
        stem = document.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        lone = len(images) == 1 and not document.name.endswith((".jsonl", ".ndjson"))
        for place, image in enumerate(images, 1):
            if form is None and any(thing.asked for thing in image.objects):
                form = _asked_form(found, image)
            image = image._replace(objects=[_with_form(thing, form) for thing in image.objects])
            _add(found, image, image.name or (stem if lone else ""), max(row, place))
            for key, own in _unread(image.record):
                unread.setdefault(key, []).append(own)
    for key, values in unread.items():
        found.problems.note(found.file, key, "unused", "nothing that an evaluator uses", len(values), values[0])


def _unread(record: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of an image and its objects that are not read."""
    for part in record if isinstance(record, list) else [record]:
        if not isinstance(part, Mapping) or depth > DEEPEST:
            continue
        column = _column_key(part)
        kinds = (*(COLUMNS[column] if column else (LABELS, SCORES)), () if depth else NAMES)
        others = {key for kind in kinds for key in [key for key in kind if part.get(key) is not None][1:]}
        for key, value in part.items():
            if key in (*INNER, *SIZES, "instance") and isinstance(value, list | Mapping) and key != column:
                yield from _unread(value, depth + 1)
            elif (key not in READ or key in others) and value not in (None, [], {}, ""):
                yield str(key)[:60], value


def _asked_form(found: DrawnObjects, image: Found) -> str:
    """Return what the four numbers of boxes are: an answer, which a preview does not need."""
    thing = next(thing for thing in image.objects if thing.asked)
    what = f"boxes of four numbers, such as {thing.corners!r}"[:80]
    return found.problems.ask(found.file, BOX_FORM, what, place="box") or "xyxy"


def _with_form(thing: Detection, form: str | None) -> Detection:
    """Return an object whose four numbers are read in a form."""
    if not thing.asked or form in (None, "xyxy"):
        return thing
    return thing._replace(corners=_sides(thing.corners, 0.5 if form == "cxcywh" else 0))


def _add(found: DrawnObjects, image: Found, name: str, row: int) -> None:
    try:
        width, height = (side_of(side, key) for side, key in zip(image.size, ("width", "height"), strict=True))
    except Faulty as fault:
        found.problems.add(found.file, fault.found, fault.expected, row, fault.column)
        found.lost += 1
        return
    shares = any(thing.shares for thing in image.objects)
    known = None not in (width, height)
    sides = (width, height) if known or not shares else SHARES
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    place = found.add_picture(Picture(base, *sides) if base else Picture(f"record {row}", *sides, UNNAMED))
    scale = (float(width or 1), float(height or 1)) if known and shares else (1.0, 1.0)
    for thing in image.objects:
        found.add(place, row, partial(_thing, scale), thing)


def _thing(scale: tuple[float, float], thing: Detection) -> Thing:
    if len(thing.corners) != 4:
        raise Faulty(repr(thing.corners)[:80], "a box of four numbers", "box")
    label = thing.label
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    corners = [number(side, "box") * scale[place % 2] for place, side in enumerate(thing.corners)]
    return Thing(label_of(label), corner_box(*corners), score_of(thing.score), crowd=thing.crowd)


READER = annotation_reader(
    "detector_json", recognises, _gather, "JSON of a detector (torchvision, TensorFlow, transformers, Roboflow …)",
    "a score or confidence of each box",
)  # fmt: skip
