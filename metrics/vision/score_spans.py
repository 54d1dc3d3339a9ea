"""The score thresholds between which each prediction and ground truth has an outcome."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.vision.matching import LARGEST, Pairs
from metrics.vision.objects import Objects
from metrics.vision.outcomes import IGNORED, MISCLASSIFIED, TP, Outcomes


@dataclass(frozen=True, eq=False, slots=True)
class Spans:
    """Objects of one kind, those first that show it best: at score threshold s object i has it where low < s ≤ high.

    `row` [S] are rows of predictions or, for `missed`, of ground truths, `label` and `image` theirs.
    """

    kind: str
    missed: bool
    row: NDArray[np.intp]
    label: Int32s
    image: Int32s
    low: Floats
    high: Floats

    def at(self, score: float) -> Bools:
        """Return which of the objects have the kind at a score threshold: [S]."""
        return (self.low < score) & (score <= self.high)


def score_spans(objects: Objects, found: Outcomes, iou: float, pairs: Pairs) -> tuple[Spans, ...]:
    """Return the spans of tp, fp_misclassification, fp_hallucination, fn_misclassification, fn_no_prediction.

    `found` are the outcomes at `iou` of all predictions: a better prediction is matched before a worse one, so leaving
    out those under a score threshold changes no match above it. Any other false positive is an fp_hallucination
    here. `pairs` are those of `image_pairs` at a floor of at most `iou`.
    """
    right, mistaken = found.prediction == TP, found.prediction == MISCLASSIFIED
    wrong = ~right & ~mistaken & (found.prediction != IGNORED)
    taken = np.full(len(objects.crowd), -np.inf)
    taken[found.truth[right]] = objects.score[right]
    rival = np.where(found.ground_truth == IGNORED, -np.inf, _rivals(objects, min(iou, LARGEST), pairs))
    counted = found.ground_truth != IGNORED

    def predicted(kind: str, chosen: Bools) -> Spans:
        row = _first(np.flatnonzero(chosen), objects.score)
        label, image = objects.prediction_class[row], objects.prediction_image[row]
        return Spans(kind, False, row, label, image, np.full(len(row), -np.inf), objects.score[row])

    def missing(kind: str, chosen: Bools, low: Floats, high: Floats, by: Floats) -> Spans:
        row = _first(np.flatnonzero(chosen), by)
        return Spans(kind, True, row, objects.truth_class[row], objects.truth_image[row], low[row], high[row])

    everywhere = np.full(len(taken), np.inf)
    return (
        predicted("tp", right),
        predicted("fp_misclassification", mistaken),
        predicted("fp_hallucination", wrong),
        missing("fn_misclassification", counted & (rival > taken), taken, rival, rival),
        missing("fn_no_prediction", counted, np.maximum(taken, rival), everywhere, objects.truth_area),
    )


def _rivals(objects: Objects, threshold: float, pairs: Pairs) -> Floats:
    """Return the highest score [G] of a prediction of another label on each ground truth, −inf without one."""
    prediction = np.repeat(pairs.prediction, np.diff(pairs.start))
    other = objects.prediction_class[prediction] != objects.truth_class[pairs.truth]
    close = other & (pairs.iou >= threshold)
    best = np.full(len(objects.crowd), -np.inf)
    np.maximum.at(best, pairs.truth[close], objects.score[prediction[close]])
    return best


def _first(rows: NDArray[np.intp], by: Floats) -> NDArray[np.intp]:
    """Return `rows` by falling value of `by`, which is finite there, equal ones in their order."""
    from metrics.vision.compiled import sorting

    return sorting.sort_by_score(rows.astype(np.int32), by).astype(np.intp)
