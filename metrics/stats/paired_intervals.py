"""Two models on the same cases: 95 % intervals of the difference."""

import math

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.resampled_sums import MANY, cluster_sums, resampled_sums
from metrics.stats.student_t import student

RESAMPLES = 2_000


def newcombe_paired(both: int, only_b: int, only_a: int, neither: int) -> Interval:
    """Return the 95 % interval of the difference b − a of two shares on the same cases, from the counts of pairs.

    d − √(δb² − 2φ·δb·εa + εa²) and d + √(εb² − 2φ·εb·δa + δa²), d = (only_b − only_a) / n; δ and ε are the lower and
    upper arms of each share's Wilson interval, φ the phi coefficient of the table (0 where a margin is empty). Never of
    width 0: without discordant pairs equality is still not certain; a positive numerator of φ is lessened by n / 2,
    down to 0. (None, None) without pairs. Source: Newcombe, Statistics in Medicine 17:2635, 1998, method 10.

    >>> tuple(round(bound, 3) for bound in newcombe_paired(1, 1, 7, 12))
    (-0.507, -0.026)
    """
    n = both + only_b + only_a + neither
    if not n:
        return NONE
    of_a, of_b = both + only_a, both + only_b
    (low_a, high_a), (low_b, high_b) = np.array([wilson(of_a, n), wilson(of_b, n)], np.float64).tolist()
    margins = of_a * (n - of_a) * of_b * (n - of_b)
    determinant = both * neither - only_b * only_a
    together = max(0.0, determinant - n / 2) if determinant > 0 else determinant
    phi = together / math.sqrt(margins) if margins else 0.0
    a, b = of_a / n, of_b / n
    below = (b - low_b) ** 2 - 2 * phi * (b - low_b) * (high_a - a) + (high_a - a) ** 2
    above = (high_b - b) ** 2 - 2 * phi * (high_b - b) * (a - low_a) + (a - low_a) ** 2
    return max(-1.0, b - a - math.sqrt(max(0.0, below))), min(1.0, b - a + math.sqrt(max(0.0, above)))


def difference_intervals(
    differences: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[Floats, Floats]:
    """Return 95 % intervals (low, high), each [m], of the column means of paired `differences` [n, m]; NaN is no pair.

    Clusters of pairs (codes [n]; default: each its own) are resampled and the percentiles taken further out, at
    Φ(−t·√(c / (c − 1))) with Student's t of the c clusters: plain percentiles are too short where c is small. More than
    MANY clusters: the sandwich error times 1.96. NaN with fewer than two clusters.
    Source: Hesterberg, The American Statistician 69:371, 2015, sec. 4 (expanded percentiles).
    """
    present = ~np.isnan(differences)
    rows = np.hstack([np.where(present, differences, 0.0), present])
    if weights is not None:
        rows *= weights[:, None]
    sums = rows if clusters is None else cluster_sums(rows, clusters)
    if len(sums) > MANY:
        return bootstrap_means(differences, weights, clusters)
    m = differences.shape[1]
    counts = np.count_nonzero(sums[:, m:], axis=0)
    low, high = np.full(m, np.nan), np.full(m, np.nan)
    if not (counts > 1).any():
        return low, high
    drawn = resampled_sums(sums, np.arange(len(sums)), seed, resamples)
    for column in np.flatnonzero(counts > 1):
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may miss every pair of a sparse column
            means = drawn[:, column] / drawn[:, m + column]
        c = int(counts[column])
        tail = 0.5 * math.erfc(math.sqrt(c / (c - 1)) * student(c - 1) / math.sqrt(2))
        low[column], high[column] = np.nanquantile(means, [tail, 1 - tail])
    return low, high


def resample_interval(difference: float, samples: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a `difference` from its resamples [B], B ≥ 1, by the basic bootstrap.

    2·difference less the 97.5 % and the 2.5 % point of the samples; of width 0 where no resample shows any difference.
    Source: Davison & Hinkley, Bootstrap Methods and their Application, 1997, ch. 5.2.
    """
    if difference == 0 and not samples.any():
        return 0.0, 0.0
    high, low = 2 * difference - np.quantile(samples, [0.025, 0.975])
    return float(low), float(high)
