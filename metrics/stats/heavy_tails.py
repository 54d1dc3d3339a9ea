"""Whether a mean's interval can say how far up, or down, the mean may lie where values have no end."""

import math

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import NEAR
from metrics.stats.cluster_variance import cluster_sums

PER_SKEWNESS = 15.0  # units that it takes for each squared skewness of theirs, beyond FIXED
FIXED = 4.0
MOST_OF_VARIANCE = 0.5  # of one unit, from which on it is named as the reason


def unknown_ends(residuals: Floats, units: Ints) -> tuple[Bools, Bools]:
    """Return of which columns [m] the low and the high end of a mean's interval cannot be known in an open range.

    residuals: [c, m], of each unit the sum of weight·(value − mean), 0 where it has none; units: [m] that have one.

    An end is unknown on the side of the longer tail where there are fewer than FIXED + PER_SKEWNESS·g² units, g being
    the skewness of the residuals, √c·Σr³ / (Σr²)^1.5: a few units then make the variance, and as far as they go the
    next may go farther. One unit that makes nearly all of the variance has g² = c. After Cochran's rule (25·g²;
    Sampling Techniques, 1977, ch. 2.15); the studentised bootstrap takes less. Measured:
    `python -m tests.benchmarks.bench_small_samples tails`.
    """
    size = np.abs(residuals).max(axis=0, initial=0.0)
    scaled = residuals / np.where(size > 0, size, 1.0)
    squares, cubes = (scaled**2).sum(axis=0), (scaled**3).sum(axis=0)
    squared = units * cubes**2 / np.where(squares > 0, squares, 1.0) ** 3
    few = (units < FIXED + PER_SKEWNESS * squared) & (squared > NEAR)
    return few & (cubes < 0), few & (cubes > 0)


def describe_unknown_end(
    values: Floats, weights: Floats | None = None, clusters: Ints | None = None, upper: bool = True
) -> str:
    """Return why the interval of the mean of `values` [n] has no upper (or lower) end, see `unknown_ends`.

    NaN is no value; weights: [n]; clusters: [n] codes.

    >>> describe_unknown_end(np.array([1.0, 2.0, 1.0, 2.0, 50.0]))
    'no upper end: one case makes 80 % of the variance'
    """
    known = np.flatnonzero(~np.isnan(values))
    mass = np.ones(len(known)) if weights is None else weights[known]
    apart = (values[known] - np.average(values[known], weights=mass)) * mass
    rows = np.stack([apart, mass], axis=1)
    residuals, masses = (rows if clusters is None else cluster_sums(rows, clusters[known])).T
    squares = residuals**2 / max(float((residuals**2).sum()), np.finfo(np.float64).tiny)
    units, what = np.count_nonzero(masses), "case" if clusters is None else "group"
    side = "upper" if upper else "lower"
    if squares.max(initial=0.0) >= MOST_OF_VARIANCE:
        return f"no {side} end: one {what} makes {100 * squares.max():.0f} % of the variance"
    skewness = math.sqrt(units) * abs(float((np.sign(residuals) * squares**1.5).sum()))
    needed = math.ceil(FIXED + PER_SKEWNESS * skewness**2)
    return f"no {side} end: a skewness of {skewness:.1f} takes {needed:,} {what}s, not {units:,}"
