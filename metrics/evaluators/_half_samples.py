"""Numbers of a whole data set with the intervals that half-samples of its images give; detection and segmentation."""

import math
from math import isnan
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.core.evaluator import Aggregate, Columns
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Suite
from metrics.stats.bootstrap import draw_halves
from metrics.stats.resample_intervals import BIAS, LEAST_TRUTHS, resample_interval

METHOD = "half-samples"
ONE_CLUSTER = "No 95 % interval: it needs at least two images, or two groups of images."
FEW_TRUTHS = (
    f"No 95 % interval: there are fewer than {LEAST_TRUTHS:g} ground truths per label (harmonic mean), and no interval "
    "of a mean AP is reliable with so few."
)

NO_TRUTH = "no ground truth of this label counts: there is none, or only crowds or objects outside the area range"
NO_TRUTHS = "no ground truth counts: there is none, or only crowds or objects outside the area range"

Resamples = Annotated[
    int, Field(ge=0, le=10_000, description="Half-samples of the images for the 95 % intervals; 0: no intervals.")
]
Seed = Annotated[int, Field(ge=0, description="Seed of the half-samples.")]


class Drawn(NamedTuple):
    """How many clusters of images there are to draw from, and how many images."""

    clusters: int
    images: int

    @classmethod
    def of(cls, clusters: Int32s) -> "Drawn":
        """Return the numbers of clusters, codes [I] of 0 … C − 1, and of images."""
        return cls(int(clusters.max(initial=-1)) + 1, len(clusters))


class Spread(NamedTuple):
    """Numbers of any shape with their 95 % intervals, NaN where there is none, and their values in each half-sample.

    `without` says why a number has no interval; None where none were asked for.
    """

    value: Floats
    low: Floats
    high: Floats
    samples: Floats
    without: str | None = None

    @classmethod
    def of(
        cls,
        estimates: Floats,
        objects: ArrayLike,
        drawn: ArrayLike | Drawn,
        *,
        enough: ArrayLike = True,
        few: str = FEW_TRUTHS,
        bias: float = BIAS,
    ) -> "Spread":
        """Return the intervals of estimates [1 + B, …]: of the data set itself, then of its half-samples.

        objects, bias: as resample_interval has them; drawn: its clusters, where they are Drawn those of all images,
        whose objects count as far as images are independent. Where not `enough`, for the reason `few`, there are none.
        """
        clusters = drawn.clusters if isinstance(drawn, Drawn) else drawn
        if isinstance(drawn, Drawn) and drawn.clusters < drawn.images:
            objects = np.asarray(objects) * drawn.clusters / drawn.images
        value, samples = estimates[0], estimates[1:]
        if not len(samples):
            nothing = np.full(np.shape(value), np.nan)
            return cls(value, nothing, nothing, samples, ONE_CLUSTER if np.max(clusters, initial=0) < 2 else None)
        low, high = resample_interval(value, samples, objects, clusters, bias=bias)
        return cls(value, np.where(enough, low, np.nan), np.where(enough, high, np.nan), samples, few)

    @classmethod
    def of_none(cls, value: Floats) -> "Spread":
        """Return numbers that have no interval by their nature."""
        nothing = np.full(np.shape(value), np.nan)
        return cls(value, nothing, nothing, np.zeros((0, *np.shape(value))))


def image_weights(clusters: Int32s, resamples: int, seed: int) -> Bytes:
    """Return how often each image occurs [1 + B, I]: once in the data set itself, then in each half-sample.

    clusters [I]: codes of images that are drawn together. A single cluster has no half-samples: it says nothing about
    the next.
    """
    count = resamples if clusters.max(initial=-1) > 0 else 0
    return np.concatenate([np.ones((1, len(clusters)), np.uint8), draw_halves(clusters, count, seed)])


def number(
    metric: str,
    spread: Spread,
    place: tuple[int, ...] = (),
    *,
    n: int,
    label: str | None = None,
    columns: Columns | None = None,
    why: str | None = None,
) -> Aggregate:
    """Return the aggregate at `place` of `spread`; NaN becomes no value, because of `why` or missing ground truth."""
    value = float(spread.value[place])
    if isnan(value):
        without = why or (NO_TRUTHS if label is None else NO_TRUTH)
        return Aggregate(metric, None, n=n, label=label, reason=without, columns=columns or {})
    in_each: tuple[slice | int, ...] = (slice(None), *place)
    samples = spread.samples[in_each] if len(spread.samples) else None
    low, high = (None if isnan(edge[place]) else float(edge[place]) for edge in (spread.low, spread.high))
    reason, method = (spread.without, None) if low is None else (None, METHOD)
    return Aggregate(metric, value, low, high, n, 0, label, reason, columns or {}, method, samples)


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
