"""95 % intervals of numbers of a whole data set from its resamples: half-samples of images, draws of cases."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.float_tolerance import mean_over, root
from metrics.stats.student_t import student

BIAS = 2.0  # bias of the value / (mean of its half-samples − value), where bias falls as n^-0.58
DOUBT = 0.5  # variance of BIAS: on small data it was 1.3 to 2.7
FEW_LABELS = 5  # labels over whose mean the bias of AP stays within what images vary by
LEAST_TRUTHS = 6.0  # ground truths a label, harmonic mean, below which a mean AP over more labels has no interval


def resample_interval(
    value: Floats, samples: Floats, objects: ArrayLike, clusters: ArrayLike, *, bias: float = BIAS
) -> tuple[Floats, Floats]:
    """Return the 95 % interval of `value` […] within 0 … 1 from its `samples` [B, …]; NaN for none.

    Args:
        objects: how many objects each value rests on, at least 1; inf for a value that is not a share of objects.
        clusters: how many clusters of images, or units of cases of one size, each value rests on. NaN samples are left
            out.
        bias: BIAS for half-samples (`draw_halves`); 0 for resamples with replacement of numbers that are hardly biased.

    With v the value, m and s² mean and variance of its samples, and q(p) = p·(1 − p):

        c = v − bias·(m − v), within 0 … 1: AP is biased upwards on few images, more so on half of them
        σ² = s² + DOUBT·(m − v)²: half-samples vary about their mean as much as the value about the truth
        φ = σ² / max(q(c), q(v))
        w = e / (e + 1) with e = objects·q(v): how far φ is known; with all found, or none, samples do not vary at all
        φ' = w·φ + (1 − w)·max(φ, 1/objects): else the variance of a share of as many objects, as Wilson's interval

    The ends solve (c − p)² = t²·φ'·q(p), with t the 97.5 % point of Student's t with min(objects, clusters) − 1 degrees
    of freedom; the value lies within.

    Resamples with replacement show half of that bias: basic bootstrap intervals held 84 % of true mAPs of 20 labels.
    Measured coverage: `python -m tests.benchmarks.bench_coverage detection`. Sources: Politis, Romano & Wolf,
    Subsampling, 1999; Wilson 1927.
    """
    objects, clusters = np.asarray(objects, np.float64), np.asarray(clusters, np.float64)
    mean = mean_over(samples, 0)
    squared = mean_over((samples - mean) ** 2, 0) + DOUBT * (mean - value) ** 2
    corrected = np.clip(value - bias * (mean - value), 0.0, 1.0)
    own = value * (1 - value)
    scale = np.maximum(corrected * (1 - corrected), own)
    phi = squared / np.maximum(scale, np.maximum(squared, np.finfo(np.float64).tiny))
    least = 1 / np.maximum(objects, 1)
    phi = phi + least / np.maximum(own + least, np.finfo(np.float64).tiny) * np.maximum(least - phi, 0.0)
    k = phi * _student(np.minimum(np.floor(objects), clusters)) ** 2
    reach = root(k * k + 4 * k * corrected * (1 - corrected))
    low, high = ((2 * corrected + k + sign * reach) / (2 * (1 + k)) for sign in (-1.0, 1.0))
    return np.minimum(np.maximum(low, 0.0), value), np.maximum(np.minimum(high, 1.0), value)


def has_enough_truths(truths: Ints | Floats, least: float = LEAST_TRUTHS, few: int = FEW_LABELS) -> bool:
    """Return whether the mean over labels of AP has a reliable interval, from the ground truths [K] of each label.

    The bias of a label's AP falls with its ground truths, and a mean over many labels keeps all of the bias and little
    of the variance: with 5 ground truths for each of 80 labels, intervals of any kind held 50 to 88 %. So more than
    `few` labels with ground truth need `least` of them each, by the harmonic mean.
    """
    present = truths[truths > 0]
    return len(present) <= few or len(present) / float((1 / present).sum()) >= least


def _student(size: Floats) -> Floats:
    """Return the 97.5 % point of Student's t for this number of observations, at least two."""
    sizes, place = np.unique(size, return_inverse=True)
    points = [student(min(max(one, 2.0), 1e6) - 1) for one in sizes.tolist()]
    return np.array(points)[place].reshape(size.shape)


Scale = Literal["below one", "correlation"]
SCALES: dict[Scale, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {  # forward and back
    "below one": (lambda values: np.log1p(-values), lambda found: -np.expm1(found)),
    "correlation": (np.arctanh, np.tanh),
}


def scaled_interval(
    value: float, samples: Floats, units: float, scale: Scale, least_error: float = 0.0
) -> tuple[float, float] | None:
    """Return the 95 % interval of `value` from its `samples` [B], on the scale on which such numbers vary evenly.

    With g(v) = log(1 − v) for numbers that are at most 1, such as R², or atanh v for correlations, s the standard
    deviation of g over the samples, at least `least_error` (NaN: none), and t the 97.5 % point of Student's t with
    units − 1 degrees of freedom, the ends are those v where g(v) = g(value) ± t·s. None where all samples are the same,
    or one has no g, or there are none.
    """
    known = samples[~np.isnan(samples)]
    if not len(known) or float(np.ptp(known)) <= NEAR * float(np.abs(known).max()):
        return None
    forward, back = SCALES[scale]
    least, most = min(value, float(known.min())), max(value, float(known.max()))
    if most >= 1 - EQUAL or (scale == "correlation" and least <= EQUAL - 1):
        return None
    reach = student(max(units, 2.0) - 1) * float(np.fmax(np.std(forward(known)), least_error))
    centre = float(forward(np.array(value)))
    ends = sorted(float(back(np.array(centre + sign * reach))) for sign in (-1.0, 1.0))
    return min(ends[0], value), max(ends[1], value)
