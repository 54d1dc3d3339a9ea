"""Pascal VOC XML: one file per image with its size and objects {name, difficult, bndbox {xmin, ymin, xmax, ymax}}.

Boxes are converted as COCO's converters do: x = xmin, width = xmax − xmin. `difficult` objects are marked: voc_ap
ignores them as VOC's own evaluation does; other evaluators count them like any object, as in COCO's conversions.
"""

from collections import Counter
from typing import Any

from metrics.ingest.formats.annotation_reader import Purpose, annotation_reader, xml_annotations
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.media.bundle import case_ids, need_unique, pair
from metrics.ingest.media.drawn_objects import (
    DrawnObjects,
    Faulty,
    Picture,
    Thing,
    corner_box,
    difficult_note,
    label_of,
    number,
    side_of,
)
from metrics.ingest.reader import Upload
from metrics.ingest.sheet import FALSE, TRUE
from metrics.ingest.tables.object_tables import CORNERS

OTHERS = "YOLO labels with confidences, or a table"
EXPECTED = "an <annotation> with size and objects"
USED = {
    "annotation.filename": "metadata.image_name", "annotation.size.width": "image_width",
    "annotation.size.height": "image_height", "annotation.object.name": "label",
    "annotation.object.difficult": "difficult", **{f"annotation.object.bndbox.{corner}": corner for corner in CORNERS},
}  # fmt: skip
WHY = {
    "annotation.object": "no evaluator reads it", "annotation.object.part": "parts of objects are not evaluated",
    "annotation.object.polygon": "the box is read", "annotation": "it describes the image",
}  # fmt: skip

RENAMED = "no image has this name, the image is that with the name of the file"


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    if purpose == "outputs":
        raise upload.error("Pascal VOC annotations, which have no scores", OTHERS)
    bundle, problems, leaves = upload.folder, found.problems, Leaves()
    files = bundle.ending(".xml")
    ids = case_ids(files)
    need_unique(bundle, files, ids, problems)
    paired = dict(zip(ids, pair(files, bundle.images), strict=True))
    by_base, bases = {image.base: image for image in bundle.images}, Counter(image.base for image in bundle.images)
    for document, root in xml_annotations(found, upload, EXPECTED):
        leaves.add_element(root)
        named = (_text(root, "filename") or "").replace("\\", "/").rsplit("/", 1)[-1].strip()
        case = document.case or ""
        image = by_base.get(named) or paired[case]
        name = (named or case) if image is None else image.name if bases[image.base] > 1 else image.base
        if image and named != image.base:
            problems.note(bundle.name, "annotation.filename", "unused", RENAMED, 1, named)
        with found.reading(document.name):
            width, height = (side_of(_text(root, f"size/{side}"), f"size.{side}") for side in ("width", "height"))
            found.add_file(document.name)
            place = found.add_picture(Picture(name, width, height, case))
            for row, item in enumerate(root.findall("object"), 1):
                found.add(place, row, _thing, item)
    leaves.note(problems, bundle.name, USED, WHY)
    if difficult := sum(thing is not None and thing.difficult for thing in found.things):
        found.notes.append(difficult_note(difficult))


def _thing(item: Any) -> Thing:
    label = label_of(_text(item, "name"), "name")
    box = corner_box(*(number(_text(item, f"bndbox/{corner}"), corner) for corner in CORNERS))
    flag = (_text(item, "difficult") or "0").lower()
    if flag not in (*TRUE, *FALSE):
        raise Faulty(repr(flag), "0 or 1, true or false", "difficult")
    return Thing(label, box, difficult=flag in TRUE)


def _text(element: Any, path: str) -> str | None:
    found = element.findtext(path)
    return None if found is None or not found.strip() else found.strip()


READER = annotation_reader(
    "pascal_voc", lambda upload: bool(upload.folder.ending(".xml")), _gather, "Pascal VOC annotations (.xml)", OTHERS
)
