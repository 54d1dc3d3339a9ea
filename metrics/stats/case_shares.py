"""Shares of cases on which one model is ahead of another, or not far behind it, with 95 % intervals."""

import math
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.paired_tests import paired_tests
from metrics.stats.ratios import weighted_mean
from metrics.stats.student_t import Z95, student

STEPS = 60  # of a bisection


@dataclass(frozen=True, slots=True)
class CaseShare:
    """A share of cases, 0 … 1, with its 95 % interval; None where there is none."""

    value: float
    low: float | None
    high: float | None


def tango_interval(wins: float, losses: float, n: float) -> Interval:
    """Return the 95 % interval of (wins − losses) / n over n cases, the others ties; (None, None) where n is 0.

    The differences δ in −1 … 1 with |wins − losses − n·δ| ≤ 1.96·√(n·(2q + δ·(1 − δ))), q the likeliest chance of a
    loss if the difference is δ: (√(B² − 4AC) − B) / 2A, A = 2n, B = (2n − wins + losses)·δ − wins − losses,
    C = −losses·δ·(1 − δ). It needs no more than these counts and is never of width 0.
    Source: Tango, Statistics in Medicine 17:891, 1998.

    >>> tuple(round(end, 3) for end in tango_interval(1, 7, 21))
    (-0.517, -0.026)
    """
    if n <= 0:
        return NONE
    found = (wins - losses) / n

    def is_far(delta: float) -> bool:
        linear = (2 * n - wins + losses) * delta - wins - losses
        root = math.sqrt(max(0.0, linear**2 + 8 * n * losses * delta * (1 - delta)))
        variance = n * (2 * (root - linear) / (4 * n) + delta * (1 - delta))
        return abs(wins - losses - n * delta) > Z95 * math.sqrt(max(0.0, variance))

    ends = []
    for far in (-1.0, 1.0):
        inside, outside = found, far
        if is_far(outside):
            for _ in range(STEPS):
                middle = (inside + outside) / 2
                inside, outside = (inside, middle) if is_far(middle) else (middle, outside)
            ends.append(inside)
        else:
            ends.append(far)
    return ends[0], ends[1]


def superiority(better: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> CaseShare | None:
    """Return the share of cases on which b beats a, ties half; `better` [n]: b − a, above 0 where b is better.

    The chance that b scores higher on a random case: ½ + (wins − losses) / 2n. Weighted cases, and those in clusters
    (codes [n]), count in Tango's interval as the independent cases that they are worth. None without a case.
    """
    signs = np.where(np.abs(better) <= EQUAL, 0.0, np.sign(better))
    worth = worth_of_cases(signs, weights, clusters)
    if not len(signs) or math.isnan(mean := weighted_mean(signs, weights)):
        return None
    wins, losses = (weighted_mean((signs == side).astype(np.float64), weights) * worth for side in (1.0, -1.0))
    low, high = tango_interval(wins, losses, worth)
    return CaseShare((1 + mean) / 2, None if low is None else (1 + low) / 2, None if high is None else (1 + high) / 2)


def share_within(
    better: Floats, margin: float, weights: Floats | None = None, clusters: Ints | None = None
) -> CaseShare | None:
    """Return the share of cases on which b is at most `margin` worse than a, by Wilson's interval; see superiority."""
    near = (better >= -margin - EQUAL).astype(np.float64)
    worth = worth_of_cases(near, weights, clusters)
    if not len(near) or math.isnan(share := weighted_mean(near, weights)):
        return None
    return CaseShare(share, *wilson(share * worth, worth))


def worth_of_cases(values: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> float:
    """Return how many independent cases of equal weight tell as much of the mean of `values` [n] as these do, ≤ n.

    The variance of the values over the squared error of their mean, of which few clusters' uncertainty (Student's t)
    is taken off; where all are equal, as many as equal clusters. 0 where a single cluster leaves no error.
    Source: Rao & Scott, Biometrics 48:577, 1992.
    """
    if (weights is None and clusters is None) or not len(values):
        return float(len(values))
    found = paired_tests(values[:, None], weights, clusters)
    error, freedom = float(found.error[0]), float(found.freedom[0])
    spread = weighted_mean((values - float(found.difference[0])) ** 2, weights)
    worth = spread / error**2 if error > EQUAL and spread > EQUAL else 1 + freedom
    return min(len(values), worth) * (Z95 / student(freedom)) ** 2
