"""Percentile bootstrap of many means at once, with the same resamples for all of them."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
RESAMPLES = 1_000
MANY = 5_000  # clusters; beyond, the normal approximation differs by less than the resampling noise
Z95 = 1.959963984540054


def bootstrap_means(
    values: FloatArray,
    weights: FloatArray | None = None,
    clusters: NDArray[np.int64] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[FloatArray, FloatArray]:
    """95 % intervals of the column means of `values`, by resampling clusters of rows with replacement.

    values: [n, m], NaN where a column lacks a row (the mean is over what it has); weights: [n], default 1; clusters:
    [n] codes 0 … c−1, default every row its own. Returns (low, high), each [m]; NaN where a column has fewer than two
    clusters. More than MANY clusters: the linearised (sandwich) standard error times 1.96, clusters as units.
    Source: Efron & Tibshirani 1993, ch. 13; Cameron, Gelbach & Miller 2008 for clusters.
    """
    present = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    masses = present * weight[:, None]
    sums = np.where(present, values, 0.0) * weight[:, None]
    if clusters is not None:
        count = int(clusters.max(initial=-1)) + 1
        sums, masses = _by_cluster(sums, clusters, count), _by_cluster(masses, clusters, count)
    n = len(sums)
    enough = (masses > 0).sum(axis=0) >= 2
    low, high = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    if not enough.any():
        return low, high
    sums, masses = sums[:, enough], masses[:, enough]
    if n > MANY:
        total = masses.sum(axis=0)
        mean = sums.sum(axis=0) / total
        residuals = sums - mean * masses
        error = np.sqrt(n / (n - 1) * (residuals**2).sum(axis=0)) / total
        low[enough], high[enough] = mean - Z95 * error, mean + Z95 * error
        return low, high
    draws = _draws(n, resamples, seed)
    with np.errstate(invalid="ignore", divide="ignore"):  # a resample may miss every row of a sparse column
        means = (draws @ sums) / (draws @ masses)
    low[enough], high[enough] = np.nanquantile(means, [0.025, 0.975], axis=0)
    return low, high


def _by_cluster(rows: FloatArray, clusters: NDArray[np.int64], count: int) -> FloatArray:
    return np.stack([np.bincount(clusters, column, count) for column in rows.T], axis=1)


@lru_cache(maxsize=4)
def _draws(n: int, resamples: int, seed: int) -> FloatArray:
    """How often each of n units is drawn in each resample: [resamples, n], rows sum to n."""
    picks = np.random.default_rng([seed, n]).integers(0, n, size=(resamples, n))
    draws = np.empty((resamples, n))
    for place, row in enumerate(picks):  # one by one: its counts stay in the processor's cache
        draws[place] = np.bincount(row, minlength=n)
    return draws
