"""Spread of repeated values of one quantity."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Dispersion(NamedTuple):
    """Mean, population variance and standard deviation, coefficient of variation (None where the mean is 0) and range
    of some values.
    """

    mean: float
    variance: float
    standard_deviation: float
    coefficient_of_variation: float | None
    range: float


def dispersion(values: Sequence[float]) -> Dispersion:
    """Return mean μ, variance σ² = Σ(x − μ)² / n, σ, σ / |μ| and max − min of `values`, all of the population.

    Raises ValueError without values.

    >>> [round(number, 6) for number in dispersion([0.8, 0.9, 0.7])]
    [0.8, 0.006667, 0.08165, 0.102062, 0.2]
    """
    if not values:
        raise ValueError("no values to describe")
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    deviation = math.sqrt(variance)
    return Dispersion(mean, variance, deviation, deviation / abs(mean) if mean else None, max(values) - min(values))
