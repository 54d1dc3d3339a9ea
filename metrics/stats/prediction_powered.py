"""Prediction-powered means: a few people's labels correct a judge that scored everything."""

import math
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.student_t import Z95, student

TINY = EQUAL**2
FEWEST = 4  # labelled clusters; with fewer neither λ nor a variance is known
PSEUDO = 6.0  # residuals of half the labels' range that are added to the squared ones


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of labels with its 95 % interval: from `n` labelled of `total` judged outputs in `clusters` clusters.

    `weight` is λ, how much the judge counts: 0 not at all (the mean of the labels alone). low, high: None with
    fewer than FEWEST labelled clusters.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    total: int
    clusters: int
    weight: float


def corrected_mean(
    judged: Floats, labels: Floats, weights: Floats | None = None, clusters: Ints | None = None, power: bool = True
) -> Estimate | None:
    """Return the mean that people would give all outputs, from labels of a random sample and a judge's scores of all.

        θ = mean(y) of the labelled + λ·(mean(f) of the others − mean(f) of the labelled)
        ψ = (y − λ·f, centred) / n of a labelled output, λ·(f − mean(f) of all) / N of another
        Var θ = Σ over clusters (Σ ψ)²
        λ = the one that makes it least: Σ a·b / Σ b² over clusters, a and b the parts of ψ without and with λ

    Without clusters λ = Cov(y, f) / ((1 + n/N)·Var f), the tuned λ of PPI++; an uninformative judge gets λ near 0 and
    the mean is that of the labels alone, as with `power` off or everything labelled. The others are centred on the mean
    of all, because a few of them vary little around their own. In θ each labelled output has the λ of the other
    clusters, which leaves no bias. judged: [m] scores of any scale; labels: [m], NaN where there is no label; weights:
    [m], default 1; clusters: [m] codes, default each its own. None without any label.

    The interval is Student's with labelled clusters − 2 degrees of freedom. Where every label is 0 or 1 it is Wilson's
    with the n that a plain share would need to be as sure, so it stays within [0, 1]. PSEUDO squared residuals of half
    the range of the labels are added, shared by the residuals that tell: agreement with a few labels is not certainty.
    Unbiased only if what is labelled was drawn at random.
    Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++: Efficient Prediction-Powered Inference"; Korn & Graubard 1998.

    >>> estimate = corrected_mean(np.array([1.0, 1, 0, 0, 1, 1, 1, 0]), np.array([1.0, 1, 0, 0] + [np.nan] * 4))
    >>> round(estimate.value, 3), round(estimate.weight, 3)
    (0.62, 0.552)
    """
    known = ~np.isnan(labels)
    n, total = int(known.sum()), len(labels)
    weight = np.ones(total) if weights is None else weights
    groups: Ints = np.arange(total, dtype=np.int64) if clusters is None else clusters
    mine, rest = np.where(known, weight, 0.0), np.where(known, 0.0, weight)
    if mine.sum() <= 0:
        return None
    mine, rest = mine / mine.sum(), rest / max(rest.sum(), 1e-300)
    value = float(mine @ np.where(known, labels, 0.0))
    count = int(groups.max(initial=-1)) + 1
    a = np.bincount(groups, mine * np.where(known, labels - value, 0.0), count)
    factor = 0.0
    b: Floats = np.zeros(count)
    if power and rest.any():
        there = float(rest @ judged)
        centre = float(weight @ judged / weight.sum())
        drift = mine * (judged - mine @ judged) - rest * (judged - centre)
        b = np.bincount(groups, drift, count).astype(np.float64)
        products, squares = a * b, b**2
        if squares.sum() > TINY:
            factor = float(products.sum() / squares.sum())
            others = squares.sum() - squares
            apart = np.divide(products.sum() - products, others, out=np.full(count, factor), where=others > TINY)
            value -= float(mine @ (apart[groups] * (judged - there)))
    residuals = a - factor * b
    labelled = np.unique(groups[mine > 0])
    if len(labelled) < FEWEST:
        return Estimate(value, None, None, n, total, len(labelled), factor)
    freedom = len(labelled) - (2 if factor else 1)
    variance = float(residuals @ residuals) * len(labelled) / freedom
    if factor:
        squares = residuals[labelled] ** 2
        telling = float(squares.sum() ** 2 / (squares**2).sum()) if squares.sum() > TINY else 0.0
        variance += PSEUDO * (float(np.ptp(labels[known])) / 2 / n) ** 2 / (1 + telling)
    low, high = _interval(value, variance, student(freedom), len(labelled), labels[known])
    return Estimate(value, low, high, n, total, len(labelled), factor)


def _interval(value: float, variance: float, t: float, clusters: int, labels: Floats) -> Interval:
    if not np.isin(labels, (0.0, 1.0)).all():
        half = t * math.sqrt(variance)
        return (value - half, value + half) if variance > TINY else NONE
    share = min(1.0, max(0.0, value))
    spread = variance * (t / Z95) ** 2
    inside = EQUAL < share < 1 - EQUAL and spread > EQUAL**2
    known = share * (1 - share) / spread if inside else clusters
    return wilson(share * known, known)
