"""Means of slices: intervals, distances from the rest, and means of few cases drawn towards the mean of their like."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.cluster_variance import cluster_sums
from metrics.stats.float_tolerance import ratio, root
from metrics.stats.intervals import mean_intervals
from metrics.stats.student_t import Z95

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

    def units(cases: Bools) -> int:
        return int(cases.sum()) if clusters is None else len(np.unique(clusters[cases]))

    return np.array([min(units(side & weighted) for side in (mask, ~mask)) >= least for mask in masks])


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


MIN_MEANS = 4  # means: with three the correction of the shrinkage leaves nothing of it
WORTH = 20  # units that the variance within all groups counts for in that of a single one
STEPS = 100  # of the search for the variance between


class Pooled(NamedTuple):
    """Means of groups drawn towards `centre`, with their 95 % intervals [m]; NaN where a group has no mean.

    between: τ², the variance of the true means; shrunk: [m] the share of the way to the centre, 0 … 1.
    """

    means: Floats
    low: Floats
    high: Floats
    centre: float
    between: float
    shrunk: Floats


def paule_mandel(means: Floats, variances: Floats) -> float:
    """Return τ² ≥ 0, the variance of the true means of m groups, from their means and sampling variances > 0 [m].

    The τ² at which Σ w·(y − ȳ)² = m − 1 with w = 1 / (v + τ²) and ȳ the mean by w; 0 where the sum is smaller at once.
    Source: Paule & Mandel, Journal of Research of the National Bureau of Standards 87:377, 1982.
    """

    def excess(between: float) -> float:
        weight = 1 / (variances + between)
        centre = (weight * means).sum() / weight.sum()
        return float((weight * (means - centre) ** 2).sum()) - (len(means) - 1)

    if len(means) < 2 or excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(np.ptp(means)) ** 2 + float(variances.max())
    while excess(high) > 0:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


def pooled(means: Floats, variances: Floats, within: tuple[float, float] = (-np.inf, np.inf)) -> Pooled | None:
    """Return m means with sampling variances v > 0, drawn towards their common centre; None for fewer than MIN_MEANS.

    θ = y − B·(y − ȳ), B = (m − 3) / (m − 1) · v / (v + τ²), τ² by Paule and Mandel, ȳ the mean weighted by
    1 / (v + τ²). Its variance is v·(1 − (1 − l)·B) + 2 / (m − 3)·B²·(v̄ + τ²) / (v + τ²)·(y − ȳ)², l the group's share
    of the weights and v̄ the weighted mean of v: what is left of the noise, and what is not known of ȳ and τ². The
    interval is θ ± 1.96 standard errors, cut at the ends of `within`, the range of the values.
    Source: Morris, Journal of the American Statistical Association 78:47, 1983.
    """
    there = ~np.isnan(means) & (variances > 0)
    y, v, m = means[there], variances[there], int(there.sum())
    if m < MIN_MEANS:
        return None
    between = paule_mandel(y, v)
    weight = 1 / (v + between)
    share = weight / weight.sum()
    centre = float((share * y).sum())
    shrunk = (m - 3) / (m - 1) * v * weight
    typical = float((share * v).sum())
    unknown = 2 / (m - 3) * shrunk**2 * (typical + between) * weight * (y - centre) ** 2
    error = root(v * (1 - (1 - share) * shrunk) + unknown)
    drawn = y - shrunk * (y - centre)
    found = np.full((4, len(means)), np.nan)
    found[:, there] = drawn, np.clip(drawn - Z95 * error, *within), np.clip(drawn + Z95 * error, *within), shrunk
    return Pooled(found[0], found[1], found[2], centre, between, found[3])


def sampling_variances(
    values: Floats, masks: Bools, weights: Floats | None = None, clusters: Ints | None = None
) -> Floats:
    """Return the sampling variance [m] of the mean of `values` [n] over each of `masks` [m, n], NaN for none.

    With u = w·(x − mean) / Σ w, summed over each cluster (default each case its own), that of a group of c clusters is
    c / (c − 1)·Σ u². Since few equal values would have none, the variance of one cluster, c times that, is averaged
    with the one within all groups, which counts for WORTH clusters.
    """
    mass = np.ones(len(values)) if weights is None else weights
    codes = np.arange(len(values)) if clusters is None else clusters
    unit, count = np.full(len(masks), np.nan), np.zeros(len(masks))
    for place, mask in enumerate(masks):
        total = mass[mask].sum()
        if total > 0:
            mean = (mass[mask] * values[mask]).sum() / total
            own = np.unique(codes[mask], return_inverse=True)[1]
            sums = np.bincount(own, mass[mask] * (values[mask] - mean) / total)
            count[place] = len(sums)
            unit[place] = len(sums) ** 2 / max(1, len(sums) - 1) * float((sums**2).sum())
    spare = np.maximum(0, count - 1)
    common = float(ratio(np.nansum(spare * unit), spare.sum()))
    return ratio((spare * np.nan_to_num(unit) + WORTH * common) / (spare + WORTH), count)
