"""Bootstrap resamples and half-samples of units: which they hold, counts of what these are, and resampled sums."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bytes, Floats, Ints, Singles
from metrics.core.sampling_design import cluster_codes
from metrics.stats.bootstrap import Bound, bootstrap_means
from metrics.stats.cluster_variance import cluster_sums, design_freedom
from metrics.stats.heavy_tails import describe_unknown_end

Number = TypeVar("Number", np.int64, np.float64)
Integers = NDArray[np.integer]
MAX_TIMES_DRAWN = 255  # times one cluster can be drawn; a count beyond has no measurable probability
DRAWS_AT_ONCE = 1 << 22
MAX_DRAWN_GROUPS = 2_000  # units of a resample; with as many groups of them intervals and tests are as good
MAX_DISTINCT_ROWS = 500  # different rows; drawing how often each comes is cheaper than drawing the rows
# clusters; beyond, sums of rows that all differ are normal to within the noise of resampling
MAX_EXACT_CLUSTERS = 2_000
RESAMPLES = 1_000
RIDGE = 1e-12  # of the trace: keeps the covariance of dependent columns positive definite


def draw_weights(clusters: Integers, resamples: int, seed: int = 0) -> Bytes:
    """Return how often each image occurs in each resample: [B, I]; clusters (codes 0 … C−1) are drawn C at a time."""
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    if not count:
        return weights
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, resamples, step):
        drawn = rng.integers(0, count, (min(step, resamples - start), count))
        for place, row in enumerate(drawn, start):  # one by one: its counts stay in the processor's cache
            weights[place] = np.minimum(np.bincount(row, minlength=count), MAX_TIMES_DRAWN)[clusters]
    return weights


def draw_halves(clusters: Integers, resamples: int, seed: int = 0) -> Bytes:
    """Return which images each half-sample holds: [B, I] of 0 and 1.

    Half of the clusters (codes 0 … C−1), without replacement; every second half-sample is what the one before leaves.
    """
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    rng = np.random.default_rng(seed)
    for place in range(0, resamples, 2):
        chosen = np.zeros(count, np.uint8)
        chosen[rng.permutation(count)[: count // 2]] = 1
        weights[place : place + 2] = np.stack([chosen, 1 - chosen])[: resamples - place, clusters]
    return weights


def counted(draws: NDArray[Number], codes: Ints, kinds: int) -> NDArray[Number]:
    """Return the sums of `draws` [..., n] over the items of each of `kinds` codes: [..., kinds]. codes: [n]."""
    found = np.zeros((*draws.shape[:-1], kinds), draws.dtype)
    if len(codes):
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        found[..., present] = np.add.reduceat(draws[..., order], starts, axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class Draws:
    """A data set itself and B resamples of its units, the same for every model.

    unit: [n] the unit of each case, 0 … m − 1; times: [1 + B, m] how often each unit is drawn, first once each;
    weights: [n] of the cases, 1 on average over the data set, None where all weigh the same; clusters: [n] codes of the
    cases' groups, None without groups; independence: which share of a count of cases tells something of its own, 1
    without groups and weights, else the data set's units of one size and weight / n.

    A resample holds m − 1 of the m units, with replacement: means then vary by s²/m, with s² the unbiased variance of
    the units.
    Source: Rao & Wu, Journal of the American Statistical Association 83:231, 1988.
    """

    unit: Ints
    times: Singles
    weights: Floats | None = None
    clusters: Ints | None = None
    independence: float = 1.0

    @classmethod
    def of(cls, units: Ints, resamples: int, seed: int = 0, weights: Floats | None = None) -> "Draws":
        """Return the resamples of `units` [n], codes 0 … m − 1; none of one unit. weights: [n], at least 0.

        More than MAX_DRAWN_GROUPS units are first put into so many groups at random, which are drawn: that bounds the
        cost.
        """
        count = int(units.max(initial=-1)) + 1
        clusters = None if count == len(units) else units
        independence = 1.0
        if weights is not None or clusters is not None:
            independence = min(1.0, (1 + design_freedom(units, weights)) / len(units))
        if count > MAX_DRAWN_GROUPS:
            units, count = _groups(count, seed)[units], MAX_DRAWN_GROUPS
        if weights is not None:
            weights = weights / max(float(weights.mean()), np.finfo(np.float64).tiny)
        return cls(units, _times(count, resamples if count > 1 else 0, seed), weights, clusters, independence)

    def of_cases(self, cases: Integers) -> "Draws":
        """Return the same resamples of some of the cases."""
        weights = None if self.weights is None else self.weights[cases]
        clusters = None if self.clusters is None else self.clusters[cases]
        return replace(self, unit=self.unit[cases], weights=weights, clusters=clusters)

    @property
    def single(self) -> bool:
        """Whether every case is a unit of its own, and all weigh the same."""
        return self.weights is None and self.clusters is None

    @cached_property
    def units(self) -> float:
        """How many units of one size and weight the cases are worth, 1 and more; of such units their number."""
        return 1 + design_freedom(self.unit, self.weights)

    @property
    def codes(self) -> Ints | None:
        """The cases' groups as codes 0 … c − 1 of these cases, None without groups."""
        return None if self.clusters is None else cluster_codes(self.clusters)

    def mean_intervals(self, values: Floats, low: Bound = -np.inf, high: Bound = np.inf) -> tuple[Floats, Floats]:
        """Return the 95 % intervals of the weighted means of `values` [n, m], by case or group: bootstrap_means."""
        return bootstrap_means(values, self.weights, self.codes, low=low, high=high)

    def mean_interval(
        self, values: Floats, low: float = -np.inf, high: float = np.inf
    ) -> tuple[tuple[float, float], str | None]:
        """Return the 95 % interval of the weighted mean of `values` [n], without NaN, and why it lacks an end."""
        ends = [float(end[0]) for end in self.mean_intervals(values[:, None], low, high)]
        one_end = np.isnan(ends[0]) != np.isnan(ends[1])
        why = describe_unknown_end(values, self.weights, self.codes, bool(np.isnan(ends[1]))) if one_end else None
        return (ends[0], ends[1]), why

    def sums(self, codes: Integers, k: int, values: Floats | None = None, cases: Integers | None = None) -> Floats:
        """Return how often each of the codes 0 … k − 1 comes in each data set, [1 + B, k]; of `values` their sums.

        codes: one a case, or one for each of `cases`; as often as a case is there, times its weight. values: one a
        code, default 1.
        """
        if self.weights is not None:
            weights = self.weights if cases is None else self.weights[cases]
            values = weights if values is None else values * weights
        if len(self.times) == 1:  # the data set alone: no units are drawn
            return np.bincount(codes, values, k)[None, :k].astype(np.float64)
        unit = self.unit if cases is None else self.unit[cases]
        units = self.times.shape[1]
        cells = np.bincount(unit * k + codes, values, units * k).reshape(units, k)
        if values is None:  # counts, which single precision holds exactly
            return (self.times @ cells.astype(np.float32)).astype(np.float64)
        return np.asarray(self.times.astype(np.float64) @ cells)


@lru_cache(maxsize=4)
def _groups(count: int, seed: int) -> Ints:
    return np.random.default_rng([seed, count]).permutation(count) % MAX_DRAWN_GROUPS


@lru_cache(maxsize=4)
def _times(count: int, resamples: int, seed: int) -> Singles:
    rng = np.random.default_rng([seed, count])
    found = np.ones((1 + resamples, count), np.float32)
    for row in found[1:]:
        row[:] = np.bincount(rng.integers(0, count, count - 1), minlength=count)
    return found


def resampled_sums(rows: Floats, clusters: Ints, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return the column sums [B, m] of `rows` [n, m] in resamples of the clusters of rows, with replacement.

    clusters: [n] codes 0 … c−1. The columns of one resample belong together. With more than MAX_EXACT_CLUSTERS and
    more than FEW different rows the sums come from the normal distribution with the bootstrap's mean and covariance.
    """
    rng = np.random.default_rng(seed)
    count = int(clusters.max(initial=-1)) + 1
    sums = rows if count == len(rows) else cluster_sums(rows, clusters)
    # equal rows have equal keys, and different ones all but surely different keys
    keys = np.einsum("nm,m->n", sums, rng.standard_normal(sums.shape[1]))
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    if len(first) <= MAX_DISTINCT_ROWS:
        drawn: Floats = rng.multinomial(count, times / count, resamples).astype(np.float64) @ sums[first]
    elif count <= MAX_EXACT_CLUSTERS:
        drawn = draw_weights(np.arange(count, dtype=np.int32), resamples, seed).astype(np.float64) @ sums
    else:
        total = sums.sum(axis=0)
        centred = sums - total / count
        covariance = centred.T @ centred
        covariance[np.diag_indices_from(covariance)] += RIDGE * np.trace(covariance) + np.finfo(np.float64).tiny
        drawn = total + rng.standard_normal((resamples, len(total))) @ np.linalg.cholesky(covariance).T
    return drawn
