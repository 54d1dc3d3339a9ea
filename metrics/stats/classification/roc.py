"""The ROC curve of scores against a yes or no, the area under it, and the uncertainty of that area."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.stats.student_t import Z95

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Roc:
    """A ROC curve: `fp` and `tp` [g + 1] count the cases at or above `threshold`, from none (+inf) to all of them.

    `area`: the area under it. `influence` [n]: how much each case moves the area; their squares add up to DeLong's
    variance of it.
    """

    threshold: Floats
    fp: Ints
    tp: Ints
    area: float
    influence: Floats


def roc(scores: Floats, positive: NDArray[np.bool_]) -> Roc:
    """Return the ROC curve of `scores` [n], where `positive` [n] has both kinds; NaN ranks below every score.

    With M positives and N negatives the area is the trapezoid under (fp/N, tp/M), which is the chance that a positive
    ranks above a negative, half of it where they tie: Σ over pairs of [s⁺ > s⁻] + ½[s⁺ = s⁻], over M·N. The counts are
    whole numbers, so ties are exact. Equal to scikit-learn's roc_curve and roc_auc_score.

    influence: of a positive (V − area) / √(M(M−1)), V the share of negatives below it (ties half); likewise of a
    negative. ValueError where all are of one kind. Source: DeLong, DeLong & Clarke-Pearson 1988.
    """
    many, others = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    if not many or not others:
        raise ValueError(f"{many} positives and {others} negatives: a ROC curve needs both")
    height = np.where(np.isnan(scores), -np.inf, scores)
    order = np.argsort(-height, kind="stable")
    ordered, kind = height[order], positive[order]
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
    tp = np.concatenate([[0], np.cumsum(kind)[last]])
    fp = np.concatenate([[0], last + 1]) - tp
    twice_above, twice_below = tp[1:] + tp[:-1], 2 * others - fp[1:] - fp[:-1]  # ties count once, the others twice
    area = float(np.dot(np.diff(tp), twice_below) / (2 * many * others))
    group = np.repeat(np.arange(len(last)), np.diff(last, prepend=-1))
    influence = np.empty(len(height))
    influence[order] = np.where(
        kind,
        (twice_below[group] / (2 * others) - area) / math.sqrt(many * max(1, many - 1)),
        (twice_above[group] / (2 * many) - area) / math.sqrt(others * max(1, others - 1)),
    )
    return Roc(np.concatenate([[np.inf], ordered[last]]), fp, tp, area, influence)


def variance(influence: Floats, clusters: Ints) -> float:
    """Return the variance of an estimate to which each case [n] contributes `influence`; clusters [n] are the units.

    Σ over clusters of (Σ influence)², times c/(c−1) where clusters hold several cases; NaN with fewer than two of them.
    Source: Obuchowski 1997 for clustered ROC data.
    """
    count = int(clusters.max(initial=-1)) + 1
    if count < 2:
        return math.nan
    sums = np.bincount(clusters, influence, count)
    return float(np.dot(sums, sums)) * (1.0 if count == len(influence) else count / (count - 1))


def area_interval(area: float, error: float) -> tuple[float, float]:
    """Return the 95 % interval of an area with that standard error, symmetric on the logit scale, so within 0 … 1.

    An area of 0 or 1 has no logit: area ± 1.96·error, cut at 0 and 1. Source: Pepe 2003, ch. 5.
    """
    if not 0 < area < 1:
        return max(0.0, area - Z95 * error), min(1.0, area + Z95 * error)
    centre, half = math.log(area / (1 - area)), Z95 * error / (area * (1 - area))
    return tuple(0.5 * (1 + math.tanh((centre + side * half) / 2)) for side in (-1, 1))  # type: ignore[return-value]


def rank_interval(area: float, positives: int, negatives: int) -> tuple[float, float]:
    """Return the 95 % interval of an area whose variance by DeLong is 0, from the counts: all t with |area − t| ≤ z·√V.

    V = t(1−t)/(MN) · [1 + (S−1)·((1−t)/(2−t) + t/(1+t))], S = (M+N)/2. Never of width 0: 10 positives that all rank
    above 10 negatives do not make it certain. Source: Newcombe 2006, method 5.
    """
    size = (positives + negatives) / 2

    def inside(t: float) -> bool:
        spread = t * (1 - t) / (positives * negatives) * (1 + (size - 1) * ((1 - t) / (2 - t) + t / (1 + t)))
        return (area - t) ** 2 <= Z95 * Z95 * spread

    def bound(outer: float) -> float:
        held, out = area, outer
        for _ in range(60):
            middle = (held + out) / 2
            held, out = (middle, out) if inside(middle) else (held, middle)
        return held

    return bound(0.0), bound(1.0)


def corners(fp: Ints, tp: Ints, most: int) -> NDArray[np.intp]:
    """Return the points that draw a curve: its ends and corners, of more than `most` an even selection along it."""
    bends = (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0)
    kept = np.flatnonzero(np.concatenate([[True], bends, [True]]))
    if len(kept) <= most:
        return kept
    along = fp[kept] / fp[-1] + tp[kept] / tp[-1]
    return kept[np.unique(np.searchsorted(along, np.linspace(0, along[-1], most)))]
