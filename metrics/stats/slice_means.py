"""Means of slices with intervals, and how far they lie from the mean of the rest."""

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.cluster_variance import cluster_sums
from metrics.stats.float_tolerance import root
from metrics.stats.intervals import mean_intervals
from metrics.stats.ratios import ratio

FEWEST, FEWEST_OPEN = 5, 20  # units on either side of a difference; of a metric with an open end
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
    values: Floats,
    masks: Bools,
    means: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    binary: bool = False,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> Floats:
    """Return the mean of each of `masks` [m, n] minus that of the rest, with low and high of its 95 % interval: [m, 3].

    means: of slice_means, whose intervals are combined with those of the rest: d ∓ √(δ² − 2·ρ·δ·ε + ε²), δ and ε the
    arms that reach towards each other. ρ: the correlation of both means through clusters that have cases on both
    sides, 0 without clusters. Of shares of cases this is Newcombe's interval (Statistics in Medicine 17:873, 1998,
    method 10), of means the same with theirs (MOVER; Zou & Donner, Statistics in Medicine 27:1693, 2008). So each side
    keeps its own variance, degrees of freedom and range.

    NaN where a side is empty; no interval where a side has too few units, see `has_enough_units`.
    """
    rest, _ = slice_means(values, np.logical_not(masks), weights, clusters, binary, within)
    rho = np.zeros(len(masks)) if clusters is None else _correlations(values, masks, means, rest, weights, clusters)
    enough = np.full(len(masks), True) if binary else has_enough_units(masks, weights, clusters, within)
    return apart_from(means, rest, enough, rho)


def apart_from(means: Floats, rest: Floats, enough: Bools, rho: Floats | float = 0.0) -> Floats:
    """Return `means` − `rest`, both [m, 3] with low and high; the interval is NaN where units are not `enough`."""
    apart = means[:, 0] - rest[:, 0]
    (below, above), (rest_below, rest_above) = (np.abs(side[:, 1:] - side[:, :1]).T for side in (means, rest))
    arms = ((below, rest_above), (above, rest_below))
    down, up = (root(own**2 - 2 * rho * own * other + other**2) for own, other in arms)
    return np.stack([apart, np.where(enough, apart - down, np.nan), np.where(enough, apart + up, np.nan)], axis=1)


def has_enough_units(masks: Bools, weights: Floats | None, clusters: Ints | None, within: tuple[float, float]) -> Bools:
    """Return for which of `masks` [m, n] both sides have enough units with a weight for an interval of a difference.

    FEWEST cases or clusters, FEWEST_OPEN of a metric without a lowest or highest value: fewer do not show its tail.
    """
    weighted = np.ones(masks.shape[1], bool) if weights is None else weights > 0
    least = FEWEST if np.isfinite(within).all() else FEWEST_OPEN
    units = np.arange(masks.shape[1]) if clusters is None else clusters
    return np.array([min(len(np.unique(units[side & weighted])) for side in (mask, ~mask)) >= least for mask in masks])


def _correlations(
    values: Floats, masks: Bools, means: Floats, rest: Floats, weights: Floats | None, clusters: Ints
) -> Floats:
    """Return the correlation [m] of the two means, from what each cluster adds to either."""
    mass = np.ones(len(values)) if weights is None else weights
    found = np.zeros(len(masks))
    for place, (mask, mean, other) in enumerate(zip(masks, means[:, 0], rest[:, 0], strict=True)):
        sides = np.stack([mask * mass * (values - mean), ~mask * mass * (values - other)], axis=1)
        own, others = cluster_sums(sides, clusters).T
        found[place] = ratio(own @ others, root((own @ own) * (others @ others)), 0.0)
    return found
