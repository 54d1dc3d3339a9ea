"""The outcome of each prediction and ground truth at one IoU threshold: right, or wrong in which way.

Of a prediction:
    tp                   took a ground truth of its label
    fp_misclassification overlaps a ground truth of another label at IoU ≥ threshold
    fp_duplicate         else overlaps one of its own label at IoU ≥ threshold that a better prediction took
    fp_localisation      else overlaps one of its own label at .1 ≤ IoU < threshold
    fp_hallucination     else: background, nothing is there (the name is that of stored matches)
    ignored              matched a crowd or a ground truth out of the area range; unmatched and itself out of the range;
                         past maxDets
    below_score          under the score threshold in force (`match_image` only)
fp_both and fn_localisation are of `error_breakdown` alone.
Of a ground truth:
    tp                   taken
    fn_misclassification missed, but a prediction of another label overlaps it at IoU ≥ threshold
    fn_no_prediction     missed otherwise
    ignored              a crowd, or out of the area range
Valor knows two kinds of false positive: its second, fp_hallucination too, is our duplicates, poor boxes and background.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.vision.matching import LARGEST, Matches, Pairs, find_pairs, threshold_index
from metrics.vision.objects import Objects

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.int8]
KINDS = (
    "tp", "fp_misclassification", "fp_duplicate", "fp_localisation", "fp_both", "fp_hallucination", "ignored",
    "below_score", "fn_misclassification", "fn_localisation", "fn_no_prediction",
)  # fmt: skip
TP, MISCLASSIFIED, DUPLICATE, LOCALISATION, BOTH, BACKGROUND, IGNORED = range(7)
BELOW, FN_MISCLASSIFIED, FN_LOCALISATION, FN_MISSED = range(7, 11)
# IoU from which a prediction is about the object at all; TIDE's background threshold (Bolya et al., 2020)
LOCALISED = 0.1
# a false positive's kind, by its best IoU with its own label (down) and with others (across): little, localised, enough
WRONG = np.array(
    [
        [BACKGROUND, BACKGROUND, MISCLASSIFIED],
        [LOCALISATION, LOCALISATION, MISCLASSIFIED],
        [DUPLICATE, DUPLICATE, MISCLASSIFIED],
    ],
    np.int8,
)


@dataclass(frozen=True, eq=False, slots=True)
class Outcomes:
    """A code of KINDS for every prediction [N] and ground truth [G].

    `truth` [N] is the row of the ground truth that the prediction took or wrongly overlaps, −1 without one; `iou` [N]
    the IoU with it, NaN without one.
    """

    prediction: Codes
    truth: Int32s
    iou: Floats
    ground_truth: Codes


def among(kinds: Codes, codes: Collection[int]) -> Bools:
    """Return which kinds are one of the codes. Many times as quick as numpy.isin."""
    chosen = np.zeros(kinds.shape, np.bool_)
    for code in codes:
        chosen |= kinds == code
    return chosen


def image_pairs(objects: Objects, floor: float) -> Pairs:
    """Return the pairs of the same image, of any classes, with IoU ≥ floor."""
    return find_pairs(objects, floor, any_class=True)


def outcomes(
    objects: Objects, matches: Matches, pairs: Pairs, iou: float, area: int = 0, max_dets: int | None = None
) -> Outcomes:
    """Return the outcomes at one IoU threshold, for the area range of that index; see `outcomes_with`."""
    found, mistaken = outcomes_with(WRONG, LOCALISED, objects, matches, pairs, iou, area, max_dets)
    found.ground_truth[(found.ground_truth == FN_MISSED) & mistaken] = FN_MISCLASSIFIED
    return found


def outcomes_with(
    wrong: Codes,
    background: float,
    objects: Objects,
    matches: Matches,
    pairs: Pairs,
    iou: float,
    area: int,
    max_dets: int | None,
) -> tuple[Outcomes, Bools]:
    """Return the outcomes, and which ground truths [G] a prediction of another label overlaps at the threshold.

    Args:
        wrong: [3, 3] the kind of a false positive by its highest IoU with ground truths of its own label (down) and
            with those of others (across): less than `background`, less than the threshold, or more.
        pairs: those of `image_pairs` at a floor of at most `background` and `iou`.
        iou: a threshold that `matches` holds (else KeyError).
    """
    from metrics.vision.compiled.outcome_codes import NEITHER, OTHER, SAME, outcome_codes

    index = threshold_index(matches.thresholds, iou)
    threshold = min(float(matches.thresholds[index]), LARGEST)
    late = objects.rank >= (len(objects.rank) if max_dets is None else max_dets)
    cases = [among(wrong, (MISCLASSIFIED, BOTH)), among(wrong, (DUPLICATE, LOCALISATION))]
    kinds, truth, overlap, truths, covered = outcome_codes(
        pairs.prediction, pairs.start, pairs.truth, pairs.iou, objects.prediction_class, objects.truth_class,
        late.view(np.uint8), matches.outside[area].view(np.uint8), matches.truth_ignored[area].view(np.uint8),
        matches.event_of, matches.matched[:, area, index].copy(), matches.state[:, area, index].copy(),
        threshold, background, wrong, np.select(cases, [OTHER, SAME], NEITHER).astype(np.int8), TP, IGNORED, FN_MISSED,
    )  # fmt: skip
    return Outcomes(kinds, truth, overlap, truths), covered >= threshold


def match_image(
    annotations: pd.DataFrame,
    predictions: pd.DataFrame,
    overlaps: Floats,
    iou: float,
    score: float,
    max_dets: int | None = None,
) -> tuple[list[str], list[str]]:
    """Return the kinds of one image's predictions and of its ground truths, at an IoU and a score threshold.

    Matched by the rules of `match` and `outcomes`, without numba, quick enough for a slider. Frames with the columns
    label and score, or is_crowd and perhaps is_ignored; an empty frame needs none. A ground truth with is_ignored is
    matched after the others, as crowds are, but once only. `overlaps` [D, G] is the IoU of every prediction with every
    ground truth. Predictions under `score` take no part.
    """
    labels, truth_labels = _column(predictions, "label", object), _column(annotations, "label", object)
    crowds = _column(annotations, "is_crowd", np.bool_)
    aside = crowds | _column(annotations, "is_ignored", np.bool_)
    scores = _column(predictions, "score", np.float64)
    same_label = labels[:, None] == truth_labels[None, :]
    threshold = min(iou, LARGEST)

    order = np.argsort(-scores, kind="stable")
    below, late = scores < score, np.zeros(len(scores), np.bool_)
    if max_dets is not None:
        for label in set(labels):
            late[order[labels[order] == label][max_dets:]] = True
    partner, taken = np.full(len(scores), -1, np.int32), np.zeros(len(crowds), np.bool_)
    for row in order[~(below | late)[order]]:
        fits = same_label[row] & (overlaps[row] >= threshold)
        free = fits & (crowds | ~taken)
        for candidates in (np.flatnonzero(free & ~aside), np.flatnonzero(free & aside)):
            if len(candidates):
                best = overlaps[row, candidates]
                partner[row] = candidates[len(best) - 1 - best[::-1].argmax()]  # the last of the best
                taken[partner[row]] = True
                break

    counted = ~(below | late)[:, None] & ~aside[None, :]
    same, other = (np.where(counted & mask, overlaps, 0.0) for mask in (same_label, ~same_label))
    best = (overlaps_of.max(axis=1, initial=0.0) for overlaps_of in (same, other))
    own, rival = (np.where(iou >= threshold, 2, iou >= LOCALISED) for iou in best)
    kinds = WRONG[own, rival]
    matched = partner >= 0
    kinds[matched] = np.where(aside[partner[matched]], IGNORED, TP)
    kinds[late], kinds[below] = IGNORED, BELOW
    truths = np.where(other.max(axis=0, initial=0.0) >= threshold, FN_MISCLASSIFIED, FN_MISSED)
    truths[taken], truths[aside] = TP, IGNORED
    return [KINDS[code] for code in kinds], [KINDS[code] for code in truths]


def pair_iou(pairs: Pairs, taken: Int32s) -> Floats:
    """Return the IoU of each prediction of `pairs` with the ground truth it took, NaN where none."""
    events = np.repeat(np.arange(len(taken)), np.diff(pairs.start))
    result = np.full(len(taken), np.nan)
    hit = pairs.truth == taken[events]
    result[events[hit]] = pairs.iou[hit]
    return result


def _column(frame: pd.DataFrame, name: str, kind: type[Any]) -> NDArray[Any]:
    return frame[name].to_numpy(kind) if name in frame else np.zeros(len(frame), kind)
