"""Bootstrap intervals of many means at once, with the same resamples for all of them."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints, Singles
from metrics.core.rounding import EQUAL
from metrics.stats.cluster_variance import cluster_sums, cluster_variance
from metrics.stats.float_tolerance import root
from metrics.stats.heavy_tails import unknown_ends
from metrics.stats.student_t import Z95, student

Bound = float | Floats
RESAMPLES = 2_000
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
    freedom; beyond MANY clusters with t. Resamples of equal values have the largest φ of the range, 1 / c. Where all
    values are equal, as many others as Wilson's interval allows where none is seen, 3.84 of c + 3.84, may lie at either
    end. Coverage: `python -m tests.benchmarks.bench_coverage`. Sources: Efron & Tibshirani 1993, ch. 12.5
    (studentised); Wilson 1927; Cameron, Gelbach & Miller 2008 for clusters.
    """
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
        found: Floats = np.maximum(0.0, below * np.where(np.isfinite(self.high), self.high - mean, 1.0))
        return found

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
    found: Floats = (q * slope + sign * root(q * q * slope * slope + 4 * q * level * bend)) / (2 * bend)
    return found


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
