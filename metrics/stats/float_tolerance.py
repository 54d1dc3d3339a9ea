"""Arithmetic at its edge, where the last bits or a divisor of 0 would decide: ratios, roots and statistics near 0,
singular matrices, the order of numbers that are equal on paper.
"""

import math
from collections.abc import Sequence

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints, Numbers
from metrics.core.rounding import EQUAL, NEAR

SINGULAR = 1e-12  # of the largest eigenvalue: what rounding leaves of one that is 0 on paper


def root(square: Floats | float) -> Floats:
    """Return √ of what cannot be below 0 on paper: 0 where rounding left it there. NaN stays NaN.

    >>> root(np.array([4.0, -1e-34, np.nan])).tolist()
    [2.0, 0.0, nan]
    """
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def standard_errors(covariance: Floats) -> Floats:
    """Return the root [m] of the diagonal of a covariance [m, m].

    0 where a variance is 0 but for rounding, which is relative to the largest one; NaN where it is below 0 by more: no
    variance is.

    >>> standard_errors(np.array([[0.25, 0.0, 0.0], [0.0, -1e-34, 0.0], [0.0, 0.0, -0.1]])).tolist()
    [0.5, 0.0, nan]
    """
    return _errors(np.diag(covariance), covariance)


def difference_errors(covariance: Floats, one: Ints, other: Ints) -> Floats:
    """Return the standard errors [p] of the differences of pairs of numbers with this covariance [m, m].

    >>> difference_errors(np.array([[0.5, 0.25], [0.25, 0.5]]), np.array([0]), np.array([1])).round(3).tolist()
    [0.707]
    """
    variance = np.diag(covariance)
    return _errors(variance[one] + variance[other] - 2 * covariance[one, other], covariance)


def _errors(variances: Floats, covariance: Floats) -> Floats:
    rounding = SINGULAR * np.abs(covariance).max(initial=0.0)
    known = np.where(variances < -rounding, np.nan, variances)
    return root(np.where(known <= rounding, known * 0.0, known))


def distance_in_errors(apart: Floats, error: Floats | float) -> Floats:
    """Return |apart| / error: 0 where nothing is apart but for rounding, infinite where only the error is 0.

    >>> distance_in_errors(np.array([1.0, 1e-17, -1.0]), np.array([0.5, 0.0, 0.0])).tolist()
    [2.0, 0.0, inf]
    """
    size = np.abs(apart)
    error = np.broadcast_to(error, size.shape)
    found = np.divide(size, error, out=np.full(size.shape, np.inf), where=~(error <= EQUAL))
    return np.where(size <= EQUAL, 0.0, found)


def symmetric_inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse of a symmetric matrix; an eigenvalue of at most SINGULAR of the largest counts as 0."""
    return np.asarray(np.linalg.pinv(matrix, rcond=SINGULAR, hermitian=True), np.float64)


def whole_from(number: float) -> int:
    """Return the least whole number that is not below a computed one but for rounding.

    >>> whole_from(0.1 * 3 * 10), whole_from(3.2)
    (3, 4)
    """
    return math.ceil(number - NEAR * max(1.0, abs(number)))


def falling_order(values: Sequence[float] | Floats, within: float = NEAR) -> Ints:
    """Return the places of values [n] from the highest on, NaN last; those that are equal keep their order.

    Equal are neighbours in that order that differ by at most `within`, relative where they are above 1.

    >>> falling_order([0.3, 0.5, 0.1 + 0.2]).tolist()
    [1, 0, 2]
    """
    given = np.asarray(values, np.float64)
    order = np.argsort(-given, kind="stable")
    falling = given[order]
    with np.errstate(invalid="ignore"):  # infinite ones
        gap = falling[:-1] - falling[1:]
    apart = ~(gap <= within * np.maximum(1.0, np.abs(falling[1:]))) & (falling[:-1] != falling[1:])
    level = np.concatenate([[0], np.cumsum(apart)])[: len(order)]
    return np.asarray(order[np.lexsort((order, level))], np.int64)


def highest_place(values: Sequence[float] | Floats) -> int:
    """Return the place of the highest value, the first of those that equal it but for rounding; NaN is none, one is.

    >>> highest_place([0.3, 0.1 + 0.2, np.nan])
    0
    """
    return int(np.argmax(_as_high(np.asarray(values, np.float64))))


def highest_places(table: Floats) -> Ints:
    """Return `highest_place` of each row of a table [n, k]: [n]."""
    return np.asarray(np.argmax(_as_high(table), axis=1), np.int64)


def _as_high(values: Floats) -> Bools:
    known = np.where(np.isnan(values), -np.inf, values)
    most = known.max(axis=-1, keepdims=True)
    return np.asarray(known >= most - NEAR * np.where(np.isfinite(most), np.maximum(1.0, np.abs(most)), 0.0))


def is_apart(difference: float, samples: Floats) -> bool:
    """Return whether a difference or one of its resamples [B] is other than 0, by more than rounding; NaN is none."""
    return bool(abs(difference) > EQUAL or (np.abs(samples) > EQUAL).any())


def first_highest(values: Floats, sizes: Ints) -> Ints:
    """Return the place of the highest of the values [m] of each segment, the first of equals: [n].

    sizes: [n], each at least 1; their sum is m. No value may be NaN.

    >>> first_highest(np.array([1.0, 3.0, 3.0, 2.0]), np.array([3, 1])).tolist()
    [1, 3]
    """
    if not len(sizes):
        return np.zeros(0, np.int64)
    begin = np.cumsum(sizes) - sizes
    places = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, begin), sizes))
    return places if len(places) == len(sizes) else places[np.searchsorted(places, begin)]


def ratio(part: Numbers, whole: Numbers, otherwise: float = np.nan) -> Floats:
    """Return part / whole; `otherwise`, NaN by default, where `whole` is not above 0."""
    found: Floats = np.divide(
        part, whole, out=np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise), where=whole > 0
    )
    return found


def weighted_mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the mean of the `values` [n] that are not NaN, each times its weight [n], default 1; NaN of no weight."""
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].sum() / known.sum()) if known.any() else float("nan")
    total = weights[known].sum()
    return float((values[known] * weights[known]).sum() / total) if total > 0 else float("nan")


def mean_over(values: Floats, *axes: int, weights: Numbers | None = None) -> Floats:
    """Return the mean over `axes` of what is not NaN, weighted; NaN where nothing has weight."""
    known = ~np.isnan(values)
    total = np.where(known, values if weights is None else values * weights, 0.0)
    return ratio(total.sum(axis=axes), (known if weights is None else known * weights).sum(axis=axes))
