"""Power of a paired comparison: the difference that given cases detect, and the cases that a difference needs."""

import math
from collections.abc import Callable

from metrics.stats.student_t import Z95, student

POWER = 0.8416212335729143  # the standard normal's 80 % point
Stretch = Callable[[float], float]  # by how much a test of so many clusters is stricter than Student's t


def detectable(error: float, clusters: float, stretch: Stretch | None = None) -> float:
    """Return the true difference that a two-sided test at 5 % detects with 80 % power: (t + 0.84)·error.

    stretch: of a test that is made at every look, metrics.stats.sequential.anytime_stretch; t is multiplied by it.
    """
    factor = 1.0 if stretch is None else stretch(clusters)
    return (student(clusters - 1) * factor + POWER) * error


def units_needed(error: float, clusters: float, difference: float, stretch: Stretch | None = None) -> int:
    """Return how many clusters are needed to detect a true `difference` > 0 with 80 % power.

    error: the standard error that the present number of `clusters` gives. The least c ≥ 2 with (t·stretch +
    0.84)·error·√(clusters / c) ≤ difference, t of c − 1 degrees of freedom.

    >>> units_needed(0.02, 100, detectable(0.02, 100))
    100
    """
    spread = error * math.sqrt(clusters)

    def is_enough(units: int) -> bool:
        return detectable(spread / math.sqrt(units), units, stretch) <= difference * (1 + 1e-9)

    low = high = max(2, math.floor(((Z95 + POWER) * spread / difference) ** 2))
    while not is_enough(high):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return high
