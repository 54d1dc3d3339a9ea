"""Label Studio JSON: tasks with annotations and predictions, whose regions are per cent of the image.

Rectangles (also turned), polygons, ellipses and brush masks are read. A suite takes the annotation marked as ground
truth, else the first; outputs take every prediction, each model version a model, with the score of the region or of
the prediction. A file with annotations and predictions is both.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np

from metrics.core.array_types import Bools
from metrics.ingest.formats.annotation_reader import Purpose, annotation_reader, heads, json_arrays
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.media.drawn_objects import (
    DrawnObjects,
    Faulty,
    Picture,
    Shape,
    Thing,
    bitmap_mask,
    ellipse,
    label_of,
    number,
    polygon,
    rotated_box,
    score_of,
    side_of,
)
from metrics.ingest.media.images import MAX_PIXELS, SUFFIXES
from metrics.ingest.reader import Upload
from metrics.ingest.tables.values import without

EXPECTED = "{data {image}, annotations[{result[…]}], predictions[…]}"
BOX = ("x", "y", "width", "height")
UPLOADED = "/data/upload/"  # there Label Studio puts eight digits and a dash before the file's name
OTHERS = ("keypointlabels", "vectorlabels", "videorectangle", "timeserieslabels")
KINDS = ("rectanglelabels", "polygonlabels", "ellipselabels", "brushlabels", "labels")
REGION = {
    "type": "the kind of shape", "original_width": "image_width", "original_height": "image_height", "score": "score",
    **{f"value.{name}": "the shape" for name in (*BOX, "rotation", "points", "radiusX", "radiusY", "rle")},
    **{f"value.{kind}": "label" for kind in KINDS},
}  # fmt: skip
ANSWER = {"was_cancelled": "answers that were skipped", "ground_truth": "which annotation is read"}
UNREAD = "regions of annotations are read as ground truth, those of predictions as outputs"
Job = tuple[dict[str, Any], Any, Any, str | None]  # a region, its label, the score and model of all


def recognises(upload: Upload) -> bool:
    """Return whether a JSON array has tasks with data and regions of images."""
    if upload.bundle is None:
        return _is_tasks(upload.source.data[: 1 << 20].to_pybytes())
    return any(map(_is_tasks, heads(upload, ".json")))


def _is_tasks(head: bytes) -> bool:
    listed = any(key in head for key in (b'"annotations"', b'"predictions"', b'"completions"'))
    return head.lstrip().startswith(b"[") and b'"data"' in head and listed and b'"original_width"' in head


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    stored = set() if upload.bundle is None else {entry.base for entry in upload.bundle.images}
    several = unlabelled = unjudged = 0
    skipped: Counter[str] = Counter()
    leaves, used, found.path = Leaves(), dict[str, str](), "[].data."
    for document, tasks in json_arrays(found, upload, f"tasks {EXPECTED}"):
        annotated = any(map(_annotations, tasks))
        answers = [each for task in tasks if isinstance(task, dict) for each in _predictions(task)]
        predicted = bool(answers) and (purpose == "outputs" or (purpose == "preview" and not annotated))
        if annotated:
            models = (_model(each) or upload.model for each in answers)
            found.answered_by = tuple(dict.fromkeys((*found.answered_by, *models)))
        for task in tasks:
            kept = _beside(task, purpose)
            leaves.add([{**task, "data": without(task["data"], *kept)} if kept else task])
        used |= _used_keys(tasks, predicted)
        if found.both:
            used |= _used_keys(tasks, not predicted)
        for place, task in enumerate(tasks, 1):
            name = _image_name(task, stored)
            if name is None:
                found.problems.add(document.name, f"task {place}: {task!r}"[:80], EXPECTED, place)
                found.lost += 1
                continue
            answers = _predictions(task) if predicted else _annotations(task)
            if found.both and predicted and answers and not _annotations(task):
                unjudged += 1
                continue
            several += len(answers) > 1 and not predicted
            if not answers:
                unlabelled += 1
                continue
            answers = answers if predicted else answers[:1]
            regions = [region for answer in answers for region in _regions(answer)]
            with found.reading(document.name, place):
                picture = Picture(name, *_size(regions), beside=_beside(task, purpose))
                image = found.add_picture(picture)
                for answer in answers:
                    for job in _jobs(answer, predicted, skipped):
                        found.add(image, place, partial(_thing, picture), job)
    leaves.note(found.problems, found.file, used, {"[].annotations": UNREAD, "[].predictions": UNREAD})
    for kind, count in skipped.items():
        found.problems.note(found.file, f"regions of type {kind}", "unused", "they are no objects in an image", count)
    if several:
        only = "of a task with several annotations the one marked as ground truth is read, else the first"
        found.problems.note(found.file, "[].annotations", "unused", only, several)
    if unjudged:
        why = "their tasks have no annotation to compare with"
        found.problems.note(found.file, "[].predictions", "unused", why, unjudged)
    if unlabelled:
        found.notes.append(f"Tasks without an answer: {unlabelled:,}. They are left out.")
    if skipped and not len(found) and not len(found.problems):
        listed = ", ".join(sorted(skipped))
        what = f"Label Studio tasks without an object: only {listed}"[:120]
        found.problems.add(found.file, what, "rectangles, polygons, ellipses or brush masks with labels", fatal=True)


def _used_keys(tasks: list[Any], predicted: bool) -> dict[str, str]:
    """Return the paths that are read, of annotations or of predictions, and the fields that they are."""
    plain = any(
        isinstance(task, dict) and isinstance(task.get("data"), dict) and task["data"].get("image") for task in tasks
    )
    used = {"[].data.image" if plain else "[].data": "metadata.image_name"}
    for place in ("predictions",) if predicted else ("annotations", "completions"):
        used |= {f"[].{place}[].result[].{key}": field for key, field in REGION.items()}
    if predicted:
        return used | {"[].predictions[].score": "score", "[].predictions[].model_version": "model"}
    lists = ("annotations", "completions")
    used = {path: field for path, field in used.items() if field != "score"}
    return used | {f"[].{place}[].{key}": field for key, field in ANSWER.items() for place in lists}


def _annotations(task: Any) -> list[Any]:
    """Return the annotations of a task that were not skipped, that of the ground truth first."""
    listed = (task.get("annotations") or task.get("completions")) if isinstance(task, dict) else None
    kept = [one for one in listed or [] if isinstance(one, dict) and not one.get("was_cancelled")]
    return sorted(kept, key=lambda one: not one.get("ground_truth"))


def _predictions(task: dict[str, Any]) -> list[Any]:
    listed = task.get("predictions")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _model(answer: dict[str, Any]) -> str | None:
    version = answer.get("model_version")
    return version if isinstance(version, str) and version else None


def _regions(answer: dict[str, Any]) -> list[dict[str, Any]]:
    listed = answer.get("result")
    return [region for region in listed if isinstance(region, dict)] if isinstance(listed, list) else []


def _beside(task: Any, purpose: Purpose) -> dict[str, Any]:
    """Return what a task of a suite says of its image beside the image itself."""
    data = task.get("data") if isinstance(task, dict) and purpose == "suite" else None
    held = data.items() if isinstance(data, dict) else ()
    return {name: value for name, value in held if name != "image" and not _names_image(value)}


def _names_image(value: Any) -> bool:
    return isinstance(value, str) and _file_name(value).lower().endswith(SUFFIXES)


def _image_name(task: Any, stored: set[str]) -> str | None:
    """Return the file name of a task's image: of `data.image`, else of the first value that names an image."""
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        return None
    texts = [data.get("image"), *data.values()]
    texts = [text for text in texts if isinstance(text, str) and text]
    named = list(filter(_names_image, texts))
    if isinstance(data.get("image"), str) and data["image"]:
        named = [data["image"]]
    if not named:
        return None
    name = _file_name(named[0])
    prefix, _, rest = name.partition("-")
    if UPLOADED in named[0] and rest and len(prefix) == 8 and name not in stored:
        return rest
    return name or None


def _file_name(text: str) -> str:
    """Return the file name in a path, an address, or Label Studio's `/data/local-files/?d=folder/name`."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return PurePosixPath(text.replace("\\", "/")).name
    local = parse_qs(parts.query).get("d", [""])[0]
    return PurePosixPath(unquote(local or parts.path).replace("\\", "/")).name


def _size(regions: list[dict[str, Any]]) -> tuple[int | None, int | None]:
    for region in regions:
        if "original_width" in region:
            width, height = (side_of(region.get(side), side) for side in ("original_width", "original_height"))
            return width, height
    return None, None


def _jobs(answer: dict[str, Any], predicted: bool, skipped: Counter[str]) -> Iterator[Job]:
    """Yield each region with each of its labels; what is no object is counted."""
    score, model = (answer.get("score"), _model(answer)) if predicted else (None, None)
    for region in _regions(answer):
        value, kind = region.get("value"), str(region.get("type") or "")[:40]
        labels = value.get(kind) if isinstance(value, dict) and kind.endswith("labels") else None
        if kind in OTHERS or labels is None:
            skipped[kind or "results without a type"] += 1
        else:
            for label in labels if isinstance(labels, list) and labels else [None]:
                yield region, label, score, model


def _thing(picture: Picture, job: Job) -> Thing:
    region, label, score, model = job
    own = region.get("score")
    return Thing(label_of(label), _shape(region["value"], picture), score_of(score if own is None else own), model)


def _shape(value: dict[str, Any], picture: Picture) -> Shape:
    if picture.width is None or picture.height is None:
        raise Faulty("a region without original_width and original_height", "the size of its image in pixels")
    wide, high = picture.width / 100, picture.height / 100
    if "rle" in value:
        return bitmap_mask(brush(value["rle"], picture.width, picture.height), 0, 0, picture.width, picture.height)
    if "points" in value:
        points = value["points"]
        if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 for point in points):
            raise Faulty(repr(points)[:80], "[[x, y], …]", "points")
        return polygon([[number(place, "points") * scale for point in points for place, scale in zip(point, (wide, high), strict=True)]])  # fmt: skip # noqa: E501
    turn = number(value.get("rotation") or 0, "rotation")
    if "radiusX" in value:
        x, y, rx, ry = (number(value.get(name), name) for name in ("x", "y", "radiusX", "radiusY"))
        return ellipse(x * wide, y * high, rx * wide, ry * high, turn)
    x, y, width, height = (number(value.get(name), name) for name in BOX)
    box = (x * wide, y * high, width * wide, height * high)
    return rotated_box((box[0], box[1]), box, turn)


def brush(values: Any, width: int, height: int) -> Bools:
    """Return the bitmap [height, width] of a brush: RGBA bytes in runs packed bit by bit; Faulty where they are wrong.

    32 bits: the number of words; 5: bits of a word, less 1; four times 4: the sizes of lengths, less 1. Then parts of
    1 bit: a run of one word, or different ones; 2: which size; the length, less 1, in as many bits; and the words.
    A pixel belongs to the mask where it is not transparent. Source: thi.ng/rle-pack, which Label Studio uses.
    """
    wrong = Faulty("a brush that cannot be read", f"runs of {width:,} × {height:,} pixels in RGBA", "rle")
    if width * height > MAX_PIXELS or not isinstance(values, list):
        raise wrong
    if not all(type(byte) is int and 0 <= byte < 256 for byte in values):
        raise wrong
    data, at = bytes(values), 0

    def take(bits: int) -> int:
        nonlocal at
        first, last = at // 8, (at + bits + 7) // 8
        if last > len(data):
            raise wrong
        word = int.from_bytes(data[first:last], "big") >> (last * 8 - at - bits)
        at += bits
        return word & ((1 << bits) - 1)

    count, bits = take(32), take(5) + 1
    sizes = [take(4) + 1 for _ in range(4)]
    if count != 4 * width * height or bits != 8:
        raise wrong
    words, place = np.zeros(count, np.uint8), 0
    while place < count:
        same, length = take(1), take(sizes[take(2)]) + 1
        if place + length > count:
            raise wrong
        if same:
            words[place : place + length] = take(bits)
        else:
            first, last = at // 8, (at + bits * length + 7) // 8
            if last > len(data):
                raise wrong
            unpacked = np.unpackbits(np.frombuffer(data, np.uint8, last - first, first))[at % 8 :][: bits * length]
            words[place : place + length] = np.packbits(unpacked)
            at += bits * length
        place += length
    return words[3::4].reshape(height, width) > 0


READER = annotation_reader(
    "label_studio", recognises, _gather, "Label Studio tasks (.json)", "a score in each region or prediction"
)
