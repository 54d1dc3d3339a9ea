"""Errors of predicted numbers in a data set and its resamples: means, squares and R²."""

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import ratio


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


def r2_error(truth: Floats, residual: Floats, draws: Draws) -> float:
    """Return the standard error of log(1 − R²) by the jackknife of the units of `draws`; NaN where it has none.

    √((m − 1)/m · Σ (gᵢ − mean g)²) with gᵢ the value without the i-th of m units: of few or unequal units it is wider
    than the spread of resamples. Source: Efron & Tibshirani 1993, ch. 11.
    """
    if len(truth) < 2:
        return float("nan")
    weights = np.ones(len(truth)) if draws.weights is None else draws.weights
    apart = truth - np.average(truth, weights=weights)
    parts = [np.bincount(draws.unit, weights * terms) for terms in (np.ones(len(truth)), apart, apart**2, residual**2)]
    mass, first, second, squared = (part.sum() - part[parts[0] > 0] for part in parts)
    spread = second - ratio(first**2, mass)
    known = (spread > 0) & (squared > 0)
    if len(known) < 2 or not known.all():
        return float("nan")
    without = np.log(squared) - np.log(spread)
    return float(np.sqrt((len(without) - 1) * np.var(without)))
