"""Errors of predicted numbers in a data set and its resamples: means, squares and R²."""

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.bootstrap_draws import Draws
from metrics.stats.ratios import ratio


def resampled_means(terms: Floats, draws: Draws) -> Floats:
    """Return the mean of each column of `terms` [n, k] in the data set and its resamples: [1 + B, k].

    NaN where a resample is empty.
    """
    n, k = terms.shape
    if n and len(draws.times) == 1 and draws.weights is None:
        return np.asarray(terms.mean(axis=0)[None])
    size = np.abs(terms).max(axis=0, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    drawn = draws.sums(np.tile(np.arange(k), n), k, (terms / size).ravel(), np.repeat(np.arange(n), k))
    means: Floats = ratio(drawn, np.broadcast_to(draws.sums(np.zeros(n, np.int64), 1), drawn.shape)) * size
    if n and draws.weights is None:
        means[0] = terms.mean(axis=0)
    return means


def resampled_r2(truth: Floats, residual: Floats, draws: Draws) -> Floats:
    """Return R² = 1 − Σ residual² / Σ (truth − mean truth)² in the data set and its resamples: [1 + B].

    At most 1, 0 for a model that always predicts the mean, without a lower bound. NaN where the truths are all equal.
    """
    same = len(truth) < 2 or (truth == truth[0]).all()
    if same:
        return np.full(len(draws.times), np.nan)
    apart = truth - truth.mean()
    size = max(float(np.abs(apart).max()), np.finfo(np.float64).tiny)
    apart, residual = apart / size, residual / size
    squared, mean, spread = resampled_means(np.stack([residual**2, apart, apart**2]).T, draws).T
    return 1 - ratio(squared, np.where(spread - mean**2 > 1e-6 * spread, spread - mean**2, 0.0))
