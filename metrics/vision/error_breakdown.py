"""TIDE: what kind of mistake each false positive and each missed ground truth is, and what AP gains without them.

    classification  overlaps a ground truth of another label at IoU ≥ foreground
    localisation    overlaps one of its own label, best at background ≤ IoU < foreground; comes before classification
    duplicate       overlaps one of its own label at IoU ≥ foreground that a better prediction took
    background      overlaps every ground truth at IoU < background
    both            what is left: background ≤ IoU < foreground with another label
    missed          a ground truth that was not found and that no classification or localisation error is about

Source: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, 2020; order of the tests and what
becomes of several errors about one ground truth as in its authors' program, tidecv 1.0.1.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.vision.arrays import Floats, Ints
from metrics.vision.image_resampling import resample_selection
from metrics.vision.match_states import ASIDE, RIGHT
from metrics.vision.matching import LARGEST, Matches, Pairs, threshold_index
from metrics.vision.objects import Objects
from metrics.vision.outcomes import LOCALISED, Outcomes, image_pairs, pair_iou
from metrics.vision.precision_recall import Selection

ERRORS = ("classification", "localisation", "both", "duplicate", "background", "missed")
CLASSIFICATION, LOCALISATION, BOTH, DUPLICATE, BACKGROUND, MISSED, CORRECT, LEFT_OUT = range(8)


@dataclass(frozen=True, eq=False, slots=True)
class Errors(Outcomes):
    """The mistakes at one IoU threshold, as Outcomes whose codes are those of this module.

    `prediction` [N]: an error, CORRECT or LEFT_OUT (matched to a crowd, past maxDets, out of the area range); `truth`
    is the ground truth that it took or that its error is about. `ground_truth` [G]: CORRECT, MISSED, CLASSIFICATION or
    LOCALISATION by the best-scored error that is about it, or LEFT_OUT. `fixable` [N]: mended, it would be right.
    `by_score` [N]: the predictions by descending score, ties by image, then file order; every repair ranks by it.
    """

    fixable: NDArray[np.bool_]
    by_score: Ints


@dataclass(frozen=True, eq=False, slots=True)
class Mended:
    """Predictions [N] and ground truths [G] after a repair: what still counts, under which label, and what is right."""

    label: Ints
    right: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    truth_counts: NDArray[np.bool_]


def find_errors(
    objects: Objects,
    matches: Matches,
    iou: float = 0.5,
    background: float = LOCALISED,
    max_dets: int = 100,
    pairs: Pairs | None = None,
) -> Errors:
    """Return the errors at the IoU threshold `iou`, which `matches` must hold (KeyError), in its first area range.

    `pairs` are those of `image_pairs` at a floor of at most `background`, unless another geometry gave them.
    """
    from metrics.vision.compiled import box_matching, sorting

    index = threshold_index(matches.thresholds, iou)
    if index is None:
        raise KeyError(f"IoU {iou} was not matched; matched were {matches.thresholds.tolist()}")
    foreground = min(float(matches.thresholds[index]), LARGEST)
    found = image_pairs(objects, background) if pairs is None else pairs
    late, skip = objects.rank >= max_dets, matches.truth_ignored[0]
    same, same_iou, other, other_iou, _ = box_matching.neighbours(
        found.prediction, found.start, found.truth, found.iou, objects.prediction_class, objects.truth_class,
        late.view(np.uint8), skip.view(np.uint8),
    )  # fmt: skip
    tests = [
        (same_iou >= background) & (same_iou < foreground), other_iou >= foreground, same_iou >= foreground,
        other_iou >= background,
    ]  # fmt: skip
    kinds = np.select(tests, [LOCALISATION, CLASSIFICATION, DUPLICATE, BOTH], BACKGROUND).astype(np.int8)
    with_own, with_other = np.isin(kinds, (LOCALISATION, DUPLICATE)), np.isin(kinds, (CLASSIFICATION, BOTH))
    truth = np.select([with_own, with_other], [same, other], -1).astype(np.int32)
    overlap = np.select([with_own, with_other], [same_iou, other_iou], np.nan)

    event, state, taken = matches.pairs.prediction, matches.state[:, 0, index], matches.matched[:, 0, index]
    aside = late | matches.outside[0]
    aside[event] = late[event] | (state == ASIDE)
    kinds[event[state == RIGHT]] = CORRECT
    kinds[aside] = LEFT_OUT
    settled = event[(taken >= 0) | aside[event]]
    partner, partner_iou = np.full(len(kinds), -1, np.int32), np.full(len(kinds), np.nan)
    partner[event], partner_iou[event] = taken, pair_iou(matches.pairs, taken)
    truth[settled], overlap[settled] = partner[settled], partner_iou[settled]
    truth[late], overlap[late] = -1, np.nan

    truths = np.full(len(skip), MISSED, np.int8)
    truths[truth[kinds == CORRECT]] = CORRECT
    truths[skip] = LEFT_OUT
    rows = np.flatnonzero(np.isin(kinds, (CLASSIFICATION, LOCALISATION)))
    rows = rows[truths[truth[rows]] == MISSED]
    rows = rows[np.lexsort((rows, -objects.score[rows]))]
    about, first = np.unique(truth[rows], return_index=True)
    fixable = np.zeros(len(kinds), np.bool_)
    fixable[rows[first]] = True
    truths[about] = kinds[rows[first]]
    by_image = sorting.sort_by_code(np.arange(len(kinds), dtype=np.int32), objects.prediction_image, objects.images)
    return Errors(kinds, truth, overlap, truths, fixable, sorting.sort_by_score(by_image, objects.score))


def mend(objects: Objects, errors: Errors, kinds: Collection[int]) -> Mended:
    """Repair the errors of these kinds, as TIDE does.

    Classification and localisation: of the errors about one ground truth that is not found, the best-scored one becomes
    right, under the ground truth's label; the others, and those about one that is found, are dropped. Both, duplicate
    and background: dropped. Missed: those ground truths no longer count.
    """
    mended = np.isin(errors.prediction, [kind for kind in kinds if kind != MISSED])
    fixed = mended & errors.fixable
    label = objects.prediction_class.copy()
    label[fixed] = objects.truth_class[errors.truth[fixed]]
    right = fixed | (errors.prediction == CORRECT)
    counts = (errors.prediction != LEFT_OUT) & (~mended | fixed)
    truth_counts = errors.ground_truth != LEFT_OUT
    if MISSED in kinds:
        truth_counts &= errors.ground_truth != MISSED
    return Mended(label, right, counts, truth_counts)


def without_false_positives(objects: Objects, errors: Errors) -> Mended:
    """Return every false positive dropped, the ground truths as they are."""
    right = errors.prediction == CORRECT
    return Mended(objects.prediction_class, right, right, errors.ground_truth != LEFT_OUT)


def without_false_negatives(objects: Objects, errors: Errors) -> Mended:
    """Return only the ground truths that are found count, the predictions are as they are."""
    kept = mend(objects, errors, ())
    return Mended(kept.label, kept.right, kept.counts, errors.ground_truth == CORRECT)


def count_errors(objects: Objects, errors: Errors) -> dict[str, NDArray[np.int64]]:
    """Return how many of each of ERRORS, of false_positives, false_negatives and truths each label has, each [K].

    Predictions count under their own label, missed ground truths and false negatives under theirs.
    """

    def count(labels: Ints) -> NDArray[np.int64]:
        return np.bincount(labels, minlength=objects.classes)

    found = {name: count(objects.prediction_class[errors.prediction == code]) for code, name in enumerate(ERRORS)}
    truths = objects.truth_class[errors.ground_truth != LEFT_OUT]
    found["false_positives"] = sum(found.values(), np.zeros(objects.classes, np.int64))
    found["missed"] = count(objects.truth_class[errors.ground_truth == MISSED])
    found["truths"] = count(truths)
    found["false_negatives"] = found["truths"] - count(objects.truth_class[errors.ground_truth == CORRECT])
    return found


def mended_ap(objects: Objects, errors: Errors, mended: Mended, weights: NDArray[np.uint8]) -> Floats:
    """AP [B, K] after a repair, of the data sets in which image i occurs weights[b, i] times.

    NaN for a class without ground truth in the data set as it was. One all of whose ground truths were missed, and
    count no more, has AP 1 where it has no false positive, else 0.
    """
    average, _ = resample_selection(
        _rank(objects, errors, mended),
        objects.truth_image[mended.truth_counts], objects.truth_class[mended.truth_counts], objects.classes, weights,
    )  # fmt: skip
    average = average[..., 0]
    counted = errors.ground_truth != LEFT_OUT
    if np.array_equal(counted, mended.truth_counts):
        return average
    wrong = mended.counts & ~mended.right
    present = _occur(objects, objects.truth_image[counted], objects.truth_class[counted], weights)
    spoilt = _occur(objects, objects.prediction_image[wrong], mended.label[wrong], weights)
    return np.where(np.isnan(average) & present, np.where(spoilt, 0.0, 1.0), average)


def _rank(objects: Objects, errors: Errors, mended: Mended) -> Selection:
    """Return the predictions that count by label and descending score (ties by image, then file order)."""
    from metrics.vision.compiled import ranked

    miss_image, miss_starts, rows, before, row_starts = ranked.rank_right(
        errors.by_score, mended.counts.view(np.uint8), mended.label, mended.right.view(np.uint8),
        objects.prediction_image, objects.classes,
    )  # fmt: skip
    return Selection(
        miss_image=miss_image,
        miss_starts=miss_starts,
        image=objects.prediction_image[rows],
        score=objects.score[rows],
        before=before,
        states=np.full((1, len(rows)), RIGHT, np.uint8),
        event_starts=row_starts,
    )


def _occur(objects: Objects, image: Ints, label: Ints, weights: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whether a label has any of these objects in each data set: [B, K]."""
    held = np.zeros((objects.images, objects.classes), np.float32)
    held[image, label] = 1
    return weights.astype(np.float32) @ held > 0
