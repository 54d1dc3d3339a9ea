"""Rates of groups beside each other: differences and ratios with intervals, and tests of pairs."""

import math

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.float_tolerance import distance_in_errors, highest_place, root

Ends = tuple[float, float]


def difference_interval(one: float, ends: Ends, other: float, other_ends: Ends) -> Ends:
    """Return the 95 % interval of one − other from the intervals of both, for independent rates.

    With δ the distance from a rate to an end of its own interval: one − other − √(δ_low(one)² + δ_high(other)²) and
    one − other + √(δ_high(one)² + δ_low(other)²). Source: Newcombe 1998, method 10.

    >>> [round(end, 3) for end in difference_interval(0.7, (0.5, 0.85), 0.4, (0.25, 0.6))]
    [0.017, 0.512]
    """
    apart = one - other
    down = math.hypot(one - ends[0], other_ends[1] - other)
    up = math.hypot(ends[1] - one, other - other_ends[0])
    return apart - down, apart + up


def ratio_interval(one: float, ends: Ends, other: float, other_ends: Ends) -> Ends:
    """Return the 95 % interval of one / other, of rates above 0: the same on the scale of logarithms.

    From 0 on where an end of the one is 0, without end (infinite) where one of the other is.

    >>> [round(end, 3) for end in ratio_interval(0.4, (0.25, 0.6), 0.7, (0.5, 0.85))]
    [0.344, 0.968]
    """

    def apart(high: float, low: float) -> float:
        return math.log(high / low) if low > 0 else math.inf

    down = math.hypot(apart(one, ends[0]), apart(other_ends[1], other))
    up = math.hypot(apart(ends[1], one), apart(other, other_ends[0]))
    return one / other * math.exp(-down), one / other * math.exp(up)


def equal_rates_p(hits: tuple[float, float], n: tuple[float, float]) -> float:
    """Return the two-sided p of two independent rates being equal: the score test, χ² without correction.

    z = (p₁ − p₂) / √(p̄(1 − p̄)(1/n₁ + 1/n₂)), p̄ the rate of both together; 1 where all or none are hits.

    >>> round(equal_rates_p((15, 5), (20, 20)), 4)
    0.0016
    """
    shared = sum(hits) / sum(n)
    error = root(shared * (1 - shared) * (1 / n[0] + 1 / n[1]))
    apart = np.array([hits[0] / n[0] - hits[1] / n[1]])
    return math.erfc(float(distance_in_errors(apart, error)[0]) / math.sqrt(2))


def extremes(rates: Floats) -> tuple[int, int] | None:
    """Return the places of the lowest and the highest of `rates` [g], NaN left out; None of fewer than two."""
    known = np.flatnonzero(~np.isnan(rates))
    if len(known) < 2:
        return None
    return int(known[highest_place(-rates[known])]), int(known[highest_place(rates[known])])
