"""Looking again and again while cases arrive: p, intervals and tests that hold at every look, however many there are.

A test at 5 % that is repeated as cases arrive finds a difference that is not there far more often than in 5 % of all
such series. What is made here holds at all looks at once, whenever one looks or stops; the number of looks need not be
planned or counted. It takes any estimate with a normal error: its p, its interval, and how many units it rests on.

A stretch of a stream begins at one of its starts and ends now. All intervals of all stretches, at all moments, hold
together with a chance of at least 1 − SEQUENCE_LEVEL: so they may be looked at whenever, and the stretch that says most
may be chosen after looking. A stretch's mean is that of the expected values of its units, each given the units before
it: units need neither be independent nor have a constant mean, as long as no unit is part of an earlier one.

Against "the mean of the stretch is at least m", bet k wins 1 + θ_k (m − x) / (1 − m) by a unit of value x, so a
gambler's capital Λ(m) = Σ_k ∏ (…) / K would grow by chance alone to 1/α with a chance of at most α (Ville). As every
θ_k is constant, that holds of the stretch's mean as defined above, by the inequality of the two means. Sources:
Waudby-Smith & Ramdas, Journal of the Royal Statistical Society B 86:1, 2024; Robbins, Annals of Mathematical Statistics
41:1397, 1970.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import exact_sum
from metrics.stats.corrections import LEVEL
from metrics.stats.float_tolerance import ratio
from metrics.stats.student_t import Z95

FEWEST = 30  # units: with fewer the normal approximation does not hold at every look, so nothing is said
SHARPNESS = 0.16  # ρ²: the interval is narrowest, relative to one look, at some 8 / ρ² = 50 units


def anytime_p(p: float, units: int) -> float:
    """Return the p that holds at every look, from the two-sided `p` of a single look at `units` units.

    z is the normal score of p, x = ρ²·units: min(1, √(1 + x)·exp(−z²/2·x / (1 + x))), the inverse of a likelihood
    ratio of a normal mixture over the differences to none. If there is no difference, it is at most 5 % at any of all
    looks in at most 5 % of series. 1 with fewer than FEWEST units.
    Source: Robbins, Annals of Mathematical Statistics 41:1397, 1970; Waudby-Smith et al., Annals of Statistics 52:2613,
    2024 (asymptotic confidence sequences).

    >>> round(anytime_p(0.001, 100), 3), anytime_p(0.001, 20)
    (0.025, 1.0)
    """
    if units < FEWEST:
        return 1.0
    score = -NormalDist().inv_cdf(max(p, 1e-300) / 2)
    x = SHARPNESS * units
    return min(1.0, math.exp(0.5 * math.log1p(x) - score * score / 2 * x / (1 + x)))


def anytime_stretch(units: float) -> float:
    """Return by how much an interval that holds at every look is wider than that of a single look at `units` units.

    √((1 + x) / x·(ln(1 + x) + 2·ln 20)) / 1.96 with x = ρ²·units; infinite with fewer than FEWEST units.

    >>> round(anytime_stretch(50), 3), round(anytime_stretch(5_000), 3)
    (1.549, 1.818)
    """
    if units < FEWEST:
        return math.inf
    x = SHARPNESS * units
    return math.sqrt((1 + x) / x * (math.log1p(x) - 2 * math.log(LEVEL))) / Z95


def anytime_interval(difference: float, low: float, high: float, units: int) -> tuple[float, float]:
    """Return the interval that holds at every look, from the 95 % interval of a single look at `units` units.

    Each arm, from the difference to its end, is stretched. If the difference never changes, all intervals of a series
    contain it in 95 % of series. Its ends are infinite with fewer than FEWEST units.
    """
    if units < FEWEST:
        return -math.inf, math.inf
    stretch = anytime_stretch(units)
    return difference - stretch * (difference - low), difference + stretch * (high - difference)


SEQUENCE_LEVEL = 0.05  # the chance that any interval of any stretch ever misses
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


def thresholds(starts: Ints, level: float = SEQUENCE_LEVEL) -> Floats:
    """Return the logarithm that the capital of a stretch must reach, for either side, by the number i ≥ 0 of its start.

    log(2 / (level · share)) with share ½ for the start 0 and Σ (i/s)⁻¹·² / 6ζ(1.2) over the scales s that divide i for
    the others, so that all shares together are 1. A start that comes later costs more, but only by its logarithm; what
    takes long to be seen may as well begin at a round start, which costs less.

    >>> thresholds(np.array([0, 1, 64, 65])).round(2).tolist()
    [4.38, 7.2, 7.12, 12.21]
    """
    shares = sum(np.where(starts % scale == 0, (np.maximum(starts, 1) / scale) ** -FADING, 0.0) for scale in SCALES)
    later = shares * (1 - FIRST) / len(SCALES) / TOTAL
    return -np.log(np.where(starts > 0, later, FIRST)) - math.log(level / 2)


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
    return np.asarray(most + np.log(np.exp(total - most[..., None]).mean(axis=-1)))


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


NEEDED = -math.log(SEQUENCE_LEVEL)  # evidence that a stream of independent results ever shows with at most that chance


def lag_correlation(passed: Bools) -> float:
    """Return the correlation of each of `passed` [n] with the one before, −1 … 1; 0 where all are equal.

    Σ (x_t − x̄)(x_t−1 − x̄) / Σ (x_t − x̄)².

    >>> round(lag_correlation(np.repeat([True, False, True, False], 5)), 2)
    0.65
    """
    apart = passed - passed.mean() if len(passed) else np.zeros(0)
    return float(ratio(apart[1:] @ apart[:-1], np.asarray(apart @ apart), 0.0))


def dependence_evidence(passed: Bools) -> float:
    """Return how strongly `passed` [n] say that each depends on the one before: log of a likelihood ratio.

    The predictions of a Markov chain whose chances are learnt on the way (a Beta(½, ½) mixture for what follows a pass,
    another for what follows a failure), against the best constant chance, from the second result on:

        Σ_s log B(n_s0 + ½, n_s1 + ½) / B(½, ½) − n_0·log(n_0 / n) − n_1·log(n_1 / n)

    If results are independent with a constant chance, it is at or above −log α at any of all looks with a chance of at
    most α (Ville). Sources: Krichevsky & Trofimov, IEEE Transactions on Information Theory 27:199, 1981; Wasserman,
    Ramdas & Balakrishnan, PNAS 117:16880, 2020 (universal inference).

    >>> round(dependence_evidence(np.repeat([True, False, True, False], 5)), 2)
    2.21
    """
    if len(passed) < 2:
        return 0.0
    counts = np.bincount(2 * passed[:-1] + passed[1:].astype(np.int64), minlength=4).reshape(2, 2)
    chain = exact_sum(_log_beta(*row) - _log_beta(0, 0) for row in counts.tolist())
    totals = counts.sum(axis=0)
    totals = totals[totals > 0]
    return float(chain - (totals * np.log(totals / totals.sum())).sum())


def _log_beta(failures: int, passes: int) -> float:
    return math.lgamma(failures + 0.5) + math.lgamma(passes + 0.5) - math.lgamma(failures + passes + 1)
