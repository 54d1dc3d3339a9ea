"""Ranks of many models: every pair gets the one paired test, and significant differences make the ranks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.corrections import holm, is_significant
from metrics.stats.float_tolerance import difference_errors, distance_in_errors, falling_order
from metrics.stats.paired_tests import paired_tests, resample_tests
from metrics.stats.student_t import student_p

MAX_PAIRS = 1_000  # pairs tested; all pairs of many models grow with their square
CELLS = 1 << 18  # of differences held at once


@dataclass(frozen=True, slots=True)
class Pairs:
    """P tested pairs of models: `better` and `worse` [P] are their columns, the better mean first.

    p [P]: of no difference; adjusted [P]: by Holm over all pairs; differs [P]: whether anything does, so that p could
    be below 1. Of values per case: error [P], the standard error of the mean difference; cases [P] that both have;
    units [P]: the independent ones among them (clusters, or cases); freedom [P]: the error's degrees of freedom.
    """

    better: Ints
    worse: Ints
    p: Floats
    adjusted: Floats
    differs: Bools
    error: Floats
    cases: Ints
    units: Ints
    freedom: Floats


def compare_pairs(
    values: Floats, weights: Floats | None = None, clusters: Ints | None = None, binary: Bools | bool = False
) -> Pairs:
    """Test the columns of `values` [n, m] pair by pair on the rows that both have: NaN is no value, more is better.

    weights: [n]; clusters: [n] codes; binary: the columns [m] that are 0 or 1, once a case. Of more than 32 columns
    only the first MAX_PAIRS // m by mean are tested against all others, the rest not among themselves; Holm counts
    those pairs too, with p = 1.
    """
    m = values.shape[1]
    order = best_first(values, weights)
    values, single = values[:, order], np.broadcast_to(binary, m)[order]
    if clusters is not None:
        rows = np.argsort(clusters, kind="stable")
        values, weights, clusters = values[rows], None if weights is None else weights[rows], clusters[rows]

    def test(first: Ints, second: Ints) -> tuple[Floats, ...]:
        apart = values[:, first] - values[:, second]
        found = paired_tests(apart, weights, clusters, single[first] & single[second])
        differs = np.asarray((np.abs(apart) > EQUAL).any(axis=0), np.float64)
        counts = (found.pairs.astype(np.float64), found.units.astype(np.float64), found.freedom)
        return found.difference, found.p, differs, found.error, *counts

    return _pairs(order, max(1, CELLS // max(1, len(values))), test)


def compare_resamples(values: Floats, samples: Floats) -> Pairs:
    """Test m models pair by pair on the same resamples: `values` [m] and `samples` [m, B], NaN without one."""
    order = falling_order(values)
    values, samples = values[order], samples[order]

    def test(first: Ints, second: Ints) -> tuple[Floats, ...]:
        apart, moved, nothing = values[first] - values[second], samples[first] - samples[second], np.zeros(len(first))
        differs = (np.abs(apart) > EQUAL) | (np.abs(moved) > EQUAL).any(axis=1)
        return apart, resample_tests(apart, moved), differs.astype(np.float64), nothing, nothing, nothing, nothing

    return _pairs(order, max(1, CELLS // max(1, samples.shape[1])), test)


def _pairs(order: Ints, step: int, test: Callable[[Ints, Ints], tuple[Floats, ...]]) -> Pairs:
    """Test the leading columns against all later ones, `step` pairs at a time; `order`: their columns, best first."""
    m = len(order)
    leaders = min(m - 1, max(1, MAX_PAIRS // max(m, 1)))
    places = np.triu_indices(m, 1)
    chosen = places[0] < leaders
    first, second = places[0][chosen], places[1][chosen]
    parts = [
        test(first[start : start + step], second[start : start + step]) for start in range(0, max(1, len(first)), step)
    ]
    difference, p, differs, error, cases, units, freedom = (np.concatenate(part) for part in zip(*parts, strict=True))
    adjusted = holm(np.concatenate([p, np.ones(len(places[0]) - len(p))]))[: len(p)]
    swapped = difference < -EQUAL  # on the cases of both the worse mean may be the better one
    better, worse = (order[np.where(swapped, *pair)] for pair in ((second, first), (first, second)))
    counts = (cases.astype(np.int64), units.astype(np.int64))
    return Pairs(better, worse, p, adjusted, differs.astype(bool), error, *counts, freedom)


def best_first(values: Floats, weights: Floats | None = None) -> Ints:
    """Return the columns of `values` [n, m] by falling mean; those without any value last."""
    absent = np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        if weights is None and not absent.any():  # the same sums, without copies of all values
            means = values.sum(axis=0) / len(values)
        else:
            mass = ~absent if weights is None else ~absent * weights[:, None]
            means = (np.where(absent, 0.0, values) * mass).sum(axis=0) / mass.sum(axis=0)
    return falling_order(means)


def rank_bounds(pairs: Pairs, m: int) -> tuple[Ints, Ints]:
    """Return the best and the worst rank [m] that each of m models may have, 1 the best: all hold at once in 95 %.

    1 + how many models are significantly better than it, and m − how many it is significantly better than. Models with
    the same better ones share the best rank.
    Source: Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91:476, 2024.
    """
    significant = is_significant(pairs.adjusted)
    best = 1 + np.bincount(pairs.worse[significant], minlength=m)
    worst = m - np.bincount(pairs.better[significant], minlength=m)
    return best.astype(np.int64), worst.astype(np.int64)


def rank_ranges(values: Floats, covariance: Floats, freedom: float) -> tuple[Ints, Ints]:
    """Return the best and the worst rank [m] that each of m models can have, 1: the highest value.

    Best: 1 + how many models are significantly higher; worst: m − how many are significantly lower. Pairs are tested by
    Student's t of `freedom` degrees of freedom with the `covariance` [m, m] of the values, Holm over all pairs, 5 %.
    """
    m = len(values)
    one, other = np.triu_indices(m, 1)
    apart = values[one] - values[other]
    t = distance_in_errors(apart, difference_errors(covariance, one, other))
    clear = is_significant(holm(student_p(t, np.full(len(t), freedom))))
    higher, lower = np.where(apart > 0, one, other)[clear], np.where(apart > 0, other, one)[clear]
    best, worst = 1 + np.bincount(lower, minlength=m), m - np.bincount(higher, minlength=m)
    return best.astype(np.int64), worst.astype(np.int64)
