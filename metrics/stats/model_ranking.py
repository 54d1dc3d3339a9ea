"""Ranks of many models: which can be compared, by pairs of the one paired test, and by weighted sums of metrics."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.corrections import holm, is_significant
from metrics.stats.float_tolerance import difference_errors, distance_in_errors, falling_order, highest_place, ratio
from metrics.stats.intervals import mean_intervals
from metrics.stats.paired_tests import paired_tests, resample_tests
from metrics.stats.student_t import student_p


def linked_groups(met: Iterable[Ints], models: int) -> Ints:
    """Return a code [m] of the group of each of `models` models: equal where a chain links them, 0 the first's.

    met: the models, 0 … m − 1, of each match or suite.

    >>> linked_groups([np.array([0, 2]), np.array([1, 3]), np.array([3, 4])], 5).tolist()
    [0, 1, 0, 1, 1]
    """
    group = np.arange(models)
    for together in met:
        own = group[together]
        group[np.isin(group, own)] = own.min(initial=models)
    return np.unique(group, return_inverse=True)[1]


MAX_PAIRS = 1_000  # pairs tested; all pairs of many models grow with their square
CELLS = 1 << 18  # of differences held at once


@dataclass(frozen=True, slots=True)
class Pairs:
    """P tested pairs of models: `better` and `worse` [P] are their columns, the better mean first.

    p [P]: of no difference; adjusted [P]: by Holm over all pairs; differs [P]: whether anything does, so that p could
    be below 1; gap [P]: by how much the better one is ahead. Of values per case: error [P], the standard error of the
    mean difference; cases [P] that both have; units [P]: the independent ones among them (clusters, or cases);
    freedom [P]: the error's degrees of freedom.
    """

    better: Ints
    worse: Ints
    p: Floats
    adjusted: Floats
    differs: Bools
    gap: Floats
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
    return Pairs(better, worse, p, adjusted, differs.astype(bool), np.abs(difference), error, *counts, freedom)


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


DRAWS = 10_000  # weightings: a share is known to ± 1 point


class WeightTurn(NamedTuple):
    """The least change of one weight that makes another model lead: the weight of `part` becomes `weight`."""

    part: int
    weight: float
    model: int


def weighted_intervals(
    parts: Floats, shares: Floats, weights: Floats | None = None, clusters: Ints | None = None, seed: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Return the means [m] of Σ share·part over the rows that have every part, and their 95 % intervals (low, high).

    parts: [k, n, m] in 0 … 1, NaN for none; shares: [k], sum 1; weights: [n]; clusters: [n] codes; see mean_intervals.

    A part that is equal in all rows, such as a share without a failure, says nothing of its own error. Where the others
    vary, its interval alone is put to the sum's: mean − √((mean − low)² + Σ (share·(value − own low))²), and so the
    upper end. Source: Zou & Donner, Statistics in Medicine 27:1693, 2008.
    """
    sums = np.tensordot(shares, parts, 1)
    there = ~np.isnan(sums)
    mass = there if weights is None else there * weights[:, None]
    mean = ratio((np.where(there, sums, 0.0) * mass).sum(axis=0), mass.sum(axis=0))
    low, high, _ = mean_intervals(sums, weights, clusters, seed, 0.0, 1.0)
    still = np.array([_spread(part, there) <= EQUAL for part in parts]) & (_spread(sums, there) > EQUAL)
    below, above = (mean - low) ** 2, (high - mean) ** 2
    for part, share, alone in zip(parts, shares, still, strict=True):
        if alone.any():
            own = np.where(there, part, np.nan)[:, alone]
            value = np.nanmax(own, axis=0)
            first, last, _ = mean_intervals(own, weights, clusters, seed, 0.0, 1.0)
            below[alone] += (share * (value - first)) ** 2
            above[alone] += (share * (last - value)) ** 2
    return mean, np.maximum(mean - np.sqrt(below), 0.0), np.minimum(mean + np.sqrt(above), 1.0)


def _spread(values: Floats, there: Bools) -> Floats:
    """Return by how much the values [n, m] of each column differ where they count; below 0 where none does."""
    most, least = (np.where(there, values, far) for far in (-np.inf, np.inf))
    return np.asarray(most.max(axis=0, initial=-np.inf) - least.min(axis=0, initial=np.inf), np.float64)


def first_shares(parts: Floats, seed: int = 0) -> Floats:
    """Return the share [m] of all weightings in which each of m models is first, from `parts` [k, m], 1 the best.

    The weightings are DRAWS uniform ones of the simplex wᵢ ≥ 0, Σw = 1 (Dirichlet's distribution with all parameters
    1). Models that are equal share a first place. Source: Lahdelma, Hokkanen & Salminen, European Journal of
    Operational Research 106:137, 1998 (the rank acceptability index of SMAA).

    >>> first_shares(np.array([[1.0, 0.0], [0.0, 1.0]])).round(1).tolist()
    [0.5, 0.5]
    """
    sums = np.random.default_rng(seed).dirichlet(np.ones(len(parts)), DRAWS) @ parts
    first = sums >= sums.max(axis=1, keepdims=True) - EQUAL
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0), np.float64)


def turning_point(parts: Floats, weights: Floats) -> WeightTurn | None:
    """Return the least change of one of the `weights` [k] (sum 1) after which another model has the largest sum.

    parts: [k, m]. The other weights keep their ratios and the sum stays 1, so that a model's sum is x·part + (1 − x) ·
    its mean over the other parts, x being the weight. None where no change of a single weight does it: another model
    must be better in that part and worse in the rest, or the reverse.

    >>> turning_point(np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([0.6, 0.4]))
    WeightTurn(part=0, weight=0.3333333333333333, model=1)
    """
    sums = weights @ parts
    leader = highest_place(sums)
    found: list[
        tuple[float, float, WeightTurn]
    ] = []  # by the change; of equal ones, as of two weights, the heavier one's
    for part, weight in enumerate(weights.tolist()):
        if weight >= 1:
            continue
        rest = (sums - weight * parts[part]) / (1 - weight)
        ahead, behind = parts[part, leader] - parts[part], rest[leader] - rest
        for model in np.flatnonzero(ahead * behind < -(EQUAL**2)).tolist():
            at = float(behind[model] / (behind[model] - ahead[model]))
            found.append((round(abs(at - weight), 9), -weight, WeightTurn(part, at, model)))
    return min(found)[2] if found else None
