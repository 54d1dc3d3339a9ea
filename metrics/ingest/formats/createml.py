"""CreateML JSON: an array of {image, annotations[{label, coordinates {x, y, width, height}}]} in pixels.

x and y are the centre of the box, as Apple defines them. A model's file has a confidence in each annotation.
"""

import re
from typing import Any

from metrics.ingest.formats.annotation_reader import Purpose, annotation_reader, heads, json_arrays
from metrics.ingest.leaf_notes import UNSCORED, Leaves
from metrics.ingest.media.drawn_objects import (
    DrawnObjects,
    Faulty,
    Picture,
    Thing,
    label_of,
    number,
    score_of,
    sized_box,
)
from metrics.ingest.reader import Upload
from metrics.ingest.tables.values import without

IMAGE = re.compile(rb'"(image|imagefilename)"\s*:\s*"')
LISTED = re.compile(rb'"annotations?"\s*:\s*\[')
EXPECTED = "{image, annotations[{label, coordinates {x, y, width, height}}]}"
FIELDS = ("x", "y", "width", "height")
OBJECT = {"label": "label", "confidence": "score", "score": "score"} | {f"coordinates.{name}": name for name in FIELDS}
OWN = ("image", "imagefilename", "annotations", "annotation")  # of a record
USED = {"[].image": "metadata.image_name", "[].imagefilename": "metadata.image_name"} | {
    f"[].{listed}[].{key}": field for listed in ("annotations", "annotation") for key, field in OBJECT.items()
}


def recognises(upload: Upload) -> bool:
    """Return whether a JSON array has images with annotations, without the `data` of Label Studio's tasks."""
    return any(
        head.startswith(b"[") and IMAGE.search(head) and LISTED.search(head) and b'"data"' not in head
        for head in heads(upload, ".json")
    )


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    many = upload.bundle is not None and len(upload.bundle.ending(".json")) > 1
    leaves, found.path = Leaves(), "[]."
    for document, records in json_arrays(found, upload, EXPECTED):
        folder = document.entry.name.rpartition("/")[0] if many and document.entry is not None else ""
        row = 0
        for place, record in enumerate(records, 1):
            name, listed = _image(record)
            if name is None or listed is None:
                found.problems.add(document.name, f"record {place}: {record!r}"[:80], EXPECTED, place)
                found.lost += 1
                continue
            beside = without(record, *OWN) if purpose == "suite" else {}
            leaves.add([without(record, *beside)])
            image = found.add_picture(Picture(f"{folder}/{name}" if folder else name, beside=beside))
            for item in listed:
                row += 1
                found.add(image, row, _thing, item)
    ignored = dict.fromkeys((path for path in USED if USED[path] == "score"), UNSCORED) if purpose == "suite" else {}
    leaves.note(found.problems, found.file, USED, ignored)
    boxes = [thing.shape.box for thing in found.things if thing is not None]
    outside = sum(box[0] < 0 or box[1] < 0 for box in boxes)
    if outside > len(boxes) / 10:
        found.notes.append(
            f"{outside:,} of {len(boxes):,} boxes reach beyond the left or upper edge: x and y are read as the centre "
            "of the box, as Apple defines them. If they are its upper left corner here, convert the file."
        )


def _image(record: Any) -> tuple[str | None, list[Any] | None]:
    """Return the name of a record's image and its annotations, None where there is none."""
    if not isinstance(record, dict):
        return None, None
    name = record.get("image", record.get("imagefilename"))
    listed = record.get("annotations", record.get("annotation"))
    return name if isinstance(name, str) and name else None, listed if isinstance(listed, list) else None


def _thing(item: Any) -> Thing:
    coordinates = item.get("coordinates") if isinstance(item, dict) else None
    if not isinstance(coordinates, dict):
        raise Faulty(repr(item)[:80], "{label, coordinates {x, y, width, height}}")
    x, y, width, height = (number(coordinates.get(name), f"coordinates.{name}") for name in FIELDS)
    score = score_of(item.get("confidence", item.get("score")), "confidence")
    return Thing(label_of(item.get("label")), sized_box(x - width / 2, y - height / 2, width, height), score)


READER = annotation_reader(
    "createml", recognises, _gather, "CreateML annotations (.json)", "a confidence in each annotation"
)
