"""Quantiles, such as the median and the 95 % point, with intervals that no heavy tail can break."""

import math
from functools import lru_cache

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL, exact_sum
from metrics.stats.bootstrap import Draws
from metrics.stats.cluster_variance import cluster_sums, cluster_variance, design_freedom
from metrics.stats.intervals import NONE, Interval
from metrics.stats.student_t import Z95, student

TAIL = 0.025  # chance that a quantile is beyond either end of its interval
BOTH_TAILS = 2 * TAIL


def weighted_quantile(values: Floats, share: float, weights: Floats | None = None) -> float:
    """Return the value below which `share` of the weight of `values` [n], without NaN, lies; NaN where there is none.

    Where several values are such, the mean of the least and the greatest, as of the middle two for the median: numpy's
    "averaged_inverted_cdf".

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0, 10.0]), 0.5)
    2.5
    """
    order, seen = _cumulated(values, weights)
    return _quantile(values[order], seen, share)


def resampled_quantiles(values: Floats, share: float, draws: Draws) -> Floats:
    """Return the weighted quantile of `values` [n] in the data set and its resamples, [1 + B]; NaN where one is empty.

    See `weighted_quantile`.
    """
    order = np.argsort(values, kind="stable")
    ordered, unit = values[order], draws.unit[order]
    weights = 1.0 if draws.weights is None else draws.weights[order]
    seen = (np.cumsum(times[unit] * weights, dtype=np.float64) for times in draws.times)
    return np.array([_quantile(ordered, own, share) for own in seen])


def varied_quantiles(
    values: Floats, share: float, units: Ints, weights: Floats | None, count: int, seed: int = 0
) -> Floats:
    """Return the quantiles of columns of `values` [n, m], NaN for none, and in `count` data sets alike: [m, 1 + count].

    For large n, where resamples take long: the share of the weight below the quantile varies between data sets as the
    normal distribution with the covariance of `units` [n], of all columns together, and the quantile is that of the
    share drawn. Source: Bahadur, Annals of Mathematical Statistics 37:577, 1966.
    """
    there = ~np.isnan(values)
    mass = there * (1.0 if weights is None else weights[:, None])
    columns = [np.flatnonzero(own) for own in there.T]
    ordered = [rows[np.argsort(values[rows, place], kind="stable")] for place, rows in enumerate(columns)]
    seen = [np.cumsum(mass[rows, place]) for place, rows in enumerate(ordered)]
    least = [
        _quantile(values[rows, place], own, share) for (place, rows), own in zip(enumerate(ordered), seen, strict=True)
    ]
    influence = mass * (share - (values <= least)) / mass.sum(axis=0)
    sums = cluster_sums(influence, units)
    shares = np.random.default_rng(seed).multivariate_normal(
        np.full(len(least), share), sums.T @ sums, count, method="eigh"
    )
    drawn = [
        values[rows[np.minimum(np.searchsorted(own, shares[:, place] * own[-1]), len(rows) - 1)], place]
        for (place, rows), own in zip(enumerate(ordered), seen, strict=True)
    ]
    return np.column_stack([least, np.array(drawn)])


def quantile_interval(
    values: Floats, share: float, weights: Floats | None = None, clusters: Ints | None = None
) -> Interval:
    """Return the 95 % interval of a quantile of `values` [n], without NaN, from two of these values; None for no end.

    weights: [n], default 1; clusters: [n] codes 0 … c − 1, default every value its own. Of independent values that
    weigh alike the ends are order statistics, exact for any continuous distribution and cautious for others: see
    `order_ranks`, of n. Else the two shares of the weight that these ranks are of, of as many independent values as
    these are worth: q·(1 − q) / variance of the share q of the weight up to the quantile (CR2), less what Student's t
    asks more with that variance's degrees of freedom; at most n, and at least the number of equal units they are worth.
    Sources: Hahn & Meeker, Statistical Intervals, 1991, ch. 5; Woodruff, Journal of the American Statistical
    Association 47:635, 1952; Korn & Graubard, Survey Methodology 24:193, 1998 (effective sizes).

    >>> quantile_interval(np.arange(1.0, 11.0), 0.5), quantile_interval(np.arange(1.0, 11.0), 0.95)
    ((2.0, 9.0), (8.0, None))
    """
    order, seen = _cumulated(values, weights)
    if not len(order) or seen[-1] <= 0:
        return NONE
    size = quantile_size(values, share, weights, clusters)
    low, high = (
        None if rank is None else float(values[order[_place(seen, rank / size - EQUAL)]])
        for rank in order_ranks(size, share)
    )
    return low, high


def quantile_size(values: Floats, share: float, weights: Floats | None = None, clusters: Ints | None = None) -> int:
    """Return how many independent values the values [n] are worth for a quantile, 0 without weight.

    See `quantile_interval`.
    """
    n = len(values)
    if weights is None and clusters is None:
        return n
    units = np.arange(n) if clusters is None else clusters
    mass = np.ones(n) if weights is None else weights
    if not mass.sum() > 0:
        return 0
    worth = design_freedom(units, weights) + 1
    inside = (values <= weighted_quantile(values, share, weights) + EQUAL).astype(np.float64)
    level = float(inside @ mass / mass.sum())
    sums = cluster_sums(np.stack([mass * (inside - level), mass, mass**2], axis=1), units)
    residuals, masses, squares = (column[:, None] for column in sums.T)
    if worth <= 1 or level >= 1:
        return math.floor(worth + EQUAL)
    variance, freedom = cluster_variance(residuals, masses, squares)
    effective = level * (1 - level) / max(float(variance[0]), np.finfo(np.float64).tiny)
    effective *= (Z95 / student(float(freedom[0]))) ** 2 / (Z95 / student(n - 1.0)) ** 2
    return math.floor(min(max(effective, worth), n) + EQUAL)


@lru_cache(maxsize=4096)
def order_ranks(n: int, share: float) -> tuple[int | None, int | None]:
    """Return the ranks, 1 the least, of the two of n independent values that enclose a quantile in 95 %; None: no end.

    At most TAIL of the chance lies beyond either; where the greatest (or least) value leaves out more, but no more than
    both together, the other end gets the rest. With fewer than `least_size` values only the end that is there.

    >>> order_ranks(6, 0.5), order_ranks(5, 0.5), order_ranks(58, 0.95), order_ranks(59, 0.95)
    ((1, 6), (None, None), (51, None), (50, 59))
    """
    if n < 1:
        return None, None
    tails = [TAIL, TAIL]
    outside = (1 - share) ** n, share**n  # the chance of a quantile below the least and above the greatest value
    if exact_sum(outside) <= BOTH_TAILS and max(outside) > TAIL:
        wide = int(outside[1] > TAIL)
        tails[wide], tails[1 - wide] = outside[wide], BOTH_TAILS - outside[wide]
    low, high = (_count_tail(n, own, tail) for own, tail in zip((share, 1 - share), tails, strict=True))
    return low or None, n + 1 - high if high else None


def _count_tail(n: int, share: float, tail: float) -> int:
    """Return for how many k = 0, 1, … P(X ≤ k) is at most `tail`, of X binomial with n trials."""
    k = np.arange(n)
    ratios = (n - k) / (k + 1) * (share / (1 - share))  # of P(X = k + 1) to P(X = k)
    logs = n * math.log1p(-share) + np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    return int(np.searchsorted(np.cumsum(np.exp(logs)), tail * (1 + EQUAL), side="right"))


def least_size(share: float) -> int:
    """Return from how many independent values on a quantile has an interval with both ends.

    >>> least_size(0.5), least_size(0.95)
    (6, 59)
    """
    n = 1
    while share**n + (1 - share) ** n > BOTH_TAILS:
        n += 1
    return n


def describe_missing_end(
    ends: Interval, values: Floats, share: float, weights: Floats | None = None, clusters: Ints | None = None
) -> str | None:
    """Return why the interval `ends` of a quantile, see `quantile_interval`, lacks an end; None where it has both.

    >>> describe_missing_end((8.0, None), np.arange(1.0, 11.0), 0.95)
    'no upper end with fewer than 59 cases'
    """
    if None not in ends:
        return None
    missing = "interval" if ends == NONE else "lower end" if ends[0] is None else "upper end"
    few = f"no {missing} with fewer than {least_size(share)}"
    if weights is None and clusters is None:
        return f"{few} cases"
    size = quantile_size(values, share, weights, clusters)
    return f"{few} independent cases: these {len(values):,} are worth {size:,}"


def _cumulated(values: Floats, weights: Floats | None) -> tuple[Ints, Floats]:
    """Return the order of the values, and the weight up to each."""
    order = np.argsort(values, kind="stable")
    return order, np.cumsum(np.ones(len(values)) if weights is None else weights[order])


def _quantile(ordered: Floats, seen: Floats, share: float) -> float:
    if not len(ordered) or seen[-1] <= 0:
        return math.nan
    return float(np.mean([ordered[_place(seen, share + slack)] for slack in (-EQUAL, EQUAL)]))


def _place(seen: Floats, share: float) -> int:
    """Return the place of the first value up to which `share` of all weight lies."""
    return min(int(np.searchsorted(seen, share * seen[-1])), len(seen) - 1)
