"""The bootstrap: resamples and half-samples of units, resampled sums, and intervals of many means at once, with the
same resamples for all of them.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Bytes, Floats, Ints, Singles
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import cluster_codes
from metrics.stats.cluster_variance import cluster_sums, cluster_variance, design_freedom
from metrics.stats.float_tolerance import root
from metrics.stats.heavy_tails import describe_unknown_end, unknown_ends
from metrics.stats.student_t import Z95, student

Bound = float | Floats
RESAMPLES = 2_000
LEAST_SPREAD = 0.2  # of the sample's φ: a resample that misses its few low values would have next to none
MANY = 2_000  # clusters; beyond, quantiles of the resampled pivot differ from Student's by less than their noise


def bootstrap_means(
    values: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    low: Bound = -np.inf,
    high: Bound = np.inf,
    withhold: bool = True,
) -> tuple[Floats, Floats]:
    """Return 95 % intervals of the column means of `values`, by resampling clusters of rows with replacement.

    values: [n, m], NaN where a column lacks a row (the mean is over what it has); weights: [n], default 1; clusters:
    [n] codes 0 … c−1, default every row its own; low, high: the range of the values, of all columns or of each [m]. The
    result is (low, high), each [m]; NaN where a column has fewer than two clusters, or equal values in an open range,
    and, with `withhold`, for an end in an open range that the values do not tell: see heavy_tails.unknown_ends.

    The mean's variance is taken to fall towards the ends of the range as φ·v(p): v = (p − low)·(high − p), or the
    distance from the one end there is, or 1. The ends of the interval solve mean − p = T·√(φ·v(p)), as Wilson's do for
    a share, with the 97.5 % and 2.5 % points of T from the resamples, none nearer than Student's t of c − 1 degrees of
    freedom; beyond MANY clusters with t. Resamples of equal values have the largest φ of the range, 1 / c; in a closed
    range no other has less than LEAST_SPREAD of the sample's φ. Without it 27 values near .93 and three near .1 had
    −.45 – .91 in −1 … 1, now .56 – .91; it takes no coverage below 94 % from 30 cases on, and up to 4 points of 10 and
    20 cases. Where all values are equal, as many others as Wilson's interval allows where none is seen, 3.84 of
    c + 3.84, may lie at either end. Coverage: `python -m tests.benchmarks.bench_coverage`. Sources: Efron &
    Tibshirani 1993, ch. 12.5 (studentised); Wilson 1927; Cameron, Gelbach & Miller 2008 for clusters.
    """
    if values.shape[1] > 1:  # each alone: how a product is rounded depends on the columns beside, no number may
        lows, highs = (np.broadcast_to(end, values.shape[1:]).tolist() for end in (low, high))
        alone = [
            bootstrap_means(values[:, [place]], weights, clusters, seed, resamples, ends[0], ends[1], withhold)
            for place, ends in enumerate(zip(lows, highs, strict=True))
        ]
        return np.concatenate([one[0] for one in alone]), np.concatenate([one[1] for one in alone])
    present = ~np.isnan(values)
    plain = weights is None and clusters is None
    if clusters is not None and weights is None and present.all():
        sums = cluster_sums(values, clusters)
        masses = np.repeat(np.bincount(clusters).astype(np.float64)[:, None], values.shape[1], axis=1)
        squares = masses
    else:
        weight = np.ones(len(values)) if weights is None else weights
        masses = present * weight[:, None]
        sums = np.where(present, values, 0.0) * masses
        squares = masses if weights is None else masses**2
        if clusters is not None:
            sums, masses = cluster_sums(sums, clusters), cluster_sums(masses, clusters)
            squares = masses if weights is None else cluster_sums(squares, clusters)
    enough = (masses > 0).sum(axis=0) >= 2
    found = np.full((2, values.shape[1]), np.nan)
    if enough.any():
        ends = (np.broadcast_to(end, enough.shape)[enough] for end in (low, high))
        sums, masses, squares = (each[:, enough] for each in (sums, masses, squares))
        found[:, enough] = _intervals(sums, masses, squares, _Range(*ends), plain, seed, resamples, withhold)
    return found[0], found[1]


class _Range(NamedTuple):
    """The ends of the columns' ranges [m], infinite where open."""

    low: Floats
    high: Floats

    @property
    def closed(self) -> Bools:
        """Return which columns have an interval with both ends, as a mask."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def variance(self, mean: Floats) -> Floats:
        """Return v of means [..., m]."""
        below = np.where(np.isfinite(self.low), mean - self.low, 1.0)
        return np.asarray(np.maximum(0.0, below * np.where(np.isfinite(self.high), self.high - mean, 1.0)))

    def slope(self, mean: Floats) -> Floats:
        """Return dv / dp at the means."""
        rising = np.where(np.isfinite(self.low), np.where(np.isfinite(self.high), self.high - mean, 1.0), 0.0)
        falling = np.where(np.isfinite(self.high), np.where(np.isfinite(self.low), mean - self.low, 1.0), 0.0)
        return rising - falling


def _intervals(
    sums: Floats,
    masses: Floats,
    squares: Floats,
    within: _Range,
    plain: bool,
    seed: int,
    resamples: int,
    withhold: bool,
) -> tuple[Floats, Floats]:
    total, units = masses.sum(axis=0), np.count_nonzero(masses, axis=0)
    mean = sums.sum(axis=0) / total
    residuals = sums - mean * masses
    if plain:
        squared = units / (units - 1) / total**2 * np.einsum("nm,nm->m", residuals, residuals)
        freedom = units - 1.0
    else:
        squared, freedom = cluster_variance(residuals, masses, squares)
    effective = freedom + 1
    level = within.variance(mean)
    varies = (root(squared) > EQUAL * np.maximum(1.0, np.abs(mean))) & (level > 0)
    largest = np.where(within.closed, 1.0 / effective, np.nan)
    phi = np.divide(squared, level, out=largest.copy(), where=varies)
    t = np.array([student(own) for own in freedom.tolist()])
    upper = lower = t
    if len(sums) <= MANY:
        pivot = _pivots(mean, residuals, masses, within, phi, largest, plain, _draws(len(sums), resamples, seed))
        below, above = np.quantile(pivot, [0.025, 0.975], axis=0)
        lower, upper = np.where(varies, np.maximum(t, above), t), np.where(varies, np.maximum(t, -below), t)
    low, high = (
        np.clip(mean + _distance(q * q * phi, level, within, mean, sign), within.low, within.high)
        for q, sign in ((lower, -1.0), (upper, 1.0))
    )
    unseen = Z95 * Z95 / (effective + Z95 * Z95)
    with np.errstate(invalid="ignore"):  # an open range has no end to go to
        least, most = (mean + unseen * (end - mean) for end in within)
    equal = ~varies & within.closed
    if withhold:
        no_low, no_high = unknown_ends(residuals, units)
        low = np.where(no_low & np.isinf(within.low), np.nan, low)
        high = np.where(no_high & np.isinf(within.high), np.nan, high)
    return np.where(equal, least, low), np.where(equal, most, high)


def _distance(q: Floats, level: Floats, within: _Range, mean: Floats, sign: float) -> Floats:
    """Return the d = p − mean of that sign with d² = q·v(mean + d)."""
    slope, bend = within.slope(mean), 1.0 + np.where(within.closed, q, 0.0)
    return (q * slope + sign * root(q * q * slope * slope + 4 * q * level * bend)) / (2 * bend)


def _pivots(
    mean: Floats,
    residuals: Floats,
    masses: Floats,
    within: _Range,
    phi: Floats,
    largest: Floats,
    plain: bool,
    draws: Singles,
) -> Floats:
    """Return T of every resample [B, m]: the distance of its mean from the mean, in its own standard errors."""
    times = draws.astype(np.float64)  # in single precision the ends would depend on the processor in the seventh digit
    whole = plain and bool(masses.all())
    drawn = np.float64(len(masses)) if whole else times @ masses
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may miss every row of a sparse column
        first = times @ residuals
        apart = first / drawn
        own_mass = drawn if plain else times @ (masses * masses)
        cross = first if plain else times @ (residuals * masses)
        square = times @ (residuals * residuals) - 2 * apart * cross + apart * apart * own_mass
        units = np.count_nonzero(masses, axis=0)
        squared = np.maximum(0.0, square) * (units / (units - 1)) / drawn**2
        there = within.variance(mean + apart)
        own = squared / there
        known = np.where(np.isnan(largest), phi, largest)
        own = np.maximum(own, np.where(within.closed, LEAST_SPREAD * phi, 0.0))
        own = np.where((squared > 1e-6 * phi * within.variance(mean)) & (there > 0), own, known)
        pivot = apart / np.sqrt(own * within.variance(mean))
    return np.nan_to_num(pivot, nan=0.0)


@lru_cache(maxsize=4)
def _draws(n: int, resamples: int, seed: int) -> Singles:
    """Return how often each of n units is drawn in each resample: [resamples, n], rows sum to n."""
    generator = np.random.default_rng([seed, n])
    found = np.empty((resamples, n), np.float32)
    for row in found:
        row[:] = np.bincount(generator.integers(0, n, n), minlength=n)
    return found


Number = TypeVar("Number", np.int64, np.float64)
Integers = NDArray[np.integer]
MAX_TIMES_DRAWN = 255  # times one cluster can be drawn; a count beyond has no measurable probability
DRAWS_AT_ONCE = 1 << 22
MAX_DRAWN_GROUPS = 2_000  # units of a resample; with as many groups of them intervals and tests are as good
MAX_DISTINCT_ROWS = 500  # different rows; drawing how often each comes is cheaper than drawing the rows
# clusters; beyond, sums of rows that all differ are normal to within the noise of resampling
MAX_EXACT_CLUSTERS = 2_000
SUM_RESAMPLES = 1_000
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


def resampled_sums(rows: Floats, clusters: Ints, seed: int = 0, resamples: int = SUM_RESAMPLES) -> Floats:
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
