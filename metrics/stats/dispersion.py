"""Spread of repeated values of one quantity."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Dispersion(NamedTuple):
    """Mean, population variance, and coefficient of variation (None where the mean is 0) of some values."""

    mean: float
    variance: float
    coefficient_of_variation: float | None


def dispersion(values: Sequence[float]) -> Dispersion:
    """Return mean μ, variance Σ(x − μ)² / n and σ / |μ| of `values`, all of the population; ValueError without values.

    >>> [round(number, 6) for number in dispersion([0.8, 0.9, 0.7])]
    [0.8, 0.006667, 0.102062]
    """
    if not values:
        raise ValueError("no values to describe")
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return Dispersion(mean, variance, math.sqrt(variance) / abs(mean) if mean else None)
