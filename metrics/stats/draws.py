"""Which units each bootstrap resample or half-sample holds; the same codes and seed give the same ones."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
MOST = 255  # times one cluster can be drawn; a count beyond has no measurable probability
DRAWS_AT_ONCE = 1 << 22


def draw_weights(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return how often each image occurs in each resample: [B, I]. Clusters (codes 0 … C−1 by image) are drawn C at a
    time.
    """
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    if not count:
        return weights
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // count)
    for start in range(0, resamples, step):
        drawn = rng.integers(0, count, (min(step, resamples - start), count))
        for place, row in enumerate(drawn, start):  # one by one: its counts stay in the processor's cache
            weights[place] = np.minimum(np.bincount(row, minlength=count), MOST)[clusters]
    return weights


def draw_halves(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return which images each half-sample holds: [B, I] of 0 and 1. Half of the clusters (codes 0 … C−1 by image),
    without replacement; every second half-sample is what the one before leaves.
    """
    count = int(clusters.max(initial=-1)) + 1
    weights = np.zeros((resamples, len(clusters)), np.uint8)
    rng = np.random.default_rng(seed)
    for place in range(0, resamples, 2):
        chosen = np.zeros(count, np.uint8)
        chosen[rng.permutation(count)[: count // 2]] = 1
        weights[place : place + 2] = np.stack([chosen, 1 - chosen])[: resamples - place, clusters]
    return weights
