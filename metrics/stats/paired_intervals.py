"""Two models on the same cases: 95 % intervals of the difference and of the shares of cases on which one is ahead, and
whether one may replace the other within a margin.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL, at_least, at_most
from metrics.stats.bootstrap import Bound, bootstrap_means
from metrics.stats.corrections import is_significant
from metrics.stats.float_tolerance import is_apart, root, weighted_mean
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.paired_tests import paired_tests
from metrics.stats.power import units_needed
from metrics.stats.rare_losses import UNKNOWN, Side, share_upper
from metrics.stats.sequential import FEWEST, anytime_stretch
from metrics.stats.student_t import Z95, student

FEW = 13  # pairs that differ to one side


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
    return max(-1.0, b - a - float(root(below))), min(1.0, b - a + float(root(above)))


def difference_intervals(
    differences: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    widest: Bound = np.inf,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Return 95 % intervals (low, high), each [m], of the column means of paired `differences` [n, m]; NaN is no pair.

    widest: how far two values can be apart, of all columns or of each [m]: the range of the differences is −widest …
    widest. The studentised bootstrap of pairs, or of clusters of them (codes [n]); see bootstrap_means, for what is NaN
    too. Where most pairs are equal and up to FEW differ to a side, it reaches at least as far as Clopper and Pearson's
    end of their share does, times their mean: few say little of how many there are. Percentiles of the means, even
    expanded ones, held the truth in 92 % of normal differences of six pairs and in 54 % of those that are mostly 0.
    """
    low, high = bootstrap_means(
        differences, weights, clusters, seed, low=-np.asarray(widest), high=widest, withhold=False
    )
    if weights is None and clusters is None:
        differ = np.count_nonzero(np.nan_to_num(differences), axis=0)
        mostly_equal = (differ > 0) & (2 * differ <= np.count_nonzero(~np.isnan(differences), axis=0))
        for place in np.flatnonzero(mostly_equal & ~np.isnan(low)).tolist():
            apart = differences[:, place][~np.isnan(differences[:, place])]
            low[place] = min(low[place], apart.mean() - _few_reach(-apart))
            high[place] = max(high[place], apart.mean() + _few_reach(apart))
    return low, high


def _few_reach(sizes: Floats) -> float:
    """Return how far the few pairs above 0 may move the mean of `sizes` [n]: (upper(k, n) − k/n) times their mean."""
    above = sizes[sizes > 0]
    if not 0 < len(above) <= FEW:
        return 0.0
    return float((share_upper(len(above), len(sizes)) - len(above) / len(sizes)) * above.mean())


def agreeing(ends: Floats, difference: Floats, p: Floats) -> Floats:
    """Return intervals [2, m], low and high, that end at 0 where those given would contradict the paired test.

    difference: [m]; p: [m], before any correction. With p above LEVEL 0 is within; with p up to LEVEL the interval
    begins at 0 or beyond, on the side of the difference. The test decides because it is exact for few units, which an
    interval is not. The first loses no truth, the second only where the test is wrong about the side: in 2.5 % at most.

    >>> agreeing(np.array([[0.1, -0.1], [0.5, 0.5]]), np.array([0.3, 0.2]), np.array([0.06, 0.03])).tolist()
    [[0.0, 0.0], [0.5, 0.5]]
    """
    (low, high), open_ = ends, ~is_significant(p)
    least = np.select([open_, difference > 0], [np.minimum(low, 0.0), np.maximum(low, 0.0)], low)
    most = np.select([open_, difference < 0], [np.maximum(high, 0.0), np.minimum(high, 0.0)], high)
    return np.stack([least, most])


def resample_interval(difference: float, samples: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a `difference` from its resamples [B], B ≥ 1, by the basic bootstrap.

    2·difference less the 97.5 % and the 2.5 % point of the samples; of width 0 where neither shows a difference.
    Source: Davison & Hinkley, Bootstrap Methods and their Application, 1997, ch. 5.2.
    """
    if not is_apart(difference, samples):
        return 0.0, 0.0
    high, low = 2 * difference - np.quantile(samples, [0.025, 0.975])
    return float(low), float(high)


STEPS = 60  # of a bisection


@dataclass(frozen=True, slots=True)
class CaseShare:
    """A share of cases, 0 … 1, with its 95 % interval; None where there is none."""

    value: float
    low: float | None
    high: float | None


def tango_interval(wins: float, losses: float, n: float) -> Interval:
    """Return the 95 % interval of (wins − losses) / n over n cases, the others ties; (None, None) where n is 0.

    The differences δ in −1 … 1 with |wins − losses − n·δ| ≤ 1.96·√(n·(2q + δ·(1 − δ))), q the likeliest chance of a
    loss if the difference is δ: (√(B² − 4AC) − B) / 2A, A = 2n, B = (2n − wins + losses)·δ − wins − losses,
    C = −losses·δ·(1 − δ). It needs no more than these counts and is never of width 0.
    Source: Tango, Statistics in Medicine 17:891, 1998.

    >>> tuple(round(end, 3) for end in tango_interval(1, 7, 21))
    (-0.517, -0.026)
    """
    if n <= 0:
        return NONE
    found = (wins - losses) / n

    def is_far(delta: float) -> bool:
        linear = (2 * n - wins + losses) * delta - wins - losses
        root = math.sqrt(max(0.0, linear**2 + 8 * n * losses * delta * (1 - delta)))
        variance = n * (2 * (root - linear) / (4 * n) + delta * (1 - delta))
        return abs(wins - losses - n * delta) > Z95 * math.sqrt(max(0.0, variance))

    ends = []
    for far in (-1.0, 1.0):
        inside, outside = found, far
        if is_far(outside):
            for _ in range(STEPS):
                middle = (inside + outside) / 2
                inside, outside = (inside, middle) if is_far(middle) else (middle, outside)
            ends.append(inside)
        else:
            ends.append(far)
    return ends[0], ends[1]


def superiority(better: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> CaseShare | None:
    """Return the share of cases on which b beats a, ties half; `better` [n]: b − a, above 0 where b is better.

    The chance that b scores higher on a random case: ½ + (wins − losses) / 2n. Weighted cases, and those in clusters
    (codes [n]), count in Tango's interval as the independent cases that they are worth. None without a case.
    """
    signs = np.where(np.abs(better) <= EQUAL, 0.0, np.sign(better))
    worth = worth_of_cases(signs, weights, clusters)
    if not len(signs) or math.isnan(mean := weighted_mean(signs, weights)):
        return None
    wins, losses = (weighted_mean((signs == side).astype(np.float64), weights) * worth for side in (1.0, -1.0))
    low, high = tango_interval(wins, losses, worth)
    return CaseShare((1 + mean) / 2, None if low is None else (1 + low) / 2, None if high is None else (1 + high) / 2)


def share_within(
    better: Floats, margin: float, weights: Floats | None = None, clusters: Ints | None = None
) -> CaseShare | None:
    """Return the share of cases on which b is at most `margin` worse than a, by Wilson's interval; see superiority."""
    near = (better >= -margin - EQUAL).astype(np.float64)
    worth = worth_of_cases(near, weights, clusters)
    if not len(near) or math.isnan(share := weighted_mean(near, weights)):
        return None
    return CaseShare(share, *wilson(share * worth, worth))


def worth_of_cases(values: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> float:
    """Return how many independent cases of equal weight tell as much of the mean of `values` [n] as these do, ≤ n.

    The variance of the values over the squared error of their mean, of which few clusters' uncertainty (Student's t)
    is taken off; where all are equal, as many as equal clusters. 0 where a single cluster leaves no error.
    Source: Rao & Scott, Biometrics 48:577, 1992.
    """
    if (weights is None and clusters is None) or not len(values):
        return float(len(values))
    found = paired_tests(values[:, None], weights, clusters)
    error, freedom = float(found.error[0]), float(found.freedom[0])
    spread = weighted_mean((values - float(found.difference[0])) ** 2, weights)
    worth = spread / error**2 if error > EQUAL and spread > EQUAL else 1 + freedom
    return min(len(values), worth) * (Z95 / student(freedom)) ** 2


Verdict = Literal["better", "equivalent", "not_worse", "worse", "open"]


@dataclass(frozen=True, slots=True)
class Decided:
    """What a difference comes to under a margin, and the interval low … high that decides.

    better: significantly; equivalent: the interval lies within ± the margin; not_worse: it lies above − the margin;
    worse: significantly, and not known to be within the margin; open: neither is known. `more`: how many further
    units would answer, where it is open.
    """

    verdict: Verdict
    low: float
    high: float
    more: int | None = None


def decide_noninferiority(
    difference: float,
    interval: tuple[float, float],
    margin: float,
    units: int,
    error: float,
    significant: int = 0,
    worse: Side = UNKNOWN,
    better: Side = UNKNOWN,
    anytime: bool = False,
) -> Decided:
    """Decide from the `difference` b − a, above 0 where b is better, whether b may replace a.

    b is not worse (non-inferior) where the low end of the 95 % interval is above −margin: a one-sided test at 2.5 %.
    Two of them, one at each side, are the TOST of equivalence at 2.5 %, which is the interval within ±margin. The usual
    TOST at 5 % would take the 90 % interval; with the 95 % one, verdict and the interval that is shown agree.

    An interval knows only what was seen, and rare losses may not have been: the low end is at least the reach of
    `worse` below the difference, the high end that of `better` above it, see metrics.stats.rare_losses. What is better
    must not be worse by the margin through rare losses either; else a significant difference keeps its interval.
    Simulated errors: `python -m tests.benchmarks.bench_decisions`.

    Args:
        interval: the 95 % interval of the difference; infinite ends are none.
        margin: by how much b may be worse, > 0, in the metric's unit.
        units: independent units (cases, or groups of them), ≥ 1.
        error: standard error of the difference; NaN if it is not known.
        significant: 1 where b is significantly better, −1 where worse, after correction; else 0.
        worse, better: the units that are, where they are known.
        anytime: whether the interval holds at every look, see metrics.stats.sequential.

    `more` is the number of units, beyond these, with which an answer comes in at least 80 % of the cases if the true
    difference is the one found: that b is not worse, or that it is worse; None without an error.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15:657, 1987; EMA/CPMP/EWP/2158/99, 2005.

    >>> decide_noninferiority(-0.002, (-0.008, 0.004), 0.01, 500, 0.003)
    Decided(verdict='equivalent', low=-0.008, high=0.004, more=None)
    """
    low = min(interval[0], difference - worse.reach(anytime))
    high = max(interval[1], difference + better.reach(anytime))
    if not at_most(low, -margin):
        if significant > 0:
            return Decided("better", *interval)
        return Decided("equivalent" if not at_least(high, margin) else "not_worse", low, high)
    if significant < 0:
        return Decided("worse", *interval)
    needed = FEWEST if anytime else 0
    if error > EQUAL:
        stretch = anytime_stretch if anytime else None
        needed = max(needed, units_needed(error, units, max(margin + difference, -difference), stretch))
    if margin + difference > 0 and worse.units:
        needed = max(needed, math.ceil(worse.units_needed(margin + difference, anytime) * units / worse.units))
    return Decided("open", low, high, max(1, needed - units) if needed else None)
