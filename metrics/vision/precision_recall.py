"""Precision and recall of detections over IoU thresholds, recall points, classes, area ranges and maxDets."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Bools, Bytes, Floats, Int32s, Ints
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

    miss_image: Int32s
    miss_starts: Ints
    image: Int32s
    score: Floats
    before: Int32s
    states: Bytes
    event_starts: Ints


@dataclass(frozen=True, eq=False, slots=True)
class Ranking:
    """All that precision and recall are computed from.

    Predictions by class and descending score (Objects.score_order), ground truths in file order; `event`, `state`,
    `outside` and `truth_ignored` as in Matches.
    """

    class_starts: Ints
    image: Int32s
    rank: Int32s
    score: Floats
    outside: Bytes
    event: Int32s
    state: Bytes
    truth_image: Int32s
    truth_class: Int32s
    truth_ignored: Bools

    @classmethod
    def of(cls, objects: Objects, matches: Matches) -> "Ranking":
        """Gather the columns once for all area ranges and maxDets."""
        order = objects.score_order.astype(np.intp)
        return cls(
            objects.class_starts, objects.prediction_image[order], objects.rank[order], objects.score[order],
            np.take(matches.outside, order, axis=1).view(np.uint8), matches.event_of[order], matches.state,
            objects.truth_image, objects.truth_class, matches.truth_ignored,
        )  # fmt: skip

    def truths(self, area: int) -> Ints:
        """Return how many ground truths of each class count in the area range of that index: [K]."""
        return np.bincount(self.truth_class[~self.truth_ignored[area]], minlength=len(self.class_starts) - 1)

    def select(self, area: int, max_dets: int, lowest: float = -np.inf) -> Selection:
        """Return the predictions of rank < max_dets and score ≥ lowest, for the area range of that index."""
        from metrics.vision.compiled import curves

        return Selection(
            *curves.select(
                self.class_starts, self.image, self.rank, self.score, self.outside[area], self.event,
                self.state, area, max_dets, lowest,
            )
        )  # fmt: skip


def precision_at_recalls(ranking: Ranking, area: int, max_dets: int) -> tuple[Floats, Floats]:
    """Return interpolated precision and its score at RECALLS, each [K, T, R]; NaN for a class without ground truth.

    With predictions by descending score, TP and FP counted so far and n ground truths: recall = TP / n, precision =
    TP / (TP + FP), and precision at recall r = the largest precision at any recall ≥ r, 0 where r is not reached. r is
    looked up among the recalls reached, so 7 of 10 reaches .7 in spite of rounding. The score is that at which r is
    reached. Source: pycocotools 2.0, `COCOeval.accumulate`.
    """
    from metrics.vision.compiled import curves

    chosen, truths = ranking.select(area, max_dets), ranking.truths(area)
    precision = np.full((len(truths), len(chosen.states), len(RECALLS)), np.nan)
    scores = precision.copy()
    first_score = np.zeros(len(truths))
    some = np.flatnonzero(np.diff(ranking.class_starts))
    first_score[some] = ranking.score[ranking.class_starts[some]]
    curves.curves(
        chosen.before, chosen.score, chosen.states, chosen.event_starts, first_score, truths, RECALLS, precision, scores
    )
    return precision, scores
