"""Confidence sequences: intervals of a mean in [0, 1] that hold at every moment and for every stretch at once.

A stretch of a stream begins at one of its starts and ends now. All intervals of all stretches, at all moments, hold
together with a chance of at least 1 − LEVEL: so they may be looked at whenever, and the stretch that says most may be
chosen after looking. A stretch's mean is that of the expected values of its units, each given the units before it:
units need neither be independent nor have a constant mean, as long as no unit is part of an earlier one.

Against "the mean of the stretch is at least m", bet k wins 1 + θ_k (m − x) / (1 − m) by a unit of value x, so a
gambler's capital Λ(m) = Σ_k ∏ (…) / K would grow by chance alone to 1/α with a chance of at most α (Ville). As every
θ_k is constant, that holds of the stretch's mean as defined above, by the inequality of the two means. Sources:
Waudby-Smith & Ramdas, Journal of the Royal Statistical Society B 86:1, 2024; Robbins, Annals of Mathematical Statistics
41:1397, 1970.
"""

import math
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints

LEVEL = 0.05  # the chance that any interval of any stretch ever misses
BETS: Floats = 0.95 * np.power(0.7, np.arange(16.0))  # θ: shares of the largest bet; the least fits 50,000 units
FIRST = 0.5  # share of the level that the stretch of everything has; the rest is spent on later starts
FADING, TOTAL = 1.2, 5.591582441177751  # later starts have shares i⁻¹·² / ζ(1.2)
SCALES = (1, 8, 64)  # that rest in equal parts: on all starts, on every eighth, on every 64th
EDGE = 1e-9  # distance from 0 and 1 within which a mean is not told from them
STEPS = 20  # of the bisection: an error of 1e-6


class Bounds(NamedTuple):
    """The interval of a stretch's mean; 0 and 1 where nothing is excluded."""

    low: float
    high: float


def thresholds(starts: Ints, level: float = LEVEL) -> Floats:
    """Return the logarithm that the capital of a stretch must reach, for either side, by the number i ≥ 0 of its start.

    log(2 / (level · share)) with share ½ for the start 0 and Σ (i/s)⁻¹·² / 6ζ(1.2) over the scales s that divide i for
    the others, so that all shares together are 1. A start that comes later costs more, but only by its logarithm; what
    takes long to be seen may as well begin at a round start, which costs less.

    >>> thresholds(np.array([0, 1, 64, 65])).round(2).tolist()
    [4.38, 7.2, 7.12, 12.21]
    """
    shares = sum(np.where(starts % scale == 0, (np.maximum(starts, 1) / scale) ** -FADING, 0.0) for scale in SCALES)
    later = shares * (1 - FIRST) / len(SCALES) / TOTAL
    found: Floats = -np.log(np.where(starts > 0, later, FIRST)) - math.log(level / 2)
    return found


def roundest(low: int, high: int) -> int:
    """Return the multiple of the largest power of two in low … high, 1 or more.

    >>> roundest(5, 11), roundest(6, 6)
    (8, 6)
    """
    power = 1
    while high // (2 * power) * 2 * power >= low:
        power *= 2
    return high // power * power


def evidence_below(counts: Ints, values: Floats, mean: float) -> Floats:
    """Return log Λ(mean) of each stretch: how strongly its units say that their mean is below `mean`.

    Args:
        counts: How many units of a stretch have each value, [..., value].
        values: In [0, 1].
        mean: In [0, 1].
    """
    mean = min(mean, 1 - EDGE)
    won = np.log1p(BETS * ((mean - values) / (1 - mean))[:, None])
    total = counts @ won
    most = total.max(axis=-1)
    found: Floats = most + np.log(np.exp(total - most[..., None]).mean(axis=-1))
    return found


def evidence_above(counts: Ints, values: Floats, mean: float) -> Floats:
    """Return how strongly the units of each stretch say that their mean is above `mean`; see evidence_below."""
    return evidence_below(counts, 1 - values, 1 - mean)


def bounds(counts: Ints, values: Floats, threshold: float) -> Bounds:
    """Return the means of one stretch that no side's evidence excludes: those with log Λ below `threshold`.

    >>> low, high = bounds(np.array([12, 88]), np.array([0.0, 1.0]), float(thresholds(np.array(0))))
    >>> round(low, 3), round(high, 3)
    (0.732, 0.962)
    """
    return Bounds(1 - _upper(counts, 1 - values, threshold), _upper(counts, values, threshold))


def _upper(counts: Ints, values: Floats, threshold: float) -> float:
    """Return the least mean that the evidence below it excludes; it rises with the mean."""
    low, high = 0.0, 1.0
    if not counts.sum() or evidence_below(counts, values, high) < threshold:
        return 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if evidence_below(counts, values, middle) >= threshold else (middle, high)
    return high
