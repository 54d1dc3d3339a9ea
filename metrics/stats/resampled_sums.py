"""Bootstrap of sums, from which the resamples of any ratio, gap or mean of sums over cases follow."""

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.bootstrap_draws import draw_weights

FEW = 500  # different rows; drawing how often each comes is cheaper than drawing the rows
MANY = 2_000  # clusters; beyond, sums of rows that all differ are normal to within the noise of resampling
RESAMPLES = 1_000
RIDGE = 1e-12  # of the trace: keeps the covariance of dependent columns positive definite


def resampled_sums(rows: Floats, clusters: Ints, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return the column sums [B, m] of `rows` [n, m] in resamples of the clusters of rows, with replacement.

    clusters: [n] codes 0 … c−1. The columns of one resample belong together. With more than MANY clusters and more than
    FEW different rows the sums come from the normal distribution with the bootstrap's mean and covariance.
    """
    rng = np.random.default_rng(seed)
    count = int(clusters.max(initial=-1)) + 1
    sums = rows if count == len(rows) else cluster_sums(rows, clusters)
    # equal rows have equal keys, and different ones all but surely different keys
    keys = np.einsum("nm,m->n", sums, rng.standard_normal(sums.shape[1]))
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    if len(first) <= FEW:
        drawn: Floats = rng.multinomial(count, times / count, resamples).astype(np.float64) @ sums[first]
    elif count <= MANY:
        drawn = draw_weights(np.arange(count, dtype=np.int32), resamples, seed).astype(np.float64) @ sums
    else:
        total = sums.sum(axis=0)
        centred = sums - total / count
        covariance = centred.T @ centred
        covariance[np.diag_indices_from(covariance)] += RIDGE * np.trace(covariance) + np.finfo(np.float64).tiny
        drawn = total + rng.standard_normal((resamples, len(total))) @ np.linalg.cholesky(covariance).T
    return drawn


def cluster_sums(rows: Floats, clusters: Ints) -> Floats:
    """Return the column sums [c, m] of `rows` [n, m] over each cluster, codes [n] of 0 … c−1."""
    count = int(clusters.max(initial=-1)) + 1
    return np.stack([np.bincount(clusters, column, count) for column in rows.T], axis=1)
