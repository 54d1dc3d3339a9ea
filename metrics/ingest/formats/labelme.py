"""LabelMe: a .json an image with shapes[{label, points, shape_type}] in pixels, or the XML of LabelMe's web page.

Polygons, rectangles, rotated boxes, circles and masks are read, points and lines are not. Shapes of one label and
group_id, whatever their kinds, are one object: their union. Its score is the highest of theirs. A score in each shape,
as X-AnyLabeling writes it, makes the files a model's.
"""

import base64
import binascii
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from metrics.ingest.formats.annotation_reader import (
    Document,
    Purpose,
    annotation_reader,
    documents,
    heads,
    json_of,
    xml_annotations,
)
from metrics.ingest.leaf_notes import Leaves, note_unused
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
from metrics.ingest.reader import Upload
from metrics.ingest.source import first_line
from metrics.ingest.tables.object_tables import CORNERS
from metrics.vision.masks import Shapes, draw

SHAPES = re.compile(rb'"shapes"\s*:\s*\[')
OTHERS = (b'"imagePath"', b'"version"', b'"flags"')
ROOT = "an <annotation> of LabelMe, with imagesize and objects"
RINGS = ("polygon", "rotation", "quadrilateral", "oriented_rectangle")
NO_AREA = ("point", "points", "line", "linestrip")
READ = ("rectangle", "circle", "mask", *RINGS)
FILE_KEYS = ("shapes", "imagePath", "imageWidth", "imageHeight")
SHAPE_KEYS = ("label", "points", "shape_type", "group_id", "score", "mask", "difficult", "direction")
WEB_USED = {  # of LabelMe's web page
    "annotation.filename": "metadata.image_name", "annotation.imagesize.nrows": "image_height",
    "annotation.imagesize.ncols": "image_width", "annotation.object.name": "label",
    "annotation.object.deleted": "whether it is an object", "annotation.object.type": "whether it is a box",
    "annotation.object.polygon.pt": "polygons", "annotation.object.segm.box": "x, y, width, height",
}  # fmt: skip
AROUND = "they are no corners of a box, as the object says: the box around them is read"
GROUPED = "shapes of one label and group_id are one object"


def recognises(upload: Upload) -> bool:
    """Return whether one of the first JSON files has shapes as LabelMe writes them."""
    return any(head.startswith(b"{") and SHAPES.search(head) and any(key in head for key in OTHERS)
               for head in heads(upload, ".json"))  # fmt: skip


def recognises_xml(upload: Upload) -> bool:
    """Return whether one of the first XML files has the image size or polygons of LabelMe's web page."""
    return any(b"<annotation>" in head and (b"<imagesize>" in head or b"<polygon>" in head) and b"<bndbox>" not in head
               for head in heads(upload, ".xml"))  # fmt: skip


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    skipped: dict[str, int] = {}
    others = 0
    for document in documents(upload, found.problems, ".json"):
        record = json_of(document, found.problems)
        if record is None:
            found.lost += 1
            continue
        if not isinstance(record, dict) or not isinstance(record.get("shapes"), list):
            others += 1
            continue
        with found.reading(document.name):
            picture = _picture(document, record)
            found.add_file(document.name)
            flags = {"flags": record.get("flags")} if purpose == "suite" else {}
            image = found.add_picture(picture._replace(beside=flags))
            _note_keys(found, "", [record], (*FILE_KEYS, *flags))
            _note_keys(found, "shapes[].", [shape for shape in record["shapes"] if isinstance(shape, dict)], SHAPE_KEYS)
            for row, group in _groups(record["shapes"], skipped):
                found.add(image, row, partial(_thing, picture), group)
                if len(group) > 1:
                    found.problems.note(found.file, "shapes[].group_id", "used", GROUPED, 1, group[0]["group_id"])
    for kind, count in skipped.items():
        why = "no area, so no object to match" if kind in NO_AREA else "no kind of shape that LabelMe has"
        found.problems.note(found.file, f"shapes of type {kind}", "unused", why, count)
    if others:
        found.problems.note(found.file, "*.json without shapes", "unused", "no LabelMe annotations", others)


def _picture(document: Document, record: dict[str, Any]) -> Picture:
    path = record.get("imagePath")
    name = path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
    case = document.case
    if case is not None and "/" in case and name:
        name = case.rpartition("/")[0] + "/" + name  # of several images with one name
    width, height = (side_of(record.get(side), side) for side in ("imageWidth", "imageHeight"))
    return Picture(name or document.stem, width, height, case)


def _groups(shapes: list[Any], skipped: dict[str, int]) -> Iterable[tuple[int, list[Any]]]:
    """Return the shapes of each object with the number of the first; those that are not read are counted."""
    groups: dict[Any, tuple[int, list[Any]]] = {}
    for row, shape in enumerate(shapes, 1):
        kind = _kind_of(shape) if isinstance(shape, dict) else ""
        if kind and kind not in READ:
            skipped[str(kind)[:40]] = skipped.get(str(kind)[:40], 0) + 1
            continue
        group = shape.get("group_id") if isinstance(shape, dict) else None
        key = (group, shape.get("label")) if isinstance(group, int | str) and group != "" and kind else row
        groups.setdefault(str(key), (row, []))[1].append(shape)
    return groups.values()


def _kind_of(shape: dict[str, Any]) -> str:
    kind = str(shape.get("shape_type") or "polygon")
    return kind.lower() if kind.lower() in READ else kind


def _note_keys(found: DrawnObjects, path: str, records: list[dict[str, Any]], read: tuple[str, ...]) -> None:
    for key in dict.fromkeys(key for record in records for key in record if key not in read):
        given = (record.get(key) for record in records)
        note_unused(found.problems, found.file, f"{path}{key}", given, "no evaluator uses it")


def _thing(picture: Picture, shapes: list[Any]) -> Thing:
    first = shapes[0]
    if not isinstance(first, dict):
        raise Faulty(repr(first)[:80], "{label, points, shape_type}")
    scores = [score for shape in shapes if (score := score_of(shape.get("score"))) is not None]
    label, parts = label_of(first.get("label")), [_shape(shape, picture) for shape in shapes]
    drawn = parts[0] if len(parts) == 1 else _union(parts, picture)
    difficult = any(shape.get("difficult") is True for shape in shapes)
    return Thing(label, drawn, max(scores, default=None), difficult=difficult)


def _shape(shape: dict[str, Any], picture: Picture) -> Shape:
    kind, points = _kind_of(shape), _points(shape)
    if kind in RINGS:
        return polygon([[value for point in points for value in point]])
    if len(points) == 4 and kind == "rectangle":  # X-AnyLabeling has all corners
        points = [tuple(map(min, zip(*points, strict=True))), tuple(map(max, zip(*points, strict=True)))]
    if len(points) != 2:
        raise Faulty(f"a {kind} of {len(points)} points", "two points", "points")
    (x0, y0), (x1, y1) = points
    if kind == "circle":
        radius = float(np.hypot(x1 - x0, y1 - y0))
        return ellipse(x0, y0, radius, radius)
    if kind == "mask":
        return _mask(shape.get("mask"), min(x0, x1), min(y0, y1), picture)
    return corner_box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _union(parts: list[Shape], picture: Picture) -> Shape:
    """Return the shapes as one: the rings of all, or a mask where one is a mask."""
    import shapely

    rings = [ring for part in parts for ring in (part.rings or ([] if part.rle else [_corners(part.box)]))]
    whole = polygon(rings) if rings else parts[0]
    if len(rings) == len(parts):
        areas = shapely.make_valid([shapely.Polygon(np.reshape(ring, (-1, 2))) for ring in rings])
        return replace(whole, area=float(shapely.union_all(areas).area))
    if picture.width is None or picture.height is None or picture.width * picture.height > MAX_PIXELS:
        raise Faulty("a mask in an image of unknown size", f"its size, at most {MAX_PIXELS:,} pixels", "mask")
    boxes, outlines, codes = zip(*((part.box, part.rings, part.rle) for part in parts), strict=True)
    masks = draw(Shapes.of(box=boxes, polygons=outlines, rle=codes), picture.height, picture.width)
    pixels = np.zeros(picture.width * picture.height, bool)
    for begin, end in masks.edges.reshape(-1, 2).tolist():
        pixels[begin:end] = True
    return bitmap_mask(pixels.reshape(picture.width, picture.height).T, 0, 0, picture.width, picture.height)


def _corners(box: tuple[float, float, float, float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


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
    boxes = 0
    leaves = Leaves()
    for document, root in xml_annotations(found, upload, ROOT):
        with found.reading(document.name):
            width, height = (side_of(root.findtext("imagesize/" + side), side) for side in ("ncols", "nrows"))
            found.add_file(document.name)
            leaves.add_element(root)
            name = (root.findtext("filename") or document.stem).strip()
            image = found.add_picture(Picture(name, width, height, document.case))
            for row, item in enumerate(root.findall("object"), 1):
                found.add(image, row, partial(_drawn_on_the_web, found), item)
                boxes += item.find("segm") is not None
    leaves.note(found.problems, found.file, WEB_USED, reason="no evaluator uses it")
    if boxes:
        found.notes.append(f"Masks read as their boxes: {boxes:,}.")


def _drawn_on_the_web(found: DrawnObjects, item: Any) -> Thing | None:
    if (item.findtext("deleted") or "").strip() == "1":
        return None
    label, box = label_of(item.findtext("name"), "name"), item.find("segm/box")
    if box is not None:
        return Thing(label, corner_box(*(number(box.findtext(name), name) for name in CORNERS)))
    points = [(number(point.findtext("x"), "x"), number(point.findtext("y"), "y")) for point in item.iter("pt")]
    if (item.findtext("type") or "").strip() == "bounding_box" and points:
        xs, ys = zip(*points, strict=True)
        if {*points} != {(x, y) for x in (min(xs), max(xs)) for y in (min(ys), max(ys))}:
            found.problems.note(found.file, "annotation.object.polygon.pt", "unused", AROUND, 1, str(points))
        return Thing(label, corner_box(min(xs), min(ys), max(xs), max(ys)))
    return Thing(label, polygon([[value for point in points for value in point]]))


READER = annotation_reader(
    "labelme", recognises, _gather, "LabelMe annotations (.json)", "a score in each shape, as X-AnyLabeling writes it"
)
XML_READER = annotation_reader(
    "labelme_xml", recognises_xml, _gather_xml, "LabelMe annotations (.xml)", "another format, such as COCO results"
)
