"""Numbers of sums over images: the sums of resampled data sets, and intervals that take enough images."""

import math

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.evaluators._half_samples import Spread

LEAST_IMAGES = 10
FEW_IMAGES = (
    f"No 95 % interval: fewer than {LEAST_IMAGES} images, or groups of images, have such pixels, and no interval is "
    "reliable with so few."
)
AT_ONCE = 1_024  # images whose resampled sums are made at a time


def resampled_sums(counts: Int32s | Floats, weights: Bytes) -> Floats:
    """Return the sums of `counts` [I, …] over the data sets with these `weights` [1 + B, I]: [1 + B, …]."""
    images = counts.reshape(len(counts), math.prod(counts.shape[1:]))
    sums = np.zeros((len(weights), images.shape[1]))
    for start in range(0, len(images), AT_ONCE):
        here = slice(start, start + AT_ONCE)
        sums += weights[:, here].astype(np.float64) @ images[here].astype(np.float64)
    return sums.reshape(len(weights), *counts.shape[1:])


def image_spread(estimates: Floats, clusters: Ints) -> Spread:
    """Return the intervals of numbers that rest on this many images, or groups of images."""
    return Spread.of(estimates, math.inf, clusters, enough=clusters >= LEAST_IMAGES, few=FEW_IMAGES)
