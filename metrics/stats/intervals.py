"""95 % intervals: Wilson's for shares, percentiles of bootstrap estimates for the rest."""

import math

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.bootstrap import Bound, bootstrap_means
from metrics.stats.student_t import Z95

Interval = tuple[float | None, float | None]
NONE: Interval = (None, None)
STEPS = 40  # of a bisection
TERMS = 1_000_000  # of binomial tails that are summed at once
METHODS = "Wilson's for shares, a bootstrap over cases, or over their groups, for means"  # of mean_intervals, in words


def mean_intervals(
    values: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    seed: int = 0,
    low: Bound = -np.inf,
    high: Bound = np.inf,
    shares: bool = False,
) -> tuple[Floats, Floats, str]:
    """Return 95 % intervals of the column means of `values`, and the method: the one place where it is chosen.

    shares: values are 0 or 1, single answers without weights and clusters. For the rest see bootstrap_means. NaN where
    a column has no interval.
    """
    if not shares:
        return *bootstrap_means(values, weights, clusters, seed, low=low, high=high), "bootstrap"
    counts = (~np.isnan(values)).sum(axis=0).tolist()
    ends = [wilson(round(hits), n) for hits, n in zip(np.nansum(values, axis=0).tolist(), counts, strict=True)]
    lows, highs = np.array(ends, np.float64).reshape(-1, 2).T
    return lows, highs, "wilson"


def wilson(successes: float, n: float) -> Interval:
    """Return Wilson's score interval of the share `successes / n`; (None, None) where n is 0.

    centre ± half with centre = (p + z²/2n) / (1 + z²/n), half = z / (1 + z²/n) · √(p(1−p)/n + z²/4n²); within [0, 1]
    and never of width 0, so that 10 of 10 is not certainty. Source: Wilson 1927.

    >>> tuple(round(bound, 4) for bound in wilson(8, 10))
    (0.4902, 0.9433)
    """
    if n <= 0:
        return NONE
    share = successes / n
    shrink = 1 + Z95 * Z95 / n
    centre = (share + Z95 * Z95 / (2 * n)) / shrink
    half = Z95 / shrink * math.sqrt(share * (1 - share) / n + Z95 * Z95 / (4 * n * n))
    return (0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == n else min(1.0, centre + half))


def binomial_tail(hits: Ints, trials: Ints, share: float) -> Floats:
    """Return P(X ≤ hits) of X binomial with so many trials and the chance `share`, elementwise [k]; 0 < share < 1."""
    step = max(1, TERMS // (int(hits.max(initial=0)) + 1))
    parts = [_tails(hits[k : k + step], trials[k : k + step], share) for k in range(0, len(hits), step)]
    return np.concatenate([np.zeros(0), *parts])


def _tails(hits: Ints, trials: Ints, share: float) -> Floats:
    log, other = math.log(share), math.log1p(-share)
    i = np.arange(int(hits.max(initial=0)) + 1, dtype=np.float64)
    ratios = np.maximum(trials[:, None] - i[1:] + 1, 1) / i[1:]  # of one coefficient to the one before; 1: not counted
    terms = np.pad(np.cumsum(np.log(ratios), axis=1), ((0, 0), (1, 0))) + i * (log - other)  # [k, hits + 1]
    terms[i > hits[:, None]] = -np.inf
    highest = terms.max(axis=1)
    logs = highest + trials * other + np.log(np.exp(terms - highest[:, None]).sum(axis=1))
    return np.asarray(np.minimum(1.0, np.exp(logs)))


def exact_upper(k: int, n: int, tail: float) -> float:
    """Return the share m with P(X ≤ k | n, m) = `tail`: the upper end of Clopper and Pearson's interval; 1 if k is n.

    >>> round(exact_upper(0, 20, 0.025), 4)
    0.1684
    """
    if k >= n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = binomial_tail(np.array([k]), np.array([n]), middle)[0]
        low, high = (low, middle) if below <= tail else (middle, high)
    return high


def percentiles(estimates: Floats) -> Interval:
    """Return the 2.5 % and 97.5 % points of bootstrap `estimates` without NaN; (None, None) where none is left."""
    known = estimates[~np.isnan(estimates)]
    if not len(known):
        return NONE
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)
