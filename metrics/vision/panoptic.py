"""Panoptic quality in pure arithmetic: the segments of one image matched, and counted by class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.stats.float_tolerance import ratio
from metrics.vision import outcomes
from metrics.vision.masks import Masks
from metrics.vision.segmentation import label_map

ENOUGH = 0.5  # an IoU above it matches, and can do so only once; a larger share of void ignores a prediction


@dataclass(frozen=True, eq=False, slots=True)
class SegmentMatches:
    """What became of the P predicted and T true segments of one image, as codes of outcomes.KINDS.

    truth [P]: the true segment that a prediction took, or overlaps most, −1 for none; iou [P]: with it, NaN for none.
    """

    prediction: outcomes.Codes
    truth: Int32s
    iou: Floats
    ground_truth: outcomes.Codes


class SegmentRuns(NamedTuple):
    """The segments of one image as runs of pixels [R, 2], first position and the one past the last, rising and without
    overlap, and the place of each run's segment [R].
    """

    edges: Int32s
    code: Int32s

    @classmethod
    def of(cls, masks: Masks, first: int, last: int, pixels: int) -> "SegmentRuns":
        """Return the segments of an image of that many pixels from masks first … last−1; the later one lies above."""
        start = masks.start[first : last + 1]
        edges = masks.edges[start[0] : start[-1]].reshape(-1, 2)
        code = np.repeat(np.arange(last - first, dtype=np.int32), np.diff(start) // 2)
        order = np.argsort(edges[:, 0], kind="stable")
        edges, code = np.ascontiguousarray(edges[order]), code[order]
        if (edges[1:, 0] >= edges[:-1, 1]).all():
            return cls(edges, code)
        painted = label_map(masks, first, last, np.arange(-first, len(masks) - first, dtype=np.int32), pixels, -1)
        begin = np.flatnonzero(np.diff(painted, prepend=-2))
        kept = painted[begin] >= 0
        edges = np.column_stack([begin, np.append(begin[1:], pixels)])[kept].astype(np.int32)
        return cls(np.ascontiguousarray(edges), painted[begin][kept])

    def areas(self, segments: int) -> Floats:
        """Return the pixels of each segment."""
        lengths = (self.edges[:, 1] - self.edges[:, 0]).astype(np.float64)
        return np.bincount(self.code, lengths, segments).astype(np.float64)


def match_segments(
    truth: SegmentRuns, prediction: SegmentRuns, truth_class: Int32s, prediction_class: Int32s, crowd: Bools
) -> SegmentMatches:
    """Match the true and the predicted segments of one image.

    The classes are [T] and [P], crowd [T]. The IoU of two segments leaves out the pixels of the prediction that are
    void in the truth; above ENOUGH, of one class and no crowd, they match. A prediction without a match is ignored
    where more than half of its pixels are void or in crowds of its class, else a false positive. Source: Kirillov et
    al., Panoptic Segmentation, 2019; panopticapi, `pq_compute_single_core`.
    """
    true, predicted, shared = _shared(truth, prediction, len(prediction_class))
    true_area, area = truth.areas(len(truth_class)), prediction.areas(len(prediction_class))
    nowhere = area - np.bincount(predicted, shared, len(area))
    iou = shared / (true_area[true] + area[predicted] - nowhere[predicted] - shared)
    same, of_crowd = truth_class[true] == prediction_class[predicted], crowd[true]
    found = same & ~of_crowd & (iou > ENOUGH)
    ignorable = same & of_crowd
    free = nowhere + np.bincount(predicted[ignorable], shared[ignorable], len(area))

    def best(wanted: Bools) -> tuple[Floats, Int32s]:
        """Return the highest IoU of each prediction among the pairs wanted, and its true segment."""
        order = np.flatnonzero(wanted)[np.argsort(iou[wanted], kind="stable")]
        most, place = np.zeros(len(area)), np.full(len(area), -1, np.int32)
        most[predicted[order]], place[predicted[order]] = iou[order], true[order]  # the last one, the best, stays
        return most, place

    (own, own_truth), (other, other_truth) = best(same & ~of_crowd), best(~same & ~of_crowd)
    kinds = np.full(len(area), outcomes.BACKGROUND, np.int8)
    kinds[own >= outcomes.LOCALISED] = outcomes.LOCALISATION
    kinds[other > ENOUGH] = outcomes.MISCLASSIFIED
    kinds[free > ENOUGH * area] = outcomes.IGNORED
    kinds[own > ENOUGH] = outcomes.TP
    of_truths = np.full(len(true_area), outcomes.FN_MISSED, np.int8)
    of_truths[true[~same & (iou > ENOUGH) & (kinds[predicted] == outcomes.MISCLASSIFIED)]] = outcomes.FN_MISCLASSIFIED
    of_truths[true[found]] = outcomes.TP
    of_truths[crowd] = outcomes.IGNORED
    mistaken = kinds == outcomes.MISCLASSIFIED
    place = np.where(
        mistaken, other_truth, np.where(outcomes.among(kinds, (outcomes.TP, outcomes.LOCALISATION)), own_truth, -1)
    )
    overlap = np.where(place < 0, np.nan, np.where(mistaken, other, own))
    return SegmentMatches(kinds, place.astype(np.int32), overlap, of_truths)


def tallies(found: SegmentMatches, truth_class: Int32s, prediction_class: Int32s, classes: int) -> Floats:
    """Return the sum of the IoU of matches, TP, FP and FN of each class in one image: [4, K]."""
    right = found.prediction == outcomes.TP
    wrong = ~right & (found.prediction != outcomes.IGNORED)
    missed = (found.ground_truth != outcomes.TP) & (found.ground_truth != outcomes.IGNORED)
    return np.stack(
        [
            np.bincount(prediction_class[right], found.iou[right], classes),
            np.bincount(prediction_class[right], minlength=classes),
            np.bincount(prediction_class[wrong], minlength=classes),
            np.bincount(truth_class[missed], minlength=classes),
        ]
    )


def joined(found: Sequence[SegmentMatches], start: Ints) -> SegmentMatches:
    """Return the matches of images as one; the true segments of image i begin at start[i]."""
    truths = [
        np.where(each.truth < 0, -1, each.truth + first) for each, first in zip(found, start.tolist(), strict=False)
    ]
    return SegmentMatches(
        np.concatenate([np.zeros(0, np.int8), *(each.prediction for each in found)]),
        np.concatenate([np.zeros(0, np.int32), *truths]).astype(np.int32),
        np.concatenate([np.zeros(0), *(each.iou for each in found)]),
        np.concatenate([np.zeros(0, np.int8), *(each.ground_truth for each in found)]),
    )


def confusion(found: SegmentMatches, truth_class: Int32s, prediction_class: Int32s, classes: int) -> Ints:
    """Return how many segments each cell holds: [K + 1, K + 1], truth down, predicted across.

    Segments with an IoU above ENOUGH share a cell, whatever their classes. The last row holds predictions without such
    a segment, the last column true segments without one. What is ignored is in no cell, so that a class's row sums to
    its TP + FN and its column to its TP + FP.
    """
    size, counted = classes + 1, found.prediction != outcomes.IGNORED
    truth = np.full(len(counted), classes, np.int64)
    met = outcomes.among(found.prediction, (outcomes.TP, outcomes.MISCLASSIFIED))
    truth[met] = truth_class[found.truth[met]]
    missed = truth_class[found.ground_truth == outcomes.FN_MISSED].astype(np.int64)
    cells = np.concatenate([truth[counted] * size + prediction_class[counted], missed * size + classes])
    return np.bincount(cells, minlength=size * size).reshape(size, size)


def qualities(counts: Floats) -> Floats:
    """Return PQ, SQ and RQ of the sums of `tallies` [..., 4, K]: [..., 3, K]; NaN for a class without segments.

    SQ is 0 where nothing matches, as panopticapi has it.
    """
    overlap, right, wrong, missed = np.moveaxis(counts, -2, 0)
    whole = right + (wrong + missed) / 2
    quality = ratio(overlap, whole)
    mean = np.where(whole > 0, ratio(overlap, right, 0.0), np.nan)
    return np.stack([quality, mean, ratio(right, whole)], axis=-2)


def _shared(truth: SegmentRuns, prediction: SegmentRuns, predictions: int) -> tuple[Ints, Ints, Floats]:
    """Return each pair of a true and a predicted segment that share pixels, in order, and how many."""
    from metrics.vision.compiled.label_map_counts import shared_runs

    width, size = max(predictions, 1), 1 << (2 * (len(truth.code) + len(prediction.code))).bit_length()
    pairs, pixels = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    shared_runs(*truth, *prediction, width, pairs, pixels)
    there = np.flatnonzero(pixels)
    there = there[np.argsort(pairs[there])]
    return pairs[there] // width, pairs[there] % width, pixels[there].astype(np.float64)
