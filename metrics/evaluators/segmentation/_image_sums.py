"""Numbers of sums over images: the sums of resampled data sets, and intervals that take enough images."""

import math

import numpy as np

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Suite
from metrics.evaluators._half_samples import Spread, image_weights

LEAST_IMAGES = 10
FEW_IMAGES = (
    f"No 95 % interval: fewer than {LEAST_IMAGES} images, or groups of images, have such pixels, and no interval is "
    "reliable with so few."
)
IMAGES_AT_ONCE = 1_024  # images whose resampled sums are made at a time


def resample_sums(suite: Suite, counts: Int32s | Floats, resamples: int, seed: int) -> tuple[Floats, int]:
    """Return the sums of `counts` [I, …] over the suite's images, each times its weight, and over their half-samples.

    The result is [1 + B, …], and how many clusters of images are drawn.
    """
    design = SamplingDesign.of(suite.cases)
    clusters = design.units.astype(np.int32)
    weights = image_weights(clusters, resamples, seed)
    if design.weights is not None:
        counts = counts * design.weights.reshape(-1, *(1 for _ in counts.shape[1:]))
    images = counts.reshape(len(counts), math.prod(counts.shape[1:]))
    sums = np.zeros((len(weights), images.shape[1]))
    for start in range(0, len(images), IMAGES_AT_ONCE):
        here = slice(start, start + IMAGES_AT_ONCE)
        sums += weights[:, here].astype(np.float64) @ images[here].astype(np.float64)
    return sums.reshape(len(weights), *counts.shape[1:]), int(clusters.max(initial=-1)) + 1


def image_spread(estimates: Floats, clusters: Ints) -> Spread:
    """Return the intervals of numbers that rest on this many images, or groups of images."""
    return Spread.of(estimates, math.inf, clusters, enough=clusters >= LEAST_IMAGES, few=FEW_IMAGES)
