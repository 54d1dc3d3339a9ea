"""Power of a paired comparison: the difference that given cases detect, and the cases that a difference needs."""

import math

from metrics.stats.student_t import Z95, student

POWER = 0.8416212335729143  # the standard normal's 80 % point


def detectable(error: float, clusters: int) -> float:
    """Return the true difference that a two-sided test at 5 % finds four times of five (80 % power): (t + 0.84)·error."""
    return (student(clusters - 1) + POWER) * error


def units_needed(error: float, clusters: int, difference: float) -> int:
    """Return how many clusters, like the `clusters` that give the standard `error`, reveal a true `difference` > 0 as
    above.

    The least c ≥ 2 with (t + 0.84)·error·√(clusters / c) ≤ difference, t of c − 1 degrees of freedom.

    >>> units_needed(0.02, 100, detectable(0.02, 100))
    100
    """
    spread = error * math.sqrt(clusters)
    needed = max(2, math.floor(((Z95 + POWER) * spread / difference) ** 2))
    while detectable(spread / math.sqrt(needed), needed) > difference * (1 + 1e-9):
        needed += 1
    return needed
