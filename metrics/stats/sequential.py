"""Looking again and again while cases arrive: p and 95 % intervals that hold at every look, however many there are.

A test at 5 % that is repeated as cases arrive finds a difference that is not there far more often than in 5 % of all
such series. What is made here holds at all looks at once, whenever one looks or stops; the number of looks need not be
planned or counted. It takes any estimate with a normal error: its p, its interval, and how many units it rests on.
"""

import math
from statistics import NormalDist

from metrics.stats.corrections import LEVEL
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
