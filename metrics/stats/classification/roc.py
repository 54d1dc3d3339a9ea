"""The ROC curve, average precision and the areas' uncertainty, one class against all others or against each, and
counts of label scores by threshold.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import ratio
from metrics.stats.student_t import Z95, student

THRESHOLDS = tuple(round(step / 20, 2) for step in range(1, 20))  # .05 … .95: those of a curve by default


@dataclass(frozen=True, eq=False, slots=True)
class Roc:
    """A ROC curve: `fp` and `tp` [g + 1] count the cases at or above `threshold`, from none (+inf) to all of them.

    With weights they are sums of these. `area`: the area under it. `influence` [n]: how much a case of weight 1 moves
    the area; times the weights, their squares add up to DeLong's variance of it.
    """

    threshold: Floats
    fp: Ints | Floats
    tp: Ints | Floats
    area: float
    influence: Floats


class Falling(NamedTuple):
    """Scores [n] from the highest down, NaN as −inf: whose they are, and where each group of equal ones ends [g]."""

    order: NDArray[np.intp]
    scores: Floats
    last: NDArray[np.intp]

    @classmethod
    def of(cls, scores: Floats) -> "Falling":
        """Return the order of `scores` [n]."""
        height = np.where(np.isnan(scores), -np.inf, scores)
        order = np.argsort(-height, kind="stable")
        ordered = height[order]
        return cls(order, ordered, np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1))

    @property
    def group(self) -> NDArray[np.intp]:
        """The group of each of the ordered scores [n]."""
        return np.repeat(np.arange(len(self.last)), np.diff(self.last, prepend=-1))


def roc(scores: Floats | Falling, positive: Bools, weights: Floats | None = None) -> Roc:
    """Return the ROC curve of `scores` [n], where `positive` [n] has both kinds; NaN ranks below every score.

    weights: [n], default 1; a kind without weight is not there.

    With M positives and N negatives the area is the trapezoid under (fp/N, tp/M), which is the chance that a positive
    ranks above a negative, half of it where they tie: Σ over pairs of [s⁺ > s⁻] + ½[s⁺ = s⁻], over M·N. The counts are
    whole numbers, so ties are exact. Equal to scikit-learn's roc_curve and roc_auc_score.

    influence: of a positive (V − area) / √(M(M−1)), V the share of negatives below it (ties half); likewise of a
    negative. ValueError where all are of one kind. Source: DeLong, DeLong & Clarke-Pearson 1988.
    """
    kinds = [int(np.count_nonzero(own)) for own in (positive, ~positive)]
    mass = np.ones(len(positive), np.int64) if weights is None else weights
    many, others = (mass[own].sum().item() for own in (positive, ~positive))
    if not many or not others:
        raise ValueError(f"{kinds[0]} positives and {kinds[1]} negatives: a ROC curve needs both")
    order, ordered, last = falling = scores if isinstance(scores, Falling) else Falling.of(scores)
    kind = positive[order]
    tp, fp = (np.concatenate([[0], np.cumsum(mass[order] * own)[last]]) for own in (kind, ~kind))
    twice_above, twice_below = tp[1:] + tp[:-1], 2 * others - fp[1:] - fp[:-1]  # ties count once, the others twice
    area = float(np.dot(np.diff(tp), twice_below) / (2 * many * others))
    group = falling.group
    influence = np.empty(len(order))
    influence[order] = np.where(
        kind,
        (twice_below[group] / (2 * others) - area) / math.sqrt(many * many * max(1, kinds[0] - 1) / kinds[0]),
        (twice_above[group] / (2 * many) - area) / math.sqrt(others * others * max(1, kinds[1] - 1) / kinds[1]),
    )
    return Roc(np.concatenate([[np.inf], ordered[last]]), fp, tp, area, influence)


def resampled_areas(curves: Sequence[Roc], positive: Bools, draws: Draws) -> Floats:
    """Return the areas of `curves` of the same n cases in the data set and its resamples: [1 + B, len(curves)].

    positive: [n, len(curves)]. An area moves by the sum of the influences of the cases drawn, to first order, so that
    resamples vary by DeLong's variance, with units of several cases by Obuchowski's; those of few positives or
    negatives √(t/z) times as far, t Student's for their units: their variance is hardly known. So measured, the paired
    test holds its level. Sources: DeLong, DeLong & Clarke-Pearson 1988; Obuchowski 1997.
    """
    n, k = positive.shape
    moved = np.empty((n, k))
    for place, curve in enumerate(curves):
        for kind in (positive[:, place], ~positive[:, place]):
            moved[kind, place] = curve.influence[kind] * math.sqrt(_widened(kind, draws))
    return resampled(np.array([curve.area for curve in curves]), moved, draws)


def _widened(kind: Bools, draws: Draws) -> float:
    """Return how much wider the noise of the cases of a kind [n] is taken to be, as few of them tell it."""
    units, cases = int(np.count_nonzero(np.bincount(draws.unit[kind]))), int(np.count_nonzero(kind))
    few = student(max(units - 1, 1)) / Z95
    if units < cases and draws.clusters is not None:  # it is groups that are few, not cases
        few *= (cases - 1) / cases * units / max(units - 1, 1)
    return few


def resampled(values: Floats, influence: Floats, draws: Draws) -> Floats:
    """Return `values` [k] in the data set and, to first order, in its resamples: [1 + B, k].

    influence: [n, k] how much a case of weight 1 moves each value.
    """
    n, k = influence.shape
    drawn = draws.times.shape[1]
    sums = draws.sums(np.tile(np.arange(k), n), k, influence.ravel(), np.repeat(np.arange(n), k))
    estimates: Floats = values + sums * math.sqrt(drawn / max(1, drawn - 1))
    estimates[0] = values
    return estimates


class ClassCurves(NamedTuple):
    """The ROC curve of each class against all others, by code; `pairs`: the mean area over ordered pairs of classes,
    `influence` [n]: how much a case of weight 1 moves it; NaN and 0 below three classes, where the mean is the same.
    """

    curves: dict[int, Roc]
    pairs: float
    influence: Floats


def class_curves(scores: Floats, truth: Ints, weights: Floats | None = None) -> ClassCurves:
    """Return the ROC curves of classes with cases, against others that have some. scores: [n, k], truth: codes [n].

    pairs = 1 / (k·(k − 1)) · Σ A(i, j) over i ≠ j: the chance that a case of class i scores higher for i than one of
    class j does, ties half. With every class weighing the same it is the mean area of the classes against all others,
    which takes one curve a class, not one a pair. Equal to scikit-learn's one-vs-one macro average.
    Source: Hand & Till 2001.
    """
    n, k = scores.shape
    mass = np.bincount(truth, weights, k)
    codes = np.flatnonzero(mass > 0).tolist()
    curves: dict[int, Roc] = {}
    total, influence = 0.0, np.zeros(n)
    equal = 1.0 / mass[truth] * (1.0 if weights is None else weights) if len(codes) > 2 else None
    for code in codes if len(codes) > 1 else []:
        falling, positive = Falling.of(scores[:, code]), truth == code
        curves[code] = roc(falling, positive, weights)
        if equal is not None:
            curve = roc(falling, positive, equal)
            total += curve.area
            influence += curve.influence
    if equal is None:
        return ClassCurves(curves, math.nan, influence)
    influence /= len(codes) * mass[truth]
    centre = np.bincount(truth, influence * (1.0 if weights is None else weights), k)
    return ClassCurves(curves, total / len(codes), influence - centre[truth] / mass[truth])


def resampled_pairs(found: ClassCurves, truth: Ints, draws: Draws) -> Floats:
    """Return the mean area over pairs of classes in the data set and its resamples [1 + B]; see resampled_areas."""
    influence = found.influence.copy()
    for code in found.curves:
        kind = truth == code
        influence[kind] *= math.sqrt(_widened(kind, draws))
    return resampled(np.array([found.pairs]), influence[:, None], draws)[:, 0]


def average_precision(scores: Floats, positive: Bools, weights: Floats | None = None) -> tuple[float, Floats]:
    """Return average precision of `scores` [n] and how much a case of weight 1 moves it [n]; NaN, 0 without positives.

        AP = Σ over scores of (recall − recall above) · precision, equal scores at once

    the area under the curve of precision and recall in steps. A case moves it at its own score, and by the precision at
    every score that is not above it. Equal to scikit-learn's average_precision_score.
    """
    mass = np.ones(len(positive)) if weights is None else weights
    found = np.zeros(len(positive))
    many = float(mass[positive].sum())
    if many <= 0:
        return math.nan, found
    falling = Falling.of(scores)
    kind, own = positive[falling.order], mass[falling.order]
    tp, all_ = (np.cumsum(of)[falling.last] for of in (own * kind, own))
    gained, precision = np.diff(tp, prepend=0.0), ratio(tp, all_, 0.0)
    area = float((gained * precision).sum() / many)
    below = ratio(gained, all_, 0.0)[::-1]
    raised, lowered = (np.cumsum(below * of)[::-1] for of in (1.0 - precision[::-1], precision[::-1]))
    group = falling.group
    found[falling.order] = np.where(kind, precision[group] - area + raised[group], -lowered[group]) / many
    return area, found


def corners(fp: Ints | Floats, tp: Ints | Floats, most: int) -> NDArray[np.intp]:
    """Return the points that draw a curve: its ends and corners, of more than `most` an even selection along it."""
    bends = (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0)
    kept = np.flatnonzero(np.concatenate([[True], bends, [True]]))
    if len(kept) <= most:
        return kept
    along = fp[kept] / fp[-1] + tp[kept] / tp[-1]
    return kept[np.unique(np.searchsorted(along, np.linspace(0, along[-1], most)))]


def threshold_counts(
    scores: Floats, truth: Ints, thresholds: Sequence[float] | Floats, weights: Floats | None = None
) -> tuple[Ints | Floats, Ints | Floats]:
    """Return true positives and predictions, each [k, thresholds], of every class at each of the rising thresholds.

    scores: [n, k]; a class is predicted where its score is at or above the threshold, NaN never is. truth: [n] codes
    0 … k−1. With weights [n] they are sums of these.
    """
    n, k = scores.shape
    size = len(thresholds) + 1
    # how many thresholds each score reaches; NaN would sort above them all
    reached = np.searchsorted(thresholds, np.where(np.isnan(scores), -np.inf, scores), side="right")

    def count(cells: Ints, own: Floats | None) -> Ints | Floats:
        flat = np.bincount(cells, own, k * size).reshape(k, size)
        from_above: Ints | Floats = flat[:, ::-1].cumsum(axis=1)[:, ::-1]
        return from_above[:, 1:]

    every = None if weights is None else np.repeat(weights, k)
    return count(truth * size + reached[np.arange(n), truth], weights), count(
        (reached + np.arange(k) * size).ravel(), every
    )


def true_and_other(scores: Floats, truth: Ints) -> tuple[Floats, Floats]:
    """Return each case's [n] score of its true class, and the highest of the others; −inf where there is none."""
    rows = np.arange(len(scores))
    height = np.where(np.isnan(scores), -np.inf, scores)
    true = height[rows, truth]
    height[rows, truth] = -np.inf
    return true, height.max(axis=1, initial=-np.inf)


def f1(tp: Floats | Ints, predicted: Floats | Ints, truths: Floats | Ints) -> Floats:
    """Return 2·tp / (predicted + truths), NaN for a class without cases."""
    whole = np.asarray(predicted + truths, dtype=np.float64)
    known = np.broadcast_to(truths > 0, whole.shape)
    return np.asarray(np.divide(2.0 * tp, whole, out=np.full(whole.shape, np.nan), where=known))
