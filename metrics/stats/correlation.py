"""Correlations of paired numbers (Pearson's r, Spearman's ρ, Kendall's τ-b); least squares with clustered errors."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import distance_in_errors, ratio, root
from metrics.stats.student_t import student, student_p

PERFECT = 1 - EQUAL  # a correlation from which on rounding decides


@dataclass(frozen=True, eq=False, slots=True)
class Correlation:
    """A correlation, −1 … 1, NaN where one side is constant, and how much each of the n pairs moves it, to first order.

    The influences [n], asked for where there are resamples, are those of a pair of weight 1; times the weights they add
    up to 0, their squares to the variance of the value.
    """

    value: float
    influences: Callable[[], Floats]


@dataclass(frozen=True, eq=False, slots=True)
class Ranks:
    """The order of n values: the place of each among the different ones [n], and how often each of these occurs.

    weights: [n], None where all count alike; `times` are then the sums of weights.
    """

    code: Ints
    times: Ints | Floats
    weights: Floats | None = None

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> "Ranks":
        """Return the ranks of the values."""
        _, code, times = np.unique(values, return_inverse=True, return_counts=True)
        return cls(code, times if weights is None else np.bincount(code, weights), weights)

    @property
    def constant(self) -> bool:
        """Whether there are no two different values."""
        return len(self.times) < 2

    @property
    def mid(self) -> Floats:
        """The mid-distribution function of each value less ½: (values below + ½ of the equal ones) / n − ½."""
        return np.asarray(((np.cumsum(self.times) - self.times / 2) / self.times.sum() - 0.5)[self.code])

    @property
    def orders(self) -> list[Ints]:
        """The ranks 0 … n − 1, ties in order of place; where there are any, in the opposite, too."""
        n = len(self.code)
        if len(self.times) == n:
            return [self.code]
        ranks, back = np.empty(n, np.int64), np.empty(n, np.int64)
        ranks[np.argsort(self.code, kind="stable")] = np.arange(n)
        back[n - 1 - np.argsort(self.code[::-1], kind="stable")] = np.arange(n)
        return [ranks, back]

    def above(self, terms: Floats) -> Floats:
        """Return Σ over j of (1{x_j > x_i} + ½·1{x_j = x_i}) · terms_j / n, for each i."""
        sums = np.bincount(self.code, terms if self.weights is None else terms * self.weights, len(self.times))
        return np.asarray(((np.cumsum(sums[::-1])[::-1] - sums / 2) / self.times.sum())[self.code])


def pearson(x: Floats, y: Floats, weights: Floats | None = None, clusters: Ints | None = None) -> Correlation:
    """Return the correlation of x and y [n]: Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² · Σ(y − ȳ)²); weights: [n], default 1.

    The influences are the jackknife's, by what r is without each pair, or each of the clusters (codes [n]), whose
    pairs share its influence: of few, one moves it by more than to first order.
    """
    u, v = _centred(x, weights), _centred(y, weights)
    uv, uu, vv = u * v, u * u, v * v
    found = _of_moments(uv, uu, vv, weights)
    n = len(u)
    if n < 3 or math.isnan(found.value) or abs(found.value) >= PERFECT:
        return found

    def influences() -> Floats:
        own = np.ones(n) if weights is None else weights
        codes = np.arange(n) if clusters is None else clusters
        mass, total = np.bincount(codes, own), own.sum()
        sums = {id(terms): np.bincount(codes, own * terms) for terms in (u, v)}
        with np.errstate(invalid="ignore", divide="ignore"):
            left = [
                (own * a * b).sum() - np.bincount(codes, own * a * b) - sums[id(a)] * sums[id(b)] / (total - mass)
                for a, b in ((u, v), (u, u), (v, v))
            ]
            without = left[0] / np.sqrt(left[1] * left[2])
        without = np.clip(np.where(np.isfinite(without), without, found.value), -1.0, 1.0)
        moved: Floats = (1 - mass / total) * (found.value - without)
        return np.asarray(ratio(moved, mass, 0.0)[codes] - moved.sum() / total)

    return Correlation(found.value, influences)


def spearman(x: Ranks, y: Ranks) -> Correlation:
    """Return Spearman's ρ, the correlation of mid-ranks.

    A pair moves the ranks of the others, too: its influence is that of the moments of the mid-distribution functions F
    and G, such as (F(x) − ½)(G(y) − ½) + E[(1{X > x} + ½·1{X = x}) (G(Y) − ½)] + the same of y, less the mean.
    Source: Croux & Dehon, Influence functions of the Spearman and Kendall correlation measures, 2010.
    """
    if x.constant or y.constant:
        return _nothing(len(x.code))
    f, g = x.mid, y.mid
    return _of_moments(
        f * g, f * f, g * g, x.weights, moved=lambda: (x.above(g) + y.above(f), 2 * x.above(f), 2 * y.above(g))
    )


def kendall(x: Ranks, y: Ranks) -> Correlation:
    """Return Kendall's τ-b: (concordant − discordant pairs) / √(pairs that x orders · pairs that y orders).

    In O(n√n) steps. Sources: Kendall 1945; the influences are those of a U-statistic, Hoeffding 1948.
    """
    n = len(x.code)
    if x.constant or y.constant:
        return _nothing(n)
    own = 1 if x.weights is None else 0  # a pair is not one of the others; with weights its copies are left out as ties
    others = x.times.sum() - own
    left, right = (1 - (one.times[one.code] - own) / others for one in (x, y))  # the share of the others that differ
    return _of_moments(_concordance(x, y) / others, left, right, x.weights, degree=2)


def resampled(found: Correlation, draws: Draws) -> Floats:
    """Return a correlation in the data set and its resamples, [1 + B], moved by the influences on Fisher's scale.

    atanh moves by influence / (1 − value²); the result stays within −1 … 1.
    """
    drawn = draws.times.shape[1]
    room = 1 - found.value**2
    if len(draws.times) == 1 or abs(found.value) >= PERFECT or math.isnan(found.value):
        return np.full(len(draws.times), found.value)
    influences = found.influences()
    moved = draws.sums(np.zeros(len(influences), np.int64), 1, influences / room)[:, 0]
    values: Floats = np.tanh(math.atanh(found.value) + moved * math.sqrt(drawn / max(1, drawn - 1)))
    values[0] = found.value
    return values


def _of_moments(
    xy: Floats,
    xx: Floats,
    yy: Floats,
    weights: Floats | None = None,
    moved: Callable[[], tuple[Floats, ...]] | None = None,
    degree: int = 1,
) -> Correlation:
    """Return mean(xy) / √(mean(xx) · mean(yy)); `moved`: by how much each pair moves the terms of the others.

    degree: 2 where a term is itself a mean over the other pairs, so that a pair is in it twice.
    """
    n = len(xy)
    means = [_mean(terms, weights) if n else 0.0 for terms in (xy, xx, yy)]
    scale = math.sqrt(means[1]) * math.sqrt(means[2])
    if n < 2 or scale <= 0:
        return _nothing(n)
    value = min(1.0, max(-1.0, means[0] / scale))

    def influences() -> Floats:
        parts = [degree * (terms - mean) for terms, mean in zip((xy, xx, yy), means, strict=True)]
        if moved is not None:
            parts = [part + more - _mean(more, weights) for part, more in zip(parts, moved(), strict=True)]
        found: Floats = parts[0] / scale - value / 2 * (parts[1] / means[1] + parts[2] / means[2])
        return found / (n if weights is None else weights.sum())

    return Correlation(value, influences)


def _nothing(n: int) -> Correlation:
    return Correlation(math.nan, lambda: np.full(n, np.nan))


def _mean(terms: Floats, weights: Floats | None) -> float:
    return float(terms.mean() if weights is None else ratio(terms @ weights, weights.sum(), 0.0))


def _centred(values: Floats, weights: Floats | None) -> Floats:
    """Return the values less their mean, of a size whose squares neither vanish nor overflow; 0 where all are equal."""
    if len(values) < 2 or bool((values == values[0]).all()):
        return np.zeros(len(values))
    apart: Floats = values / np.abs(values).max()
    apart = apart - _mean(apart, weights)
    largest: float = np.abs(apart).max()
    return np.asarray(apart / largest) if largest > 0 else apart


def _concordance(x: Ranks, y: Ranks) -> Floats:
    """Return of each pair by how many of the others agree with it in order more than disagree, ties not counted.

    The sign of a difference is the mean of those in two orders without ties, in which equal values stand in opposite
    order: so pairs that tie cancel.
    """
    return np.asarray(np.mean([_agreements(a, b, x.weights) for a in x.orders for b in y.orders], axis=0))


def _agreements(x: Ints, y: Ints, weights: Floats | None) -> Ints | Floats:
    """Return, for permutations x and y of 0 … n − 1, the others in the same order less those in the opposite one."""
    value = np.empty(len(x), np.int64)
    value[x] = y
    if weights is None:
        return 4 * _smaller_before(value)[x] - 2 * x - 2 * y + len(x) - 1
    by_x, by_y = (np.empty(len(x)) for _ in range(2))
    by_x[x], by_y[y] = weights, weights
    left, lower = ((np.cumsum(own) - own)[rank] for own, rank in ((by_x, x), (by_y, y)))
    return np.asarray(4 * _smaller_before(value, by_x)[x] - 2 * left - 2 * lower + weights.sum() - weights)


def _smaller_before(values: Ints, weights: Floats | None = None) -> Ints | Floats:
    """Return for each of a permutation of 0 … n − 1 how many smaller ones stand before it, or their `weights` [n].

    Cut into √n blocks by place and into √n by value: those in a block before and a block of smaller values are read
    from a table of counts, those that share one of the two blocks are compared one by one. What fills the last block up
    is greater than all and stands behind them.
    """
    size, side = len(values), math.isqrt(len(values) - 1) + 1
    every = np.arange(side * side)
    values = np.concatenate([values, every[len(values) :]])
    place = np.empty_like(every)
    place[values] = every
    block, by_value = every // side, values // side
    if weights is not None:
        weights = np.concatenate([weights, np.zeros(len(every) - len(weights))])
    counts = np.bincount(block * side + by_value, weights, len(every)).reshape(side, side)
    before = np.zeros((side, side), counts.dtype)
    before[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]
    shape = (side, side)
    same_block = _smaller_in_row(values.reshape(shape), None if weights is None else weights.reshape(shape))
    same_values = _smaller_in_row(
        block[place].reshape(shape), None if weights is None else weights[place].reshape(shape)
    )
    found: Ints | Floats = before[block, by_value] + same_block.ravel() + same_values.ravel()[values]
    return found[:size]


def _smaller_in_row(rows: Ints, weights: Floats | None) -> Ints | Floats:
    """Return for each number of a square how many of those before it in its row are smaller, or their weights."""
    columns = np.ascontiguousarray(rows.T, np.min_scalar_type(rows.max()))
    if weights is not None:
        sums = np.zeros(columns.shape)
        for place, (column, own) in enumerate(zip(columns, weights.T, strict=True), 1):
            sums[place:] += (columns[place:] > column) * own
        return np.asarray(sums.T)
    found = np.zeros(columns.shape, np.min_scalar_type(len(columns)))
    for place, column in enumerate(columns, 1):
        found[place:] += (columns[place:] > column).view(np.uint8)
    return found.T.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient with its 95 % interval, and the two-sided p of a coefficient of 0."""

    value: float
    low: float
    high: float
    p: float


def clustered_coefficient(x: Floats, others: Floats, y: Floats, clusters: Ints) -> Coefficient | None:
    """Return how much y [n] rises with x [n] at equal `others` [n, k] (no constant among them), by least squares.

    The variance is the sandwich over clusters (codes [n]), (XᵀX)⁻¹ (Σ Xᵍᵀeᵍeᵍᵀ Xᵍ) (XᵀX)⁻¹ · c/(c−1) · (n−1)/(n−k),
    the interval Student's with c − 1 degrees of freedom. None where x does not vary beyond the others, or fewer than
    three clusters or more unknowns than observations are left. Source: Liang & Zeger 1986; Cameron & Miller 2015.
    """
    n = len(y)
    count = len(np.unique(clusters))
    around = np.column_stack([np.ones(n), others])
    rank = int(np.linalg.matrix_rank(around))
    if count < 3 or n <= rank + 1:
        return None
    own = x - around @ np.linalg.lstsq(around, x, rcond=None)[0]  # the part of x that the others do not explain
    size = float(own @ own)
    if size <= NEAR * max(1.0, float(x @ x)):
        return None
    value = float(own @ y) / size
    left = y - around @ np.linalg.lstsq(around, y, rcond=None)[0] - value * own
    sums = np.bincount(clusters, own * left)
    error = root(float(sums @ sums) * count / (count - 1) * (n - 1) / (n - rank - 1)) / size
    half = student(count - 1) * float(error)
    p = float(student_p(distance_in_errors(np.array([value]), error), np.array([count - 1]))[0])
    return Coefficient(value, value - half, value + half, p)
