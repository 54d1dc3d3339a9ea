"""Rates of groups beside each other: differences and ratios with intervals, tests of pairs, and a test by strata."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.rounding import exact_sum
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
    shared = exact_sum(hits) / exact_sum(n)
    error = root(shared * (1 - shared) * (1 / n[0] + 1 / n[1]))
    apart = np.array([hits[0] / n[0] - hits[1] / n[1]])
    return math.erfc(float(distance_in_errors(apart, error)[0]) / math.sqrt(2))


def extremes(rates: Floats) -> tuple[int, int] | None:
    """Return the places of the lowest and the highest of `rates` [g], NaN left out; None of fewer than two."""
    known = np.flatnonzero(~np.isnan(rates))
    if len(known) < 2:
        return None
    return int(known[highest_place(-rates[known])]), int(known[highest_place(rates[known])])


class Stratum(NamedTuple):
    """Counts of one stratum: how many are treated and how many of these are hit, the same of its controls."""

    treated: int
    treated_hits: int
    control: int
    control_hits: int


def exact_excess(strata: Mapping[Stratum, int]) -> float | None:
    """Return the one-sided exact p of no more hits among the treated than among the controls of their own stratum.

    strata: how many there are of each outcome. Given a stratum's number of hits, how many of them fall on the treated
    is hypergeometric if it does not matter who was treated; p = P(Σ ≥ observed Σ), the strata independent. One treated
    and one control in each: McNemar's exact test; a single stratum: Fisher's. None where no stratum is informative
    (all hit, none hit, or no control). Source: Cochran 1954; Mantel & Haenszel 1959; in its exact form Gart 1970.

    >>> exact_excess({Stratum(1, 1, 1, 0): 3, Stratum(1, 0, 1, 1): 1})
    0.3125
    """
    kinds: Counter[tuple[int, int, int]] = Counter()
    observed = 0
    for stratum, many in strata.items():
        hits = stratum.treated_hits + stratum.control_hits
        if many and stratum.treated and stratum.control and 0 < hits < stratum.treated + stratum.control:
            kinds[stratum.treated, stratum.control, hits] += many
            observed += many * stratum.treated_hits
    if not kinds:
        return None
    sums = np.ones(1)
    for kind, count in kinds.items():
        sums = np.convolve(sums, _power(_hypergeometric(*kind), count))
    return float(min(1.0, sums[observed:].sum()))


def _hypergeometric(treated: int, control: int, hits: int) -> Floats:
    """P(0), P(1) … of how many of the hits fall on the treated."""
    total = math.comb(treated + control, hits)
    most = min(treated, hits)
    return np.array([math.comb(treated, own) * math.comb(control, hits - own) / total for own in range(most + 1)])


def _power(chances: Floats, times: int) -> Floats:
    """Return the distribution of the sum of `times` independent draws, by squaring."""
    found = np.ones(1)
    while times:
        if times & 1:
            found = np.convolve(found, chances)
        times >>= 1
        if times:
            chances = np.convolve(chances, chances)
    return found
