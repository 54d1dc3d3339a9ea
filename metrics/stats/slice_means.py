"""Means of slices with intervals, and how far they lie from the mean of the rest."""

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.intervals import mean_intervals, wilson
from metrics.stats.ratios import ratio
from metrics.stats.student_t import student

AT_ONCE = 16  # slices
CELLS = 1 << 22  # slices × cases, at most


def slice_means(
    values: Floats,
    masks: Bools,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    binary: bool = False,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[Floats, str]:
    """Return mean, low and high of `values` [n] over each of `masks` [m, n], [m, 3], NaN where there is none; and the
    method of the 95 % intervals, see mean_intervals.

    binary: the values are single answers, right or wrong; within: the range of the values.
    """
    found, method = np.full((len(masks), 3), np.nan), ""
    step = max(1, min(AT_ONCE, CELLS // max(1, len(values))))
    for start in range(0, len(masks), step):
        part = slice(start, start + step)
        table = np.where(masks[part].T, values[:, None], np.nan)
        mass = np.where(masks[part].T, 1.0 if weights is None else weights[:, None], 0.0)
        total = mass.sum(axis=0)
        found[part, 0] = ratio(np.einsum("nm,n->m", mass, values), total)
        found[part, 1], found[part, 2], method = mean_intervals(
            table, weights, clusters, low=within[0], high=within[1], shares=binary
        )
    return found, method


def rest_differences(
    values: Floats, masks: Bools, weights: Floats | None = None, clusters: Ints | None = None, binary: bool = False
) -> Floats:
    """Return the mean of each of `masks` [m, n] less that of the rest, with low and high of its 95 % interval: [m, 3].

    binary: Newcombe's hybrid of the two Wilson intervals (Statistics in Medicine 17:873, 1998, method 10). Else d ± t·e
    with e² = c / (c − 1)·Σ u², u the sum over a cluster of w·(x − its side's mean) / its side's weight, + in the slice
    and − in the rest, and Student's t of the c clusters. NaN where either side is empty.
    """
    found = np.full((len(masks), 3), np.nan)
    mass = np.ones(len(values)) if weights is None else weights
    for place, mask in enumerate(masks):
        sides = [mask, ~mask]
        totals = [mass[side].sum() for side in sides]
        if min(totals) <= 0:
            continue
        means = [float((mass[side] * values[side]).sum() / total) for side, total in zip(sides, totals, strict=True)]
        apart = means[0] - means[1]
        if binary:
            low, high = _newcombe(means, [int(side.sum()) for side in sides])
            found[place] = apart, apart - low, apart + high
            continue
        pull = np.where(mask, (values - means[0]) / totals[0], (means[1] - values) / totals[1]) * mass
        sums = pull if clusters is None else np.bincount(clusters, pull)
        error = float(np.sqrt(len(sums) / max(1, len(sums) - 1) * (sums**2).sum()))
        reach = student(len(sums) - 1) * error
        found[place] = apart, apart - reach, apart + reach
    return found


def _newcombe(shares: list[float], counts: list[int]) -> tuple[float, float]:
    """Return how far the interval reaches below and above the difference of two shares."""
    ends = np.array([wilson(round(share * n), n) for share, n in zip(shares, counts, strict=True)], np.float64)
    (low, high), (other_low, other_high) = ends
    below = float(np.hypot(shares[0] - low, other_high - shares[1]))
    above = float(np.hypot(high - shares[0], shares[1] - other_low))
    return below, above
