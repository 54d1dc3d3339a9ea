"""What detection evaluators declare alike, and scenes small enough to work out by hand for their worked examples."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from metrics.core.evaluator_decorator import evaluator

detection_evaluator = partial(
    evaluator,
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    has_thresholds=False,
    standards=("valid and reliable", "outcomes analysis"),
)


def _box(label: str, x: float, y: float, width: float, height: float, **more: Any) -> dict[str, Any]:
    return {"case_id": "a", "label": label, "x": x, "y": y, "width": width, "height": height, **more}


def _scene(annotations: list[dict[str, Any]], predictions: list[dict[str, Any]]) -> Mapping[str, Any]:
    return {
        "task": "detection",
        "cases": [{"case_id": "a"}],
        "annotations": [{"annotation_id": index + 1, **row} for index, row in enumerate(annotations)],
        "outputs": [{"case_id": "a", "model": "m"}],
        "predictions": [{"model": "m", **row} for row in predictions],
    }


# Two cats. Best first: the left one exactly; nothing there; the right one, 20 pixels off, IoU 80/120.
TWO_CATS = _scene(
    [_box("cat", 0, 0, 100, 100), _box("cat", 200, 0, 100, 100)],
    [
        _box("cat", 0, 0, 100, 100, score=0.9),
        _box("cat", 400, 0, 50, 50, score=0.8),
        _box("cat", 220, 0, 100, 100, score=0.7),
    ],
)

# One person found, two predictions inside a crowd of people, and a dog where no dog is.
CROWDED_STREET = _scene(
    [_box("person", 0, 0, 50, 100, is_crowd=False), _box("person", 200, 0, 200, 100, is_crowd=True)],
    [
        _box("person", 220, 0, 20, 50, score=0.95),
        _box("person", 0, 0, 50, 100, score=0.9),
        _box("person", 300, 10, 20, 50, score=0.85),
        _box("dog", 0, 300, 40, 40, score=0.8),
    ],
)

# A dog that is taken for a cat with more confidence than for a dog; a cat found; a fox that is missed.
ZOO = _scene(
    [_box("dog", 0, 0, 100, 100), _box("cat", 200, 0, 100, 100), _box("fox", 400, 0, 100, 100)],
    [
        _box("cat", 0, 0, 100, 100, score=0.9),
        _box("dog", 0, 0, 100, 100, score=0.8),
        _box("cat", 200, 0, 100, 100, score=0.7),
        _box("fox", 400, 0, 100, 100, score=0.3),
    ],
)

# As LVIS labels: nobody looked for foxes in image a; in b the cats are not all labelled, and there is no dog.
LVIS_ZOO: Mapping[str, Any] = {
    "task": "detection",
    "cases": [
        {"case_id": "a", "negative_labels": ["cat"]},
        {"case_id": "b", "negative_labels": ["dog"], "not_exhaustive_labels": ["cat"]},
    ],
    "annotations": [
        {"annotation_id": 1, **_box("dog", 0, 0, 100, 100)},
        {"annotation_id": 2, **_box("cat", 0, 0, 100, 100), "case_id": "b"},
        {"annotation_id": 3, **_box("cat", 300, 0, 100, 100), "case_id": "b"},
    ],
    "outputs": [{"case_id": "a", "model": "m"}, {"case_id": "b", "model": "m"}],
    "predictions": [
        {"model": "m", **_box("fox", 200, 0, 50, 50, score=0.95)},
        {"model": "m", **_box("dog", 0, 0, 100, 100, score=0.9)},
        {"model": "m", **_box("cat", 200, 0, 50, 50, score=0.4)},
        {"model": "m", **_box("cat", 0, 0, 100, 100, score=0.9), "case_id": "b"},
        {"model": "m", **_box("cat", 500, 0, 50, 50, score=0.8), "case_id": "b"},
        {"model": "m", **_box("dog", 200, 0, 50, 50, score=0.5), "case_id": "b"},
    ],
}

# Two cats and a difficult one. Best first: one exactly; the difficult one; the first again; the other one.
DIFFICULT_CATS = _scene(
    [_box("cat", 0, 0, 100, 100), _box("cat", 200, 0, 100, 100, difficult=True), _box("cat", 400, 0, 100, 100)],
    [
        _box("cat", 0, 0, 100, 100, score=0.9),
        _box("cat", 200, 0, 100, 100, score=0.8),
        _box("cat", 10, 0, 100, 100, score=0.7),
        _box("cat", 400, 0, 100, 100, score=0.6),
    ],
)

# A person and a group of people; nobody looked for dogs. Best first: the person; nothing there; two in the group.
OPEN_IMAGES_STREET: Mapping[str, Any] = {
    **_scene(
        [_box("person", 0, 0, 50, 100), _box("person", 200, 0, 200, 100, is_crowd=True)],
        [
            _box("person", 0, 0, 50, 100, score=0.9),
            _box("person", 0, 300, 50, 100, score=0.8),
            _box("person", 220, 0, 20, 50, score=0.7),
            _box("person", 300, 10, 20, 50, score=0.6),
            _box("dog", 0, 300, 40, 40, score=0.5),
        ],
    ),
    "cases": [{"case_id": "a", "negative_labels": ["cat"]}],
}

_TURNED = [[0.0, 50.0, 50.0, 0.0, 100.0, 50.0, 50.0, 100.0]]

# A ship that lies across its upright box; a model that finds it, and then the upright box, which is twice as large.
ROTATED_SHIP = _scene(
    [_box("ship", 0, 0, 100, 100, polygons=_TURNED)],
    [_box("ship", 0, 0, 100, 100, polygons=_TURNED, score=0.9), _box("ship", 0, 0, 100, 100, score=0.8)],
)

# A pond of 40 × 40 pixels in an image whose contours are 1 pixel wide; the model leaves out its lowest row.
SHORT_POND: Mapping[str, Any] = {
    **_scene([_box("pond", 5, 5, 40, 40)], [_box("pond", 5, 5, 40, 39, score=0.9)]),
    "cases": [{"case_id": "a", "image_width": 50, "image_height": 50}],
}

# A near car that is found, a far one that is not, and a false alarm, in the rain.
NEAR_AND_FAR: Mapping[str, Any] = {
    **_scene(
        [_box("car", 0, 0, 100, 100, distance=10), _box("car", 200, 0, 20, 20, distance=60)],
        [_box("car", 0, 0, 100, 100, score=0.9), _box("car", 300, 0, 20, 20, score=0.8)],
    ),
    "cases": [{"case_id": "a", "weather": "rain"}],
}
