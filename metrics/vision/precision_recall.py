"""Precision and recall of detections over IoU thresholds, recall points, classes, area ranges and maxDets."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from metrics.vision.arrays import Floats, Ints
from metrics.vision.matching import Matches
from metrics.vision.objects import Objects

RECALLS: Floats = np.linspace(0.0, 1.0, 101)
MAX_DETS = (1, 10, 100)


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """The predictions that count for one area range and maxDets, by class and descending score.

    Predictions without any candidate (misses) are false positives at every IoU: of them `miss_image` remains. Events
    are the others, with a state per threshold [T, S]; `before` counts the misses of the class that outscore the event.
    Classes begin at `miss_starts` and `event_starts` [K + 1].
    """

    miss_image: Ints
    miss_starts: NDArray[np.int64]
    image: Ints
    score: Floats
    before: Ints
    states: NDArray[np.uint8]
    event_starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class PrecisionRecall:
    """pycocotools' arrays: `precision` and `scores` [T, R, K, A, M], `recall` [T, K, A, M]; −1 without ground truth.

    `truths` [K, A] counts the ground truths that recall is of (neither crowd nor out of the area range).
    """

    precision: Floats
    scores: Floats
    recall: Floats
    truths: NDArray[np.int64]
    max_dets: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Ranking:
    """Predictions by class and descending score (Objects.score_order): the columns that selections read through."""

    class_starts: NDArray[np.int64]
    image: Ints
    rank: Ints
    score: Floats
    outside: NDArray[np.uint8]
    event: Ints
    state: NDArray[np.uint8]

    @classmethod
    def of(cls, objects: Objects, matches: Matches) -> "Ranking":
        """Gather the columns once for all area ranges and maxDets."""
        order = objects.score_order.astype(np.intp)
        return cls(
            objects.class_starts, objects.prediction_image[order], objects.rank[order], objects.score[order],
            np.take(matches.outside, order, axis=1).view(np.uint8), matches.event_of[order], matches.state,
        )  # fmt: skip

    def select(self, area: int, max_dets: int, lowest: float = -np.inf) -> Selection:
        """Return the predictions of rank < max_dets and score ≥ lowest, for the area range of that index."""
        from metrics.vision.compiled import curves

        return Selection(
            *curves.select(
                self.class_starts, self.image, self.rank, self.score, self.outside[area], self.event,
                self.state, area, max_dets, lowest,
            )
        )  # fmt: skip


def accumulate(
    objects: Objects,
    matches: Matches,
    max_dets: Sequence[int] = MAX_DETS,
    recalls: Floats = RECALLS,
    ranking: Ranking | None = None,
    areas: Sequence[int] | None = None,
) -> PrecisionRecall:
    """Interpolated precision at `recalls` (ascending) and the final recall, for any list of maxDets (made ascending).

    With predictions by descending score, TP and FP counted so far and n ground truths: recall = TP / n, precision =
    TP / (TP + FP), and precision at recall r = the largest precision at any recall ≥ r, 0 where r is not reached. r is
    looked up among the recalls reached, so 7 of 10 reaches .7 in spite of rounding. `scores` holds the score at which
    r is reached. `areas`: the indices of the area ranges wanted, default all. Source: pycocotools 2.0,
    `COCOeval.accumulate`.
    """
    from metrics.vision.compiled import curves

    limits = tuple(sorted(set(max_dets)))
    wanted = range(len(matches.areas)) if areas is None else areas
    count, classes = len(matches.thresholds), objects.classes
    precision = np.full((len(wanted), len(limits), classes, count, len(recalls)), -1.0)
    scores = np.full_like(precision, -1.0)
    recall = np.full(precision.shape[:-1], -1.0)
    truths = count_truths(objects, matches)[:, list(wanted)]
    by_area = np.ascontiguousarray(truths.T)
    some = np.flatnonzero(np.diff(objects.class_starts))
    first_score = np.zeros(classes)
    columns = Ranking.of(objects, matches) if ranking is None else ranking
    first_score[some] = columns.score[objects.class_starts[some]]

    def fill(place: tuple[int, int]) -> None:
        a, m = place
        chosen = columns.select(wanted[a], limits[m])
        curves.curves(
            chosen.before, chosen.score, chosen.states, chosen.event_starts, first_score, by_area[a],
            recalls, precision[a, m], scores[a, m], recall[a, m],
        )  # fmt: skip

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(fill, product(range(len(wanted)), range(len(limits)))))
    return PrecisionRecall(
        precision.transpose(3, 4, 2, 0, 1),
        scores.transpose(3, 4, 2, 0, 1),
        recall.transpose(3, 2, 0, 1),
        truths,
        limits,
    )


def count_truths(objects: Objects, matches: Matches) -> NDArray[np.int64]:
    """Return the ground truths of each class that count in each area range: [K, A]."""
    columns = [
        np.bincount(objects.truth_class[~ignored], minlength=objects.classes) for ignored in matches.truth_ignored
    ]
    return np.ascontiguousarray(np.stack(columns, axis=1), np.int64)


def mean_known(values: Floats) -> float:
    """Return the mean of what is not −1, as pycocotools' summary takes it; −1 where nothing is."""
    known = values[values > -1]
    return float(known.mean()) if len(known) else -1.0


def mean_over(values: Floats, *axes: int) -> Floats:
    """Return the mean over `axes` of what is not NaN; NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=axes)
    total = np.where(known, values, 0.0).sum(axis=axes)
    result: Floats = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return result
