"""LabelMe: a .json an image with shapes[{label, points, shape_type}] in pixels, or the XML of LabelMe's web page.

Polygons, rectangles, rotated boxes, circles and masks are read, points and lines are not. Shapes of one label and
group_id are one object. A score in each shape, as X-AnyLabeling writes it, makes the files a model's.
"""

import base64
import binascii
import io
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from metrics.ingest.formats.annotation_reader import Document, Purpose, annotation_reader, documents, heads, json_of
from metrics.ingest.media.bundle import case_ids
from metrics.ingest.media.drawn_objects import (
    DrawnObjects,
    Faulty,
    Picture,
    Shape,
    Thing,
    bitmap_mask,
    corner_box,
    ellipse,
    label_of,
    number,
    polygon,
    score_of,
    side_of,
)
from metrics.ingest.media.images import MAX_PIXELS
from metrics.ingest.media.xml_files import parse
from metrics.ingest.problems import Problems, first_line
from metrics.ingest.reader import Upload
from metrics.ingest.tables.object_tables import CORNERS

SHAPES = re.compile(rb'"shapes"\s*:\s*\[')
OTHERS = (b'"imagePath"', b'"version"', b'"flags"')
EXPECTED = "{shapes[{label, points, shape_type}], imagePath, imageWidth, imageHeight}"
ROOT = "an <annotation> of LabelMe, with imagesize and objects"
RINGS = ("polygon", "rotation", "quadrilateral")
READ = ("rectangle", "circle", "mask", *RINGS)


def recognises(upload: Upload) -> bool:
    """Return whether one of the first JSON files has shapes as LabelMe writes them."""
    return any(head.startswith(b"{") and SHAPES.search(head) and any(key in head for key in OTHERS)
               for head in heads(upload, ".json"))  # fmt: skip


def recognises_xml(upload: Upload) -> bool:
    """Return whether one of the first XML files has the image size or polygons of LabelMe's web page."""
    return any(b"<annotation>" in head and (b"<imagesize>" in head or b"<polygon>" in head) and b"<bndbox>" not in head
               for head in heads(upload, ".xml"))  # fmt: skip


def _gather(found: DrawnObjects, upload: Upload, _: Purpose) -> None:
    entries = [] if upload.bundle is None else upload.bundle.ending(".json")
    ids = dict(zip([entry.name for entry in entries], case_ids(entries), strict=True))
    skipped: dict[str, int] = {}
    others = 0
    for document in documents(upload, found.problems, entries):
        record = json_of(document, found.problems)
        if record is None:
            found.lost += 1
            continue
        if not isinstance(record, dict) or not isinstance(record.get("shapes"), list):
            others += 1
            continue
        picture = _picture(document, record, ids, found.problems)
        if picture is None:
            found.lost += 1
            continue
        found.add_file(document.name)
        image = found.add_picture(picture)
        for row, group in _groups(record["shapes"], skipped):
            found.add(image, row, partial(_thing, picture), group)
    if others:
        found.notes.append(f"JSON files without shapes: {others:,}. They were not read.")
    if skipped:
        found.notes.append(_skipped(skipped))


def _picture(document: Document, record: dict[str, Any], ids: dict[str, str], problems: Problems) -> Picture | None:
    """Return the image of a file, None and a problem where its size is wrong."""
    path = record.get("imagePath")
    name = path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
    case = None if document.entry is None else ids[document.entry.name]
    if case is not None and "/" in case and name:
        name = case.rpartition("/")[0] + "/" + name  # of several images with one name
    stem = document.name.rsplit("/", 1)[-1].removesuffix(".json")
    try:
        width, height = (side_of(record.get(side), side) for side in ("imageWidth", "imageHeight"))
        return Picture(name or stem, width, height, case)
    except Faulty as fault:
        problems.add(document.name, fault.found, fault.expected, column=fault.column)
        return None


def _groups(shapes: list[Any], skipped: dict[str, int]) -> Iterable[tuple[int, list[Any]]]:
    """Return the shapes of each object with the number of the first; those that are not read are counted."""
    groups: dict[Any, tuple[int, list[Any]]] = {}
    for row, shape in enumerate(shapes, 1):
        kind = shape.get("shape_type") or "polygon" if isinstance(shape, dict) else ""
        if kind and kind not in READ:
            skipped[str(kind)[:40]] = skipped.get(str(kind)[:40], 0) + 1
            continue
        group = shape.get("group_id") if isinstance(shape, dict) else None
        key = (group, shape.get("label")) if isinstance(group, int | str) and kind in RINGS else row
        groups.setdefault(str(key), (row, []))[1].append(shape)
    return groups.values()


def _thing(picture: Picture, shapes: list[Any]) -> Thing:
    first = shapes[0]
    if not isinstance(first, dict):
        raise Faulty(repr(first)[:80], "{label, points, shape_type}")
    label, score = label_of(first.get("label")), score_of(first.get("score"))
    kind = first.get("shape_type") or "polygon"
    if kind in RINGS:
        return Thing(label, polygon([value for point in _points(shape) for value in point] for shape in shapes), score)
    points = _points(first)
    if len(points) == 4 and kind == "rectangle":  # X-AnyLabeling has all corners
        points = [tuple(map(min, zip(*points, strict=True))), tuple(map(max, zip(*points, strict=True)))]
    if len(points) != 2:
        raise Faulty(f"a {kind} of {len(points)} points", "two points", "points")
    (x0, y0), (x1, y1) = points
    if kind == "circle":
        radius = float(np.hypot(x1 - x0, y1 - y0))
        return Thing(label, ellipse(x0, y0, radius, radius), score)
    if kind == "mask":
        return Thing(label, _mask(first.get("mask"), min(x0, x1), min(y0, y1), picture), score)
    return Thing(label, corner_box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), score)


def _points(shape: Any) -> list[tuple[float, float]]:
    points = shape.get("points")
    if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 for point in points):
        raise Faulty(repr(points)[:80], "[[x, y], …]", "points")
    return [(number(x, "points"), number(y, "points")) for x, y in points]


def _mask(text: Any, left: float, top: float, picture: Picture) -> Shape:
    """Return the mask in a PNG of base64, whose upper left corner lies at a point of the image."""
    from PIL import Image

    try:
        data = base64.b64decode(text, validate=True)
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            wide, high = image.size
            if wide * high > MAX_PIXELS:
                raise Faulty(f"a mask of {wide:,} × {high:,} pixels", f"at most {MAX_PIXELS:,}", "mask")
            pixels = np.asarray(image.convert("L")) > 0
    except Faulty:
        raise
    except (TypeError, binascii.Error) as error:
        raise Faulty(f"a mask that cannot be read ({first_line(error)})", "a PNG in base64", "mask") from None
    except Exception as error:  # decoders raise all kinds of errors on damaged data
        raise Faulty(f"a mask that cannot be read ({first_line(error)})", "a complete PNG", "mask") from None
    return bitmap_mask(pixels, round(left), round(top), picture.width, picture.height)


def _gather_xml(found: DrawnObjects, upload: Upload, _: Purpose) -> None:
    entries = [] if upload.bundle is None else upload.bundle.ending(".xml")
    ids = dict(zip([entry.name for entry in entries], case_ids(entries), strict=True))
    boxes = 0
    for document in documents(upload, found.problems, entries):
        root = parse(document.name, document.data, ROOT, found.problems)
        if root is None or root.tag != "annotation":
            if root is not None:
                found.problems.add(document.name, f"a root element <{root.tag[:60]}>", ROOT)
            found.lost += 1
            continue
        try:
            width, height = (side_of(root.findtext("imagesize/" + side), side) for side in ("ncols", "nrows"))
        except Faulty as fault:
            found.problems.add(document.name, fault.found, fault.expected, column=fault.column)
            found.lost += 1
            continue
        stem = document.name.rsplit("/", 1)[-1].removesuffix(".xml")
        case = None if document.entry is None else ids[document.entry.name]
        found.add_file(document.name)
        image = found.add_picture(Picture((root.findtext("filename") or stem).strip(), width, height, case))
        for row, item in enumerate(root.findall("object"), 1):
            found.add(image, row, _drawn_on_the_web, item)
            boxes += item.find("segm") is not None
    if boxes:
        found.notes.append(f"Masks read as their boxes: {boxes:,}.")


def _drawn_on_the_web(item: Any) -> Thing | None:
    if (item.findtext("deleted") or "").strip() == "1":
        return None
    label, box = label_of(item.findtext("name"), "name"), item.find("segm/box")
    if box is not None:
        return Thing(label, corner_box(*(number(box.findtext(name), name) for name in CORNERS)))
    points = [(number(point.findtext("x"), "x"), number(point.findtext("y"), "y")) for point in item.iter("pt")]
    if (item.findtext("type") or "").strip() == "bounding_box" and points:
        xs, ys = zip(*points, strict=True)
        return Thing(label, corner_box(min(xs), min(ys), max(xs), max(ys)))
    return Thing(label, polygon([[value for point in points for value in point]]))


def _skipped(counts: dict[str, int]) -> str:
    listed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    return f"Shapes that are no objects were not read: {listed}."


READER = annotation_reader(
    "labelme", recognises, _gather, "LabelMe annotations (.json)", "a score in each shape, as X-AnyLabeling writes it"
)
XML_READER = annotation_reader(
    "labelme_xml", recognises_xml, _gather_xml, "LabelMe annotations (.xml)", "another format, such as COCO results"
)
