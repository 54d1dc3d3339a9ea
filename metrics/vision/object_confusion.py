"""Matching of predictions to ground truths of any label, by geometry first, for the confusion of labels."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Bools, Int32s, Ints
from metrics.vision import outcomes
from metrics.vision.compiled.match_states import ASIDE
from metrics.vision.matching import LARGEST, Pairs, assign
from metrics.vision.objects import Objects


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The cells of objects in the confusion matrix of K labels: predictions in file order, then missed ground truths.

    truth is K for a prediction that matches nothing (background), predicted is K for a ground truth that nothing
    matches (missed); both are −1 for a prediction that does not count.
    """

    truth: Int32s
    predicted: Int32s
    image: Int32s

    def count(self, labels: int) -> Ints:
        """Return how many objects each cell holds: [K + 1, K + 1], truth down, predicted across."""
        size, held = labels + 1, self.truth >= 0
        flat = np.bincount(self.truth[held].astype(np.int64) * size + self.predicted[held], minlength=size * size)
        return flat.reshape(size, size)


def match_any_label(
    objects: Objects,
    pairs: Pairs,
    iou: float,
    score: float,
    ignored: Bools | None = None,
    spared: Bools | None = None,
    *,
    nearest: bool = False,
) -> outcomes.Outcomes:
    """Match the predictions of score ≥ `score` with ground truths of their image, of any label.

    Best score first (file order where scores tie), each takes the free ground truth of the highest IoU ≥ `iou`; of
    equal ones one of its own label, then the last. One that takes none is ignored where a crowd of its own label covers
    it at IoU ≥ `iou`. The kinds are tp (took one of its label), fp_misclassification (took one of another),
    fp_hallucination, ignored, below_score; of ground truths tp (taken, whatever the label), fn_no_prediction, ignored.
    `pairs` are those of `image_pairs` at a floor of at most `iou`. `ignored` [G] are ground truths that are neither
    found nor missed (by default crowds), and what takes one is ignored; `spared` [N] predictions that are ignored where
    they take none; nearest: by Pascal VOC's rule, see `assign`.
    """
    threshold, aside = min(iou, LARGEST), objects.crowd if ignored is None else ignored
    found = _by_score(objects, threshold, score, pairs)
    nowhere = np.zeros((1, len(found.prediction)), np.bool_)
    matched, state = assign(objects, found, np.array([threshold]), aside[None], nowhere, nearest=nearest)
    taken, event = matched[:, 0, 0], found.prediction

    truth, overlap = np.full(len(objects.score), -1, np.int32), np.full(len(objects.score), np.nan)
    truth[event], overlap[event] = taken, outcomes.pair_iou(found, taken)
    took = np.flatnonzero(truth >= 0)
    kinds = np.full(len(truth), outcomes.BACKGROUND, np.int8)
    own = objects.truth_class[truth[took]] == objects.prediction_class[took]
    kinds[took] = np.where(own, outcomes.TP, outcomes.MISCLASSIFIED)
    kinds[event[state[:, 0, 0] == ASIDE]] = outcomes.IGNORED
    if spared is not None:
        kinds[spared & (kinds == outcomes.BACKGROUND)] = outcomes.IGNORED
    kinds[objects.score < score] = outcomes.BELOW
    truths = np.where(aside, outcomes.IGNORED, outcomes.FN_MISSED).astype(np.int8)
    hit = taken[taken >= 0]
    truths[hit[~aside[hit]]] = outcomes.TP
    return outcomes.Outcomes(kinds, truth, overlap, truths)


def cells(objects: Objects, found: outcomes.Outcomes) -> Cells:
    """Return the cells of what `match_any_label` found."""
    missed = np.flatnonzero(found.ground_truth == outcomes.FN_MISSED)
    counts = outcomes.among(found.prediction, (outcomes.TP, outcomes.MISCLASSIFIED, outcomes.BACKGROUND))
    truth = np.where(counts, objects.classes, -1).astype(np.int32)
    matched = np.flatnonzero(counts & (found.truth >= 0))
    truth[matched] = objects.truth_class[found.truth[matched]]
    return Cells(
        np.concatenate([truth, objects.truth_class[missed]]),
        np.concatenate([np.where(counts, objects.prediction_class, -1), np.full(len(missed), objects.classes)]),
        np.concatenate([objects.prediction_image, objects.truth_image[missed]]),
    )


def _by_score(objects: Objects, threshold: float, score: float, pairs: Pairs) -> Pairs:
    """Return the pairs that may match, predictions by image and descending score, the best candidate of each last."""
    from metrics.vision.compiled import box_matching, sorting

    counted = objects.by_score[: np.count_nonzero(objects.score >= score)]
    event_of = np.full(len(objects.score), -1, np.int32)
    event_of[pairs.prediction] = np.arange(len(pairs.prediction), dtype=np.int32)
    return Pairs(
        *box_matching.any_class_candidates(
            sorting.sort_by_code(counted, objects.prediction_image, objects.images), event_of,
            pairs.start, pairs.truth, pairs.iou, objects.prediction_class, objects.truth_class,
            objects.crowd.view(np.uint8), threshold,
        )
    )  # fmt: skip
