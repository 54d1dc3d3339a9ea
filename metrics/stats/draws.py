"""Which units each bootstrap resample or half-sample holds, by codes and seed, and counts of what they are."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)
Ints = NDArray[np.integer]
MOST = 255  # times one cluster can be drawn; a count beyond has no measurable probability
DRAWS_AT_ONCE = 1 << 22


def draw_weights(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
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
            weights[place] = np.minimum(np.bincount(row, minlength=count), MOST)[clusters]
    return weights


def draw_halves(clusters: Ints, resamples: int, seed: int = 0) -> NDArray[np.uint8]:
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


def counted(draws: NDArray[Number], codes: NDArray[np.int64], kinds: int) -> NDArray[Number]:
    """Return the sums of `draws` [..., n] over the items of each of `kinds` codes: [..., kinds]. codes: [n]."""
    found = np.zeros((*draws.shape[:-1], kinds), draws.dtype)
    if len(codes):
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        found[..., present] = np.add.reduceat(draws[..., order], starts, axis=-1)
    return found
