"""What evaluators of detection share: their decorator, worked scenes, and a metric's aggregates of all labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Floats, Numbers
from metrics.core.evaluator import Aggregate, Columns
from metrics.core.evaluator_decorator import evaluator
from metrics.evaluators._half_samples import FEW_TRUTHS, NO_TRUTHS, Spread, number
from metrics.evaluators.detection._matched import Matched, Scene
from metrics.stats.float_tolerance import mean_over, ratio
from metrics.stats.resample_intervals import BIAS, has_enough_truths
from metrics.vision.coco_lines import Line
from metrics.vision.matching import AREAS

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


def label_rows(
    scene: Scene,
    metric: str,
    overall: Floats,
    by_label: Floats,
    objects: Numbers,
    columns: Columns,
    *,
    of_label: str | None = None,
    total: float | None = None,
    counts: Numbers | None = None,
    enough: ArrayLike = True,
    few: str = FEW_TRUTHS,
    bias: float = BIAS,
    why: str | None = None,
) -> list[Aggregate]:
    """Return the aggregate over all labels, from estimates [1 + B], then of each label, from estimates [1 + B, K].

    objects [K]: how many objects each label's value rests on; total: of all labels, by default the sum. They are the n
    of the aggregates unless `counts` [K] is. of_label: another name of the metric for each label. Over all labels there
    is no interval where not `enough`, for the reason `few`. bias: see resample_interval. why: see `number`.
    """
    size = objects.sum() if total is None else total
    of_all, *of_each = (int(count) for count in ((size, *objects) if counts is None else (counts.sum(), *counts)))
    whole = Spread.of(overall, size, scene.drawn, enough=enough, few=few, bias=bias)
    each = Spread.of(by_label, objects, scene.drawn, bias=bias)
    return [
        number(metric, whole, n=of_all, columns=columns, why=why),
        *(
            number(of_label or metric, each, (k,), n=of_each[k], label=label, columns=columns, why=why)
            for k, label in enumerate(scene.labels)
        ),
    ]


def line_rows(found: Matched, line: Line, estimates: Floats) -> list[Aggregate]:
    """Return a line of COCO's summary over all labels and of each, from its estimates [1 + B, K]."""
    columns: Columns = {"iou": line.iou, "area": line.area, "max_dets": line.max_dets, **found.scene.columns}
    truths, why = found.truths(AREAS[line.area]), found.why_none(AREAS[line.area])
    enough = has_enough_truths(truths) or not line.precision
    overall = mean_over(estimates, 1)
    return label_rows(found.scene, line.metric, overall, estimates, truths, columns, enough=enough, why=why)


@dataclass(frozen=True, eq=False, slots=True)
class Shares:
    """What the shares of one data set have in common: `truths` [1 + B, K] counts its ground truths, then of resamples.

    Without any ground truth no share has a value.
    """

    scene: Scene
    truths: Floats
    columns: Columns

    def rows(
        self, metric: str, part: Floats, whole: Floats, *, of_all: Floats | None = None, empty: str | None = None
    ) -> list[Aggregate]:
        """Return `part` / `whole`, each [1 + B, K] by label: first of their sums, then of every label.

        `of_all` [1 + B] replaces the sum of `whole`. `empty` is the reason for no value where `whole` is 0; without it
        the share is of ground truths, and a label without ground truth has none.
        """
        some = self.truths.sum(axis=1) > 0
        total = whole.sum(axis=1) if of_all is None else of_all
        overall = ratio(part.sum(axis=1), np.where(some, total, 0))
        by_label = ratio(part, np.where(some[:, None], whole, 0))
        why = empty if some[0] else NO_TRUTHS
        return label_rows(self.scene, metric, overall, by_label, whole[0], self.columns, total=total[0], why=why)
