"""Power of a paired comparison: the difference that given cases detect, and the cases that a difference needs."""

import math

from metrics.stats.student_t import Z95, student

POWER = 0.8416212335729143  # the standard normal's 80 % point


def detectable(error: float, clusters: float) -> float:
    """Return the true difference that a two-sided test at 5 % detects with 80 % power: (t + 0.84)·error."""
    return (student(clusters - 1) + POWER) * error


def units_needed(error: float, clusters: float, difference: float) -> int:
    """Return how many clusters are needed to detect a true `difference` > 0 with 80 % power.

    error: the standard error that the present number of `clusters` gives. The least c ≥ 2 with (t +
    0.84)·error·√(clusters / c) ≤ difference, t of c − 1 degrees of freedom.

    >>> units_needed(0.02, 100, detectable(0.02, 100))
    100
    """
    spread = error * math.sqrt(clusters)
    needed = max(2, math.floor(((Z95 + POWER) * spread / difference) ** 2))
    while detectable(spread / math.sqrt(needed), needed) > difference * (1 + 1e-9):
        needed += 1
    return needed
