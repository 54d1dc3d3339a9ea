"""Ground truths and predictions of a whole data set as columns, sorted once for all that is computed from them."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.vision.boxes import box_areas
from metrics.vision.masks import starts


class Overlap(Protocol):
    """The IoU of objects that are more than boxes, pair by pair."""

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:
        """Return the IoU [P] of prediction[p] with truth[p] (rows); what is less than `floor` may be 0."""


@dataclass(frozen=True, eq=False, slots=True)
class Objects:
    """G ground truths and N predictions in `images` images and `classes` classes; one row each, in file order.

    Boxes are x, y, width, height in pixels, areas square pixels. The orders are permutations of rows: `truth_order` by
    image, class; `prediction_order` by image, class, descending score; `by_score` by descending score, image;
    `score_order` by class, descending score, image; what ties keeps file order. Class k is
    score_order[class_starts[k] : class_starts[k + 1]]. `rank` counts the predictions of the same image and class that
    stand before a prediction: those with rank < maxDets count. Without `overlap` the boxes are the objects, with it the
    objects lie inside them.
    """

    images: int
    classes: int
    truth_image: Int32s
    truth_class: Int32s
    truth_box: Floats
    truth_area: Floats
    crowd: Bools
    prediction_image: Int32s
    prediction_class: Int32s
    prediction_box: Floats
    prediction_area: Floats
    score: Floats
    truth_order: Int32s
    prediction_order: Int32s
    by_score: Int32s
    score_order: Int32s
    class_starts: Ints
    rank: Int32s
    overlap: Overlap | None = None


def prepare(
    *,
    images: int,
    classes: int,
    truth_image: ArrayLike,
    truth_class: ArrayLike,
    truth_box: ArrayLike,
    truth_area: ArrayLike | None = None,
    crowd: ArrayLike | None = None,
    prediction_image: ArrayLike,
    prediction_class: ArrayLike,
    prediction_box: ArrayLike,
    prediction_area: ArrayLike | None = None,
    score: ArrayLike,
    overlap: Overlap | None = None,
) -> Objects:
    """Sort columns into Objects. Images and classes are codes from 0 below their number; boxes are [G, 4] and [N, 4].

    Areas default to those of the boxes, `crowd` to none. Scores must be finite (they are radix-sorted) and codes in
    range: readers of files check that and name the row.
    """
    from metrics.vision.compiled import sorting

    truths, predictions = _boxes(truth_box), _boxes(prediction_box)
    where, kinds = _column(prediction_image, np.int32), _column(prediction_class, np.int32)
    truth_where, truth_kinds = _column(truth_image, np.int32), _column(truth_class, np.int32)
    scores = _column(score, np.float64)
    rows = np.arange(len(scores), dtype=np.int32)
    by_image = sorting.sort_by_code(rows, where, images)
    by_score = sorting.sort_by_score(by_image, scores)
    score_order = sorting.sort_by_code(by_score, kinds, classes)
    order = sorting.sort_by_code(score_order, where, images)
    truth_rows = np.arange(len(truths), dtype=np.int32)
    truth_order = sorting.sort_by_code(sorting.sort_by_code(truth_rows, truth_kinds, classes), truth_where, images)
    return Objects(
        images, classes,
        truth_where, truth_kinds, truths,
        box_areas(truths) if truth_area is None else _column(truth_area, np.float64),
        np.zeros(len(truths), np.bool_) if crowd is None else _column(crowd, np.bool_),
        where, kinds, predictions,
        box_areas(predictions) if prediction_area is None else _column(prediction_area, np.float64),
        scores, truth_order, order, by_score, score_order,
        starts(np.bincount(kinds, minlength=classes)), sorting.ranks(order, where, kinds), overlap,
    )  # fmt: skip


def _boxes(boxes: ArrayLike) -> Floats:
    return _column(boxes, np.float64).reshape(-1, 4)


def _column(values: ArrayLike, kind: type[np.generic]) -> NDArray[Any]:
    """Return the values in one run of memory, as loops want them."""
    return np.require(np.asarray(values), kind, ["C", "W"])
