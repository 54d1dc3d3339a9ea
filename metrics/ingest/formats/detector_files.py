"""What detectors write: JSON or JSON lines of images with boxes, in the form of the library or service that ran them.

Read are torchvision and MMDetection (`boxes` or `bboxes`, `labels`, `scores`: x1 y1 x2 y2), TensorFlow's Object
Detection API (`detection_boxes`: y1 x1 y2 x2, 0–1), pipelines of transformers and Ultralytics' `to_json` (a `box` of
named corners), Roboflow's inference (`x`, `y` are the centre), FiftyOne (`bounding_box`: x y width height, 0–1), Azure
(`topX` …, 0–1), Valor (`annotations` of a `datum`, a ring as `bounding_box`) and Vertex AI (`bboxes` beside
`displayNames`: x1 x2 y1 y2, 0–1). A record says its image, a key of an object does, or the name of a file by itself.
Files of the same form without scores are ground truth.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from metrics.core.receipt import FileQuestion
from metrics.ingest.formats.annotation_reader import (
    HEAD,
    SHARES,
    UNNAMED,
    Document,
    Purpose,
    annotation_reader,
    documents,
    files_of,
    heads,
    json_of,
)
from metrics.ingest.formats.coco import is_ground_truth
from metrics.ingest.formats.detector_records import (
    COLUMNS,
    CORNERS,
    DEEPEST,
    INNER,
    LABELS,
    SCORES,
    Detection,
    all_of,
    column_key,
    lists_of,
    objects_of,
    sides_of,
)
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
from metrics.ingest.reader import Upload
from metrics.ingest.source import Problems
from metrics.ingest.tables.list_columns import BOX_FORM

LOOKED_AT = 3  # files of a folder or zip, to recognise it
MOST_BYTES = 200 << 20
ENDINGS = (".json", ".jsonl", ".ndjson")
HINT = re.compile(rb'"(?:\w*b?boxe?s?|xyxy|bounding_box|predictions|x_?min|topX|x1)"', re.IGNORECASE)
NAMES = (
    "image_id", "image", "image_name", "file_name", "filename", "image_path", "img_path", "filepath", "path", "file",
    "image_url", "imageGcsUri", "content", "uri", "key", "uid",
)  # fmt: skip
SAMPLES = "samples.json"
LISTS = ("samples", "labels", "images")  # where the images of a document are
SIZES = ("image", "metadata", "image_details", "size")  # where the size of an image is, or in the record itself
READ = {*NAMES, *INNER, *SIZES, *LABELS, *SCORES, *COLUMNS, "width", "height"}
READ |= {name for names, _ in CORNERS for name in names}
READ |= {"box", "bbox", "bounding_box", "x", "y", "isCrowd", "iscrowd"}
READ |= {key for labels, scores in COLUMNS.values() for key in (*labels, *scores)}
NO_TRUTH = "none"
TRUTH_FIELD = re.compile(r"(^|_)(ground_?truths?|gts?|truths?|true|annotations?|labels?|human|manual)(_|$)", re.I)


class Found(NamedTuple):
    """The objects of an image, its name (None: the file does not say) and size."""

    name: str | None
    size: tuple[Any, Any]
    objects: list[Detection]
    record: Any


def recognises(upload: Upload) -> bool:
    """Return whether a file, or the first JSON files of a folder or zip, hold images with boxes in one of the forms."""
    if upload.bundle is not None:
        entries = files_of(upload.bundle, *ENDINGS, named=SAMPLES)[:LOOKED_AT]
        return bool(entries) and all(map(_holds_ours, entries))
    source = upload.source
    if not any(map(HINT.search, heads(upload))):
        return False
    return _is_ours(first_value(source) if source.format == "jsonl" else source.document)


def _holds_ours(entry: Entry) -> bool:
    try:
        with entry.open() as stream:
            head = stream.read(HEAD)
            return bool(HINT.search(head)) and _is_ours(_parse(head + stream.read(MOST_BYTES)))
    except UNREADABLE:
        return False


def _parse(text: bytes) -> Any:
    for part in (text, text.split(b"\n", 1)[0]):
        try:
            return orjson.loads(part.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError:
            continue
    return None


def _is_ours(document: Any) -> bool:
    images = [] if is_ground_truth(document) else _images(document) or []
    return any(image.objects or column_key(image.record) for image in images)


def _images(document: Any, depth: int = 0) -> list[Found] | None:
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
        return all_of(image and image._replace(name=name) for name, image in named) or None
    if not isinstance(document, list) or not document:
        return None
    alone = _image(document)
    if alone is not None and not any(key in document[0] for key in NAMES):
        return [alone]  # else a table with a row for each object
    return all_of(map(_image, document))


def _image(record: Any) -> Found | None:
    objects = objects_of(record)
    if objects is None:
        return None
    if not isinstance(record, Mapping):
        return Found(None, (None, None), objects, record)
    named = [record, record.get("instance"), record.get("datum")]
    texts = (part.get(key) for part in named if isinstance(part, Mapping) for key in NAMES)
    name = next((str(text) for text in texts if isinstance(text, str | int) and not isinstance(text, bool)), None)
    items = record.get("predictions")
    paths = [item.get("image_path") for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    if name is None and paths and isinstance(paths[0], str) and all(path == paths[0] for path in paths):  # Roboflow's
        name = paths[0]
    places = [record, *(part.get(key) for part in named if isinstance(part, Mapping) for key in SIZES)]
    sizes = [place for place in places if isinstance(place, Mapping) and "width" in place and "height" in place]
    sides = (sizes[0]["width"], sizes[0]["height"]) if sizes else (None, None)
    wide, high = (side.removesuffix("px") if isinstance(side, str) else side for side in sides)  # Azure's
    return Found(name, (wide, high), objects, record)


def _documents(upload: Upload, problems: Problems) -> Iterator[tuple[Document, int, Any]]:
    """Yield the values with the number of their line: a file of JSON has one, lines of JSON have many."""
    for document in documents(upload, problems, *ENDINGS, named=SAMPLES):
        lines = document.data.splitlines()
        if document.name.endswith((".jsonl", ".ndjson")) or (upload.bundle is None and upload.source.format == "jsonl"):
            for row, line in enumerate(lines, 1):
                if line.strip():
                    yield document, row, json_of(document._replace(data=line), problems)
        else:
            yield document, 1, json_of(document, problems)


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    unread: dict[str, list[Any]] = {}
    form: str | None = None
    read = list(_read_images(found, upload, unread))
    listed = [lists_of(image.record) for _, _, image in read]
    counts = count_objects(listed)
    roles = assign_fields(found.problems, found.file, listed, counts) if len(counts) > 1 else FieldRoles("", ())
    called = roles.called(upload.model)
    found.answered_by = tuple(called.values()) if roles.truth else ()
    kept = (roles.truth,) if roles.truth and (purpose != "outputs" or not called) else tuple(called)
    if len(counts) > 1:
        roles.note(found.problems, found.file, counts, kept, found.both or purpose == "preview")
    for (document, row, image), lists in zip(read, listed, strict=True):
        found.add_file(document)
        if len(counts) > 1:
            objects = [thing._replace(model=called.get(key)) for key in kept for thing in lists.get(key, ())]
            image = image._replace(objects=objects)
        if form is None and (asked := next((thing for thing in image.objects if thing.asked), None)):
            what = f"boxes of four numbers, such as {asked.corners!r}"[:80]  # a preview needs no answer
            form = found.problems.ask(found.file, BOX_FORM, what, place="box") or "xyxy"
        with found.reading(found.file, row):
            _add(found, image._replace(objects=[_with_form(thing, form) for thing in image.objects]), row)
        parts = [(image.record, 0)]
        if len(counts) > 1:
            beside = {key: value for key, value in image.record.items() if key not in counts}
            parts = [(beside, 0)] * (not (found.both and purpose == "outputs"))
            parts += [(image.record.get(key), 1) for key in kept]
        for part, depth in parts:
            for key, own in _unread(part, depth):
                unread.setdefault(key, []).append(own)
    for key, values in unread.items():
        found.problems.note(found.file, key, "unused", "nothing that an evaluator uses", len(values), values[0])


def _read_images(found: DrawnObjects, upload: Upload, unread: dict[str, list[Any]]) -> Iterator[tuple[str, int, Found]]:
    """Yield the images with the names of their files and their rows; `unread` gets what stands beside the images."""
    for document, row, value in _documents(upload, found.problems):
        images = None if value is None else _images(value)
        if images is None:
            if value is not None:
                found.problems.add(document.name, repr(value)[:80], "images with boxes, as in the other records", row)
            found.lost += 1
            continue
        if isinstance(value, Mapping) and not value.keys().isdisjoint(LISTS) and images[0].record is not value:
            for key in [key for key in value if key not in LISTS]:
                unread.setdefault(str(key)[:60], []).append(value[key])
        lone = len(images) == 1 and not document.name.endswith((".jsonl", ".ndjson"))
        for place, image in enumerate(images, 1):
            yield document.name, max(row, place), image._replace(name=image.name or (document.stem if lone else ""))


def _unread(record: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    for part in record if isinstance(record, list) else [record]:
        if not isinstance(part, Mapping) or depth > DEEPEST:
            continue
        column = column_key(part)
        kinds = (*(COLUMNS[column] if column else (LABELS, SCORES)), () if depth else NAMES)
        others = {key for kind in kinds for key in [key for key in kind if part.get(key) is not None][1:]}
        for key, value in part.items():
            if key in (*INNER, *SIZES, "instance", "datum") and isinstance(value, list | Mapping) and key != column:
                yield from _unread(value, depth + 1)
            elif (key not in READ or key in others) and value not in (None, [], {}, ""):
                yield str(key)[:60], value


def _with_form(thing: Detection, form: str | None) -> Detection:
    if not thing.asked or form in (None, "xyxy"):
        return thing
    return thing._replace(corners=sides_of(thing.corners, 0.5 if form == "cxcywh" else 0))


def _add(found: DrawnObjects, image: Found, row: int) -> None:
    width, height = (side_of(side, key) for side, key in zip(image.size, ("width", "height"), strict=True))
    shares = any(thing.shares for thing in image.objects)
    known = None not in (width, height)
    sides = (width, height) if known or not shares else SHARES
    base = (image.name or "").replace("\\", "/").rsplit("/", 1)[-1]
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
    return Thing(label_of(label), corner_box(*corners), score_of(thing.score), thing.model, thing.crowd)


READER = annotation_reader(
    "detector_json", recognises, _gather, "JSON of a detector (torchvision, TensorFlow, transformers, Roboflow …)",
    "a score or confidence of each box",
)  # fmt: skip


class FieldRoles(NamedTuple):
    """The field of the ground truth ("": no list is), the fields that are a model each, and those that are neither."""

    truth: str
    models: tuple[str, ...]
    neither: tuple[str, ...] = ()

    def called(self, stem: str) -> dict[str, str]:
        """Return the name of each field's model: the field's, the file's where it only says that it is predictions."""
        return {field: stem if [field] == [*self.models] and field in INNER else field for field in self.models}

    def note(self, problems: Problems, file: str, counts: Mapping[str, int], read: Sequence[str], both: bool) -> None:
        """Say of each list whether it is read here; `both`: ground truth and predictions are read, one by one."""
        for field, count in counts.items():
            if field in read:
                what = "the ground truth" if field == self.truth else "the predictions of a model"
                problems.note(file, field, "used", what, count)
            elif field in self.neither and (not both or self.truth in read):
                problems.note(file, field, "unused", "no ground truth, and no predictions without a confidence", count)
            elif not both and field not in self.neither:
                why = "the suite has the ground truth" if field == self.truth else f"{self.truth} beside them is read"
                problems.note(file, field, "unused", why, count)


def count_objects(images: Iterable[Mapping[str, Sequence[Detection]]]) -> dict[str, int]:
    """Return how many objects each list has in all images; always empty ones only where they may have some."""
    counts: dict[str, int] = {}
    for lists in images:
        for field, objects in lists.items():
            counts[field] = counts.get(field, 0) + len(objects)
    return {field: count for field, count in counts.items() if count or field in INNER or TRUTH_FIELD.search(field)}


def assign_fields(
    problems: Problems, file: str, images: Sequence[Mapping[str, Sequence[Detection]]], counts: Mapping[str, int]
) -> FieldRoles:
    """Return what each of several lists is. Predictions have confidences; a person is asked which list without is true.

    The answer is taken from the names where one alone is named like a ground truth.
    """
    unscored = {field for lists in images for field in lists for thing in lists[field] if thing.score is None}
    plain = [field for field in counts if field in unscored or not counts[field]]
    named = [field for field in plain or counts if TRUTH_FIELD.search(field)]
    truth = plain[0] if len(plain) == 1 else ""
    if len(plain) > 1 or (not plain and named):
        likely = named[0] if named else None
        lists = "without confidences" if plain else "of objects"
        text = f"The file has several lists {lists}: which of them is the ground truth?"
        question = FileQuestion("ground_truth", text, (*(plain or counts), NO_TRUTH))
        answer = problems.ask(file, question, f"{len(plain or counts)} lists {lists}", default=likely)
        truth = "" if answer == NO_TRUTH else answer or next(iter(plain or counts))  # a preview needs no answer
    models = tuple(field for field in counts if field != truth and field not in plain)
    return FieldRoles(truth, models, tuple(field for field in plain if field != truth))
