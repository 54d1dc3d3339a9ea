"""TIDE: the kind of error of each false positive and each missed ground truth, and the AP gained without them.

    classification  overlaps a ground truth of another label at IoU ≥ foreground
    localisation    overlaps one of its own label, best at background ≤ IoU < foreground; comes before classification
    duplicate       overlaps one of its own label at IoU ≥ foreground that a better prediction took
    background      overlaps every ground truth at IoU < background
    both            what is left: background ≤ IoU < foreground with another label
    missed          a ground truth that was not found and that no classification or localisation error is about

Source: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, 2020; the order of the
tests and the treatment of several errors about one ground truth are those of its authors' program, tidecv 1.0.1.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from metrics.core.array_types import Bools, Bytes, Floats, Int32s, Ints
from metrics.vision import outcomes
from metrics.vision.compiled.match_states import RIGHT
from metrics.vision.image_resampling import resample_selection
from metrics.vision.matching import Matches, Pairs
from metrics.vision.objects import Objects
from metrics.vision.precision_recall import Selection

WRONG = np.array(  # as in outcomes, but TIDE asks for localisation first, and knows `both`
    [
        [outcomes.BACKGROUND, outcomes.BOTH, outcomes.MISCLASSIFIED],
        [outcomes.LOCALISATION, outcomes.LOCALISATION, outcomes.LOCALISATION],
        [outcomes.DUPLICATE, outcomes.DUPLICATE, outcomes.MISCLASSIFIED],
    ],
    np.int8,
)
ERRORS = {
    "classification": outcomes.MISCLASSIFIED, "localisation": outcomes.LOCALISATION, "both": outcomes.BOTH,
    "duplicate": outcomes.DUPLICATE, "background": outcomes.BACKGROUND, "missed": outcomes.FN_MISSED,
}  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Errors(outcomes.Outcomes):
    """The errors at one IoU threshold: outcomes of which the wrong ones are ERRORS.

    `truth` [N] is the ground truth that a prediction took or that its error is about. `ground_truth` [G] has
    FN_MISCLASSIFIED or FN_LOCALISATION by the best-scored error that is about it. `fixable` [N]: would be right if
    repaired.
    """

    fixable: Bools


@dataclass(frozen=True, eq=False, slots=True)
class Repaired:
    """Predictions [N] and ground truths [G] after a repair: which count, under which label, and which are right."""

    label: Int32s
    right: Bools
    counts: Bools
    truth_counts: Bools


def find_errors(
    objects: Objects,
    matches: Matches,
    pairs: Pairs,
    iou: float = 0.5,
    background: float = outcomes.LOCALISED,
    max_dets: int = 100,
) -> Errors:
    """Return the errors at the IoU threshold `iou`, which `matches` must hold (KeyError), in its first area range.

    `pairs` are those of `image_pairs` at a floor of at most `background`.
    """
    from metrics.vision.compiled import sorting

    found, _ = outcomes.outcomes_with(WRONG, background, objects, matches, pairs, iou, 0, max_dets)
    kinds, truth, truths = found.prediction, found.truth, found.ground_truth
    rows = np.flatnonzero(outcomes.among(kinds, (outcomes.MISCLASSIFIED, outcomes.LOCALISATION)))
    rows = rows[truths[truth[rows]] == outcomes.FN_MISSED].astype(np.int32)
    worst_first = sorting.sort_by_score(rows, objects.score)[::-1]
    best = np.full(len(truths), -1, np.int32)
    best[truth[worst_first]] = worst_first  # the last one written stays
    about = np.flatnonzero(best >= 0)
    fixable = np.zeros(len(kinds), np.bool_)
    fixable[best[about]] = True
    truths[about] = np.where(
        kinds[best[about]] == outcomes.MISCLASSIFIED, outcomes.FN_MISCLASSIFIED, outcomes.FN_LOCALISATION
    )
    return Errors(kinds, truth, found.iou, truths, fixable)


def repair(objects: Objects, errors: Errors, kinds: Collection[int], only: Bools | None = None) -> Repaired:
    """Repair the errors of these kinds, as TIDE does; of predictions `only` [N] those.

    Classification and localisation: of the errors about one ground truth that is not found, the best-scored one becomes
    right, under the ground truth's label; the others, and errors about a ground truth that is found, are dropped. Both,
    duplicate and background: dropped. Missed: those ground truths no longer count.
    """
    affected = outcomes.among(errors.prediction, kinds) & (True if only is None else only)
    fixed = affected & errors.fixable
    label = objects.prediction_class.copy()
    label[fixed] = objects.truth_class[errors.truth[fixed]]
    right = fixed | (errors.prediction == outcomes.TP)
    counts = (errors.prediction != outcomes.IGNORED) & (~affected | fixed)
    truth_counts = errors.ground_truth != outcomes.IGNORED
    if outcomes.FN_MISSED in kinds:
        truth_counts &= errors.ground_truth != outcomes.FN_MISSED
    return Repaired(label, right, counts, truth_counts)


def without_false_positives(objects: Objects, errors: Errors) -> Repaired:
    """Return the objects with every false positive dropped and the ground truths unchanged."""
    right = errors.prediction == outcomes.TP
    return Repaired(objects.prediction_class, right, right, errors.ground_truth != outcomes.IGNORED)


def without_false_negatives(objects: Objects, errors: Errors) -> Repaired:
    """Return the objects with only the ground truths that were found, and the predictions unchanged."""
    return replace(repair(objects, errors, ()), truth_counts=errors.ground_truth == outcomes.TP)


def count_errors(objects: Objects, errors: Errors) -> dict[str, Ints]:
    """Return how many of each of ERRORS, of false_positives, false_negatives and truths each label has, each [K].

    Predictions count under their own label, missed ground truths and false negatives under theirs.
    """

    def count(labels: Int32s, kinds: outcomes.Codes) -> Ints:
        """Return how many objects of each kind each label has: [kinds, K]."""
        cells = np.bincount(kinds * np.int32(objects.classes) + labels, minlength=len(outcomes.KINDS) * objects.classes)
        return cells.reshape(len(outcomes.KINDS), objects.classes)

    predictions = count(objects.prediction_class, errors.prediction)
    truths = count(objects.truth_class, errors.ground_truth)
    found = {name: predictions[code] for name, code in ERRORS.items()}
    found["false_positives"] = sum(found.values(), np.zeros(objects.classes, np.int64))
    found["missed"] = truths[outcomes.FN_MISSED]
    found["truths"] = truths.sum(axis=0) - truths[outcomes.IGNORED]
    found["false_negatives"] = found["truths"] - truths[outcomes.TP]
    return found


def repaired_ap(objects: Objects, errors: Errors, repaired: Repaired, weights: Bytes) -> Floats:
    """Return AP [B, K] after a repair, of the data sets in which image i occurs weights[b, i] times.

    NaN for a class without ground truth in the original data set. A class whose ground truths were all missed, and no
    longer count, has AP 1 where it has no false positive, else 0.
    """
    average, _ = resample_selection(
        _rank(objects, repaired), objects.truth_image[repaired.truth_counts],
        objects.truth_class[repaired.truth_counts], objects.classes, weights,
    )  # fmt: skip
    average = average[..., 0]
    counted = errors.ground_truth != outcomes.IGNORED
    if np.array_equal(counted, repaired.truth_counts):
        return average
    wrong = repaired.counts & ~repaired.right
    present = _occur(objects, objects.truth_image[counted], objects.truth_class[counted], weights)
    has_wrong = _occur(objects, objects.prediction_image[wrong], repaired.label[wrong], weights)
    return np.where(np.isnan(average) & present, np.where(has_wrong, 0.0, 1.0), average)


def _rank(objects: Objects, repaired: Repaired) -> Selection:
    """Return the predictions that count by label and descending score (ties by image, then file order)."""
    from metrics.vision.compiled import ranked

    miss_image, miss_starts, rows, before, row_starts = ranked.rank_right(
        objects.by_score, repaired.counts.view(np.uint8), repaired.label, repaired.right.view(np.uint8),
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


def _occur(objects: Objects, image: Int32s, label: Int32s, weights: Bytes) -> Bools:
    """Return whether a label has any of these objects in each data set: [B, K]."""
    held = np.zeros((objects.images, objects.classes), np.float32)
    held[image, label] = 1
    return weights.astype(np.float32) @ held > 0
