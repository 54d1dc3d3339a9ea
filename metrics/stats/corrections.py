"""Corrections of p for many tests, each over the family of tests that is passed in."""

from typing import overload

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.core.rounding import at_most

LEVEL = 0.05  # at or below which an adjusted p is called significant


@overload
def is_significant(p: float) -> bool: ...
@overload
def is_significant(p: Floats) -> Bools: ...
def is_significant(p: Floats | float) -> Bools | bool:
    """Return whether an adjusted p is at most LEVEL, by rounding alone above it too; NaN is not.

    >>> is_significant(0.05 / 3 * 3), is_significant(0.051)
    (True, False)
    """
    return at_most(p, LEVEL)


def holm(p: Floats, weights: Floats | None = None) -> Floats:
    """Return Holm's adjusted p: the chance of any false finding is at most the level that they are compared with.

    In rising order the i-th of m is multiplied by m − i + 1, at least as large as the one before and at most 1. With
    weights > 0 the order is that of p / weight, and the factor the weights not yet passed over the test's own.
    Source: Holm, Scandinavian Journal of Statistics 6:65, 1979; with weights section 4.

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    >>> holm(np.array([0.02, 0.02]), np.array([4.0, 1.0])).round(3).tolist()
    [0.025, 0.025]
    """
    shares = np.ones(len(p)) if weights is None else weights
    order = np.argsort(p / shares, kind="stable")
    left = np.cumsum(shares[order][::-1])[::-1]
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] / shares[order] * left))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Return Benjamini and Hochberg's adjusted p: of the findings at a level at most that share is expected false.

    In falling order the i-th smallest of m is multiplied by m / i, at most as large as the one after it.
    Source: Benjamini & Hochberg, Journal of the Royal Statistical Society B 57:289, 1995.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])).round(3).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty(len(p))
    scaled = p[order] * (len(p) / np.arange(len(p), 0, -1))
    adjusted[order] = np.minimum.accumulate(scaled)
    return adjusted


def benjamini_yekutieli(p: Floats) -> Floats:
    """Return Benjamini and Yekutieli's adjusted p, whose promise of `benjamini_hochberg` holds of dependent tests, too.

    Its adjusted p times 1 + 1/2 + … + 1/m, at most 1.
    Source: Benjamini & Yekutieli, Annals of Statistics 29:1165, 2001.

    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03, 0.005])).round(3).tolist()
    [0.042, 0.083, 0.083, 0.042]
    """
    harmonic = (1 / np.arange(1, len(p) + 1)).sum()
    return np.asarray(np.minimum(1.0, benjamini_hochberg(p) * harmonic))
