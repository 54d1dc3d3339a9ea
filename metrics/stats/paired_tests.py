"""Two models on the same cases: tests of no difference, intervals of the difference, corrections for many tests."""

import math
from itertools import product

import numpy as np
from numpy.typing import NDArray

from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.resampled_sums import MANY, resampled_sums
from metrics.stats.student_t import Z95, student

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DRAWS = 9_999  # random sign patterns; with the observed one p goes in steps of 1 / 10,000
FEW = 13  # non-zero differences up to which all 2¹³ sign patterns are counted
RESAMPLES = 2_000
POWER = 0.8416212335729143  # the standard normal's 80 % point
CELLS = 1 << 22  # of a matrix of signs held at once


def mcnemar_exact(wins: int, losses: int) -> float:
    """Exact two-sided p of McNemar's test from the two kinds of discordant pairs: min(1, 2·P(X ≤ min(wins, losses))).

    X is binomial with n = wins + losses and ½; 1 without discordant pairs. Source: McNemar 1947.

    >>> round(mcnemar_exact(1, 7), 4)
    0.0703
    """
    return min(1.0, 2.0 * sum(_tail(min(wins, losses), wins + losses)))


def mcnemar_mid_p(wins: int, losses: int) -> float:
    """Mid-p of McNemar's test: 2·P(X < m) + P(X = m) with m = min(wins, losses); 1 without discordant pairs.

    The exact test rejects far less often than its level says; the mid-p test keeps it in practice at all sizes.
    Source: Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13:91, 2013.

    >>> round(mcnemar_mid_p(1, 7), 4)
    0.0391
    """
    below, equal = _tail(min(wins, losses), wins + losses)
    return min(1.0, 2.0 * below + equal)


def _tail(most: int, n: int) -> tuple[float, float]:
    """P(X < most) and P(X = most) of a binomial with n and ½."""
    k = np.arange(1, most + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - k + 1) / k))]) - n * math.log(2)
    shares = np.exp(logs)
    return float(shares[:-1].sum()), float(shares[-1])


def newcombe_paired(both: int, only_b: int, only_a: int, neither: int) -> Interval:
    """95 % interval of the difference b − a of two shares on the same cases, from the four counts of pairs.

    d − √(δb² − 2φ·δb·εa + εa²) and d + √(εb² − 2φ·εb·δa + δa²), d = (only_b − only_a) / n; δ and ε are the lower and
    upper arms of each share's Wilson interval, φ the phi coefficient of the table (0 where a margin is empty). Never of
    width 0, so no discordant pair is no proof of equality; a positive numerator of φ is lessened by n / 2, down to 0.
    (None, None) without pairs. Source: Newcombe, Statistics in Medicine 17:2635, 1998, method 10.

    >>> tuple(round(bound, 3) for bound in newcombe_paired(1, 1, 7, 12))
    (-0.507, -0.026)
    """
    n = both + only_b + only_a + neither
    if not n:
        return NONE
    of_a, of_b = both + only_a, both + only_b
    (low_a, high_a), (low_b, high_b) = _wilson(of_a, n), _wilson(of_b, n)
    margins = of_a * (n - of_a) * of_b * (n - of_b)
    determinant = both * neither - only_b * only_a
    together = max(0.0, determinant - n / 2) if determinant > 0 else determinant
    phi = together / math.sqrt(margins) if margins else 0.0
    a, b = of_a / n, of_b / n
    below = (b - low_b) ** 2 - 2 * phi * (b - low_b) * (high_a - a) + (high_a - a) ** 2
    above = (high_b - b) ** 2 - 2 * phi * (high_b - b) * (a - low_a) + (a - low_a) ** 2
    return max(-1.0, b - a - math.sqrt(max(0.0, below))), min(1.0, b - a + math.sqrt(max(0.0, above)))


def _wilson(successes: int, n: int) -> tuple[float, float]:
    low, high = wilson(successes, n)
    return low or 0.0, 1.0 if high is None else high


def sign_flips(
    differences: Floats, weights: Floats | None = None, clusters: Ints | None = None, seed: int = 0, draws: int = DRAWS
) -> Floats:
    """Two-sided p [m] that each column of `differences` [n, m] has no mean beyond chance, by flipping signs.

    If the two models are interchangeable, each difference could as well have had the other sign: p is the share of sign
    patterns whose |sum| is at least the observed one. weights: [n]; clusters: [n] codes, their signs flip together; NaN
    is no pair. Exact for up to FEW non-zero clusters, beyond MANY the normal limit, between them `draws` random
    patterns and the observed one; 1 where all differences are 0. Source: Fisher 1935; Good 2005, ch. 3.

    >>> sign_flips(np.array([[1.0], [2.0], [3.0], [4.0]])).round(4).tolist()
    [0.125]
    """
    sums = _sums(np.where(np.isnan(differences), 0.0, differences), weights, clusters)
    active = np.count_nonzero(sums, axis=0)
    p = np.ones(sums.shape[1])
    for column in np.flatnonzero((active > 0) & (active <= FEW)):
        own = sums[sums[:, column] != 0, column]
        patterns = np.array(list(product((-1.0, 1.0), repeat=len(own)))) @ own
        p[column] = _as_extreme(patterns, own.sum()).mean()
    for column in np.flatnonzero(active > MANY):
        own = sums[:, column]
        p[column] = math.erfc(abs(own.sum()) / math.sqrt(2.0 * (own @ own)))
    drawn = np.flatnonzero((active > FEW) & (active <= MANY))
    if len(drawn):
        chosen = sums[:, drawn]
        chosen = chosen[chosen.any(axis=1)]
        p[drawn] = (1 + _drawn(chosen, seed, draws)) / (draws + 1)
    return p


def _drawn(sums: Floats, seed: int, draws: int) -> Ints:
    """Return how many of `draws` random sign patterns give each column a sum as extreme as its own."""
    rng = np.random.default_rng([seed, len(sums)])
    n, observed = len(sums), sums.sum(axis=0)
    found = np.zeros(sums.shape[1], np.int64)
    step = max(1, CELLS // n)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        bits = rng.integers(0, 256, (rows, -(-n // 8)), np.uint8)
        kept = np.unpackbits(bits, axis=1, count=n).astype(np.float64)
        found += _as_extreme(2.0 * (kept @ sums) - observed, observed).sum(axis=0)
    return found


def _as_extreme(sums: Floats, observed: Floats | float) -> NDArray[np.bool_]:
    # sums that are equal on paper differ in their last bits
    extreme: NDArray[np.bool_] = np.abs(sums) >= np.abs(observed) * (1 - 1e-9)
    return extreme


def difference_intervals(
    differences: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[Floats, Floats]:
    """95 % intervals (low, high), each [m], of the column means of paired `differences` [n, m]: NaN is no pair.

    Clusters of pairs (codes [n]; default: each its own) are drawn again and the percentiles taken further out, at
    Φ(−t·√(c / (c − 1))) with Student's t of the c clusters: plain percentiles are too short where c is small. More than
    MANY clusters: the sandwich error times 1.96. NaN with fewer than two clusters.
    Source: Hesterberg, The American Statistician 69:371, 2015, sec. 4 (expanded percentiles).
    """
    present = ~np.isnan(differences)
    sums = _sums(np.where(present, differences, 0.0), weights, clusters)
    if len(sums) > MANY:
        return bootstrap_means(differences, weights, clusters)
    masses = _sums(present.astype(np.float64), weights, clusters)
    m = sums.shape[1]
    counts = np.count_nonzero(masses, axis=0)
    low, high = np.full(m, np.nan), np.full(m, np.nan)
    if not (counts > 1).any():
        return low, high
    drawn = resampled_sums(np.hstack([sums, masses]), np.arange(len(sums)), seed, resamples)
    for column in np.flatnonzero(counts > 1):
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may miss every pair of a sparse column
            means = drawn[:, column] / drawn[:, m + column]
        c = int(counts[column])
        tail = 0.5 * math.erfc(math.sqrt(c / (c - 1)) * student(c - 1) / math.sqrt(2))
        low[column], high[column] = np.nanquantile(means, [tail, 1 - tail])
    return low, high


def standard_errors(
    differences: Floats, weights: Floats | None = None, clusters: Ints | None = None
) -> tuple[Floats, Ints]:
    """Standard error of each column's mean of paired `differences` [n, m] and its number of clusters, each [m].

    √(c / (c − 1)·Σ r²) / Σ w with r the sum over a cluster of w·(d − mean); NaN with fewer than two clusters.
    """
    present = ~np.isnan(differences)
    sums = _sums(np.where(present, differences, 0.0), weights, clusters)
    masses = _sums(present.astype(np.float64), weights, clusters)
    counts = np.count_nonzero(masses, axis=0)
    total = masses.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        residuals = sums - sums.sum(axis=0) / total * masses
        errors = np.sqrt(counts / (counts - 1) * (residuals**2).sum(axis=0)) / total
    return np.where(counts > 1, errors, np.nan), counts


def detectable(error: float, clusters: int) -> float:
    """Return the true difference that a two-sided test at 5 % finds four times of five (80 % power): (t + 0.84)·error."""
    return (student(clusters - 1) + POWER) * error


def units_needed(error: float, clusters: int, difference: float) -> int:
    """Return how many clusters, like the `clusters` that give the standard `error`, reveal a true `difference` > 0 as
    above.

    The least c ≥ 2 with (t + 0.84)·error·√(clusters / c) ≤ difference, t of c − 1 degrees of freedom.

    >>> units_needed(0.02, 100, detectable(0.02, 100))
    100
    """
    spread = error * math.sqrt(clusters)
    needed = max(2, math.floor(((Z95 + POWER) * spread / difference) ** 2))
    while detectable(spread / math.sqrt(needed), needed) > difference * (1 + 1e-9):
        needed += 1
    return needed


def holm(p: Floats) -> Floats:
    """Holm's adjusted p: the chance of even one false finding among all stays below the level they are held against.

    In rising order the i-th of m is multiplied by m − i + 1, at least as large as the one before and at most 1.
    Source: Holm, Scandinavian Journal of Statistics 6:65, 1979.

    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).round(3).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p: of the findings below the level at most that share is expected to be false.

    In falling order the i-th smallest of m is multiplied by m / i, at most as large as the one after it.
    Source: Benjamini & Hochberg, Journal of the Royal Statistical Society B 57:289, 1995.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])).round(3).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty(len(p))
    scaled = p[order] * (len(p) / np.arange(len(p), 0, -1))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled))
    return adjusted


def _sums(values: Floats, weights: Floats | None, clusters: Ints | None) -> Floats:
    """Weighted values [n, m] added up by cluster: [c, m]."""
    rows = values if weights is None else values * weights[:, None]
    if clusters is None:
        return rows
    count = int(clusters.max(initial=-1)) + 1
    return np.stack([np.bincount(clusters, column, count) for column in rows.T], axis=1)
