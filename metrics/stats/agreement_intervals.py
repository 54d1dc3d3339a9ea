"""95 % intervals of agreement that hold with few labels: of shares, of their mean, and of Cohen's κ."""

import math

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import cluster_codes
from metrics.stats.cluster_variance import crossed_widening
from metrics.stats.float_tolerance import ratio
from metrics.stats.intervals import Interval, percentiles, wilson
from metrics.stats.rater_agreement import kappas
from metrics.stats.student_t import student

PRIOR = 2.0  # pseudo-labels in all cells of a table together: Jeffreys' ½ in each of four
POSTERIOR = 4_000  # tables drawn
TINY = EQUAL**2


def effective_size(influence: Floats, weights: Floats, clusters: Ints, raters: Ints | None = None) -> float:
    """Return as how many independent items of equal weight these count for a statistic.

        (Σw)² / Σw² / d · (t(n − 1) / t(c − 1))²,  d = max(1, Σ over clusters (Σ wψ)² / Σ (wψ)²)

    influence: [n] ψ, how much each item moves the statistic; weights: [n]; clusters: [n] codes; raters: [n] codes of
    who gave each item its label, where it shall hold for others like them: divided by crossed_widening². Where nothing
    moves it (ten of ten), items of a cluster count as copies. At most n; n where weights are equal and no two items
    share a cluster, 0 where none has a weight. Sources: Kish 1965; Korn & Graubard 1998.
    """
    n, codes = len(weights), cluster_codes(clusters)
    count = int(codes.max(initial=-1)) + 1
    if not weights.any():
        return 0.0
    moved = weights * influence
    own = float(moved @ moved)
    if own <= TINY:
        moved, own, raters = weights, float(weights @ weights), None
    sums = np.bincount(codes, moved, count)
    size = weights.sum() ** 2 / (weights @ weights) / max(1.0, float(sums @ sums) / own)
    if count < n:
        size *= (student(max(1, n - 1)) / student(max(1, count - 1))) ** 2
    if raters is not None:
        size /= crossed_widening(moved, weights, codes, raters) ** 2
    return float(min(size, n))


def share_interval(hits: Floats, weights: Floats, clusters: Ints, raters: Ints | None = None) -> tuple[float, Interval]:
    """Return the weighted share of `hits` [n] (0 … 1) and Wilson's interval at its effective size.

    NaN and none where no item has a weight.
    """
    share = float(ratio(weights @ hits, weights.sum()))
    size = effective_size(hits - share, weights, clusters, raters)
    return share, wilson(share * size, size)


def mean_interval(first: tuple[float, Interval], second: tuple[float, Interval]) -> tuple[float, Interval]:
    """Return the mean of two independent shares and its interval, from their own intervals.

    low = m − √((a − low a)² + (b − low b)²) / 2, high alike. Source: Zou & Donner 2008 (MOVER).

    >>> mean, ends = mean_interval((0.8, (0.7, 0.9)), (0.6, (0.6, 0.6)))
    >>> round(mean, 3), [round(end, 3) for end in ends]
    (0.7, [0.65, 0.75])
    """
    (a, (a_low, a_high)), (b, (b_low, b_high)) = first, second
    mean = (a + b) / 2
    if a_low is None or a_high is None or b_low is None or b_high is None:
        return mean, (None, None)
    return mean, (mean - math.hypot(a - a_low, b - b_low) / 2, mean + math.hypot(a_high - a, b_high - b) / 2)


def kappa_interval(
    rows: Ints,
    columns: Floats,
    weights: Floats,
    clusters: Ints,
    quadratic: bool = False,
    seed: int = 0,
    raters: Ints | None = None,
) -> tuple[float, Interval]:
    """Return Cohen's κ of two raters and its interval; NaN, none if chance alone would always agree or nothing weighs.

    rows: [n] codes of the first rater's labels; columns: [n, k] the second rater's, 1 in one column or shares of
    several; weights: [n]; clusters, raters: [n] codes, see effective_size. The interval has the 2.5 % and 97.5 %
    points of κ of tables drawn from Dirichlet(shares · n' + PRIOR / k²), with the table's shares and n' the
    effective size: never of width 0. With 15 to 60 labels of two kinds it held 95 % of true κs on average, resamples of
    the labels 73 to 91 %; with 15 labels of five kinds 84 to 93 %.
    Source: Basu, Banerjee & Sen, "Bayesian inference for kappa from single and multiple studies", Biometrics 56:577,
    2000.
    """
    table = np.stack([(weights * (rows == row)) @ columns for row in range(columns.shape[1])])
    shares = ratio(table, table.sum())
    value = float(kappas(shares[None], quadratic)[0])
    if math.isnan(value):
        return value, (None, None)
    influence = (kappa_influence(shares, quadratic)[rows] * columns).sum(axis=1)
    alpha = shares * effective_size(influence, weights, clusters, raters) + PRIOR / shares.size
    drawn = np.random.default_rng(seed).standard_gamma(alpha, (POSTERIOR, *shares.shape))
    return value, percentiles(kappas(drawn, quadratic))


def kappa_influence(table: Floats, quadratic: bool = False) -> Floats:
    """Return how much κ of a table of shares [k, k] moves per item added to each cell: [k, k].

        κ = 1 − D/E, D = Σ v·share, E = Σ v·row·column;  ψ = −(v − D)/E + D/E²·(v·column + v·row − 2E)

    Its mean over the table is 0, and its variance / n is κ's large-sample variance (Fleiss, Cohen & Everitt 1969). NaN
    where chance alone would always agree.
    """
    places = np.arange(len(table), dtype=np.float64)
    apart = places[:, None] - places[None, :]
    weight = apart**2 if quadratic else (apart != 0).astype(np.float64)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    observed, expected = float((weight * table).sum()), float(rows @ weight @ columns)
    margins = (weight @ columns)[:, None] + (rows @ weight)[None, :] - 2 * expected
    expected = expected if expected > 0 else np.nan
    return np.asarray(-(weight - observed) / expected + observed / expected**2 * margins)
