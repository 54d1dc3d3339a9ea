"""Many models on the same cases: every pair tested on the cases of both, and the ranks that the tests leave open."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.stats.paired_tests import holm
from metrics.stats.student_t import student_p

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST = 1_000  # pairs tested; all pairs of many models grow with their square
EQUAL = 1e-12  # means that are equal on paper differ in their last bits
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Pairs:
    """P tested pairs of models: `better` and `worse` [P] are their columns, the better mean first.

    difference [P] ≥ 0 of the means over the `cases` [P] of both; error [P] its standard error; units [P]: the
    independent units it rests on (clusters, or cases); adjusted [P]: p of no difference, by Holm over all pairs.
    """

    better: Ints
    worse: Ints
    difference: Floats
    error: Floats
    cases: Ints
    units: Ints
    adjusted: Floats


def pairwise(values: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> Pairs:
    """Test the columns of `values` [n, m] pair by pair on the rows that both have: NaN is no value, more is better.

    p is Student's t of the mean difference with units − 1 degrees of freedom, and never below 2^(1 − k) for k units
    that differ: what flipping their signs could reach at best. Of more than 32 columns only the first MOST // m by mean
    are tested against all others, the rest not among themselves; Holm counts those pairs too.
    weights: [n]; clusters: [n] codes.
    """
    m = values.shape[1]
    order = best_first(values, weights)
    present = ~np.isnan(values[:, order])
    mass = present if weights is None else present * weights[:, None]
    held = np.where(present, values[:, order], 0.0)
    columns = _Columns(held, mass.astype(np.float64), present, clusters)
    found = [columns.against(leader) for leader in range(min(m - 1, max(1, MOST // max(m, 1))))]
    if not found:
        nothing, none = np.zeros(0), np.zeros(0, np.int64)
        return Pairs(none, none, nothing, nothing, none, none, nothing)
    difference, error, cases, units, p = (np.concatenate(parts) for parts in zip(*found, strict=True))
    first = np.concatenate([np.full(m - 1 - leader, order[leader]) for leader in range(len(found))])
    second = np.concatenate([order[leader + 1 :] for leader in range(len(found))])
    untested = m * (m - 1) // 2 - len(p)
    adjusted = holm(np.concatenate([p, np.ones(untested)]))[: len(p)]
    turned = difference < 0  # on the cases of both the worse mean may be the better one
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    return Pairs(first, second, np.abs(difference), error, cases, units, adjusted)


def best_first(values: Floats, weights: Floats | None = None) -> Ints:
    """Return the columns of `values` [n, m] by falling mean; those without any value last."""
    present = ~np.isnan(values)
    mass = present if weights is None else present * weights[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (np.where(present, values, 0.0) * mass).sum(axis=0) / mass.sum(axis=0)
    order: Ints = np.argsort(-means, kind="stable")  # NaN last
    return order


class _Columns:
    """Values [n, m] of models, best first, 0 where there is none, with their masses, in the order of their clusters."""

    def __init__(self, values: Floats, mass: Floats, present: NDArray[np.bool_], clusters: Ints | None):
        if clusters is not None:
            by_cluster = np.argsort(clusters, kind="stable")
            values, mass, present = values[by_cluster], mass[by_cluster], present[by_cluster]
            clusters = clusters[by_cluster]
        self.values, self.mass, self.present, self.clusters = values, mass, present, clusters
        self.sums = values * mass

    def against(self, leader: int) -> tuple[Floats, Floats, Ints, Ints, Floats]:
        """Return the column against each after it: mean difference, standard error, cases, units and p.

        The error is √(c / (c − 1)·Σ r²) / Σ w, with r the sum over a unit of w·(d − mean).
        """
        own = self.present[:, leader]
        rows: slice | NDArray[np.bool_] = slice(None) if own.all() else own
        later = slice(leader + 1, None)
        masses = self.mass[rows, later]
        sums = self.values[rows, leader, None] * masses - self.sums[rows, later]
        cases = np.count_nonzero(self.present[rows, later], axis=0)
        if self.clusters is not None and len(sums):
            starts = np.flatnonzero(np.diff(self.clusters[rows], prepend=-1))
            sums, masses = np.add.reduceat(sums, starts), np.add.reduceat(masses, starts)
        units, active = np.count_nonzero(masses, axis=0), np.count_nonzero(np.abs(sums) > EQUAL, axis=0)
        total = masses.sum(axis=0)
        mean = np.divide(sums.sum(axis=0), total, out=np.zeros(len(total)), where=total > 0)
        residuals = sums - mean * masses
        squares = np.einsum("nm,nm->m", residuals, residuals)
        known = units > 1
        error = np.full(len(mean), np.nan)
        error[known] = np.sqrt(units[known] / (units[known] - 1) * squares[known]) / total[known]
        tested = known & (np.abs(mean) > EQUAL)
        ratio = np.divide(np.abs(mean), error, out=np.full(len(mean), np.inf), where=tested & (error > EQUAL))
        p = np.ones(len(mean))
        flips = 2.0 ** (1.0 - np.minimum(active, 1_000))
        p[tested] = np.maximum(student_p(ratio[tested], units[tested] - 1), flips[tested])
        return mean, error, cases, units, p


def rank_bounds(pairs: Pairs, m: int) -> tuple[Ints, Ints]:
    """Return the best and the worst rank [m] that each of m models may truly have, 1 the best: all hold at once in 95
    %.

    1 + how many models are better than it beyond chance, and m − how many it is better than. Models that cannot be told
    apart from the same better ones share the best rank.
    Source: Mogstad, Romano, Shaikh & Wilhelm, Review of Economic Studies 91:476, 2024.
    """
    sure = pairs.adjusted <= LEVEL
    best = 1 + np.bincount(pairs.worse[sure], minlength=m)
    worst = m - np.bincount(pairs.better[sure], minlength=m)
    return best.astype(np.int64), worst.astype(np.int64)
