"""The objects of an image in what detectors write: a record for each, or columns of boxes, labels and scores."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")
FIFTYONE = "Detections"  # what a field of objects says to be
DEEPEST = 3  # records within a record, down to the objects
INNER = (  # where the objects of an image are
    "predictions", "prediction", "detections", "boundingBoxAnnotations", "objects", "boxes", "outputs", "output",
    "results", "result", "instances", "pred_instances", "label", "ground_truth", "annotations",
)  # fmt: skip
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
    model: str | None = None


def all_of(values: Iterable[Value | None]) -> list[Value] | None:
    """Return the images or objects; None where one is none, after which none is looked at."""
    known: list[Value] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return known


def objects_of(record: Any, depth: int = 0) -> list[Detection] | None:
    """Return the objects of an image, None where the record has none in a known form."""
    if depth > DEEPEST:
        return None
    if isinstance(record, list):
        items = zip(record, map(_item, record), strict=True)
        return all_of(own and own._replace(crowd=_is_crowd(item)) for item, own in items)
    if record is None or not isinstance(record, Mapping):
        return [] if record is None else None
    if key := column_key(record):
        return _of_columns(record, key)
    fields = [key for key, value in record.items() if isinstance(value, Mapping) and value.get("_cls") == FIFTYONE]
    inside = (objects_of(record[key], depth + 1) for key in (*INNER, *fields) if record.get(key) is not None)
    return next((objects for objects in inside if objects is not None), None)


def lists_of(record: Any) -> dict[str, list[Detection]]:
    """Return the lists of objects that an image has, by their keys; none where the record is a list itself."""
    if not isinstance(record, Mapping) or column_key(record):
        return {}
    held = {str(key): objects_of(value, 1) for key, value in record.items() if isinstance(value, list | Mapping)}
    return {key: objects for key, objects in held.items() if objects is not None}


def column_key(record: Any) -> str | None:
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
        labels, scores = (own[0] if own and isinstance(own[0], list) else own for own in (labels, scores))
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
    if not isinstance(item, Mapping):
        return None
    labels = item.get("labels")
    held = labels[0] if isinstance(labels, list) and len(labels) == 1 else None
    if isinstance(held, Mapping) and held.keys() >= {"key", "value"}:  # Valor's
        item = {**item, "label": f"{held['key']}={held['value']}", "score": held.get("score")}
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
        return Detection(label, score, sides_of(ring, 0), True)
    if label is not None and (points := _points(ring)):
        return Detection(label, score, [pick(axis) for pick in (min, max) for axis in zip(*points, strict=True)], False)
    if all(name in item for name in ("x", "y", "width", "height", "class")):
        centred = [item[name] for name in ("x", "y", "width", "height")]
        return Detection(label, score, sides_of(centred, 0.5), False)
    return None


def _points(rings: Any) -> list[list[float]]:
    """Return the points x, y of the one ring of an outline, as GeoJSON has it; none of another value."""
    ring = rings[0] if isinstance(rings, list) and len(rings) == 1 and isinstance(rings[0], list) else []
    pairs = all(isinstance(point, list) and len(point) == 2 for point in ring)
    return ring if pairs and all(isinstance(value, int | float) for point in ring for value in point) else []


def sides_of(box: Sequence[Any], share: float) -> list[Any]:
    """Return the corners of a box about a point that lies at a share of its sides; what is no number stays."""
    x, y, width, height = box
    if not all(isinstance(value, int | float) for value in (x, y, width, height)):
        return [x, y, width, height]
    left, top = x - share * width, y - share * height
    return [left, top, left + width, top + height]
