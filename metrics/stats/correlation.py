"""Correlations of paired numbers, and how much each pair moves them: Pearson's r, Spearman's ρ, Kendall's τ-b."""

import math
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.draws import Draws

PERFECT = 1 - 1e-12  # a correlation from which on rounding decides


class Correlation(NamedTuple):
    """A correlation, −1 … 1, and how much each of the n pairs moves it, to first order; NaN where one side is constant.

    The influences [n] add up to 0, their squares to the variance of the value.
    """

    value: float
    influence: Floats


def pearson(x: Floats, y: Floats) -> Correlation:
    """Return the correlation of x and y [n]: Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² · Σ(y − ȳ)²).

    The influences are the jackknife's, by what r is without each pair: in few pairs one moves it by more than to first
    order.
    """
    u, v = _centred(x), _centred(y)
    found = _of_moments(u * v, u * u, v * v)
    n = len(u)
    if n < 3 or math.isnan(found.value) or abs(found.value) >= PERFECT:
        return found
    out = n / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = (u @ v - out * u * v) / np.sqrt((u @ u - out * u * u) * (v @ v - out * v * v))
    moved = (1 - 1 / n) * (found.value - np.clip(np.where(np.isfinite(without), without, found.value), -1.0, 1.0))
    return Correlation(found.value, moved - moved.mean())


def spearman(x: Floats, y: Floats) -> Correlation:
    """Return Spearman's ρ, the correlation of mid-ranks.

    A pair moves the ranks of the others, too: its influence is that of the moments of the mid-distribution functions F
    and G, such as (F(x) − ½)(G(y) − ½) + E[(1{X > x} + ½·1{X = x}) (G(Y) − ½)] + the same of y, less the mean.
    Source: Croux & Dehon, Influence functions of the Spearman and Kendall correlation measures, 2010.
    """
    if _constant(x) or _constant(y):
        return _nothing(len(x))
    f, g = _mid(x), _mid(y)
    above_x, above_y = (_Above(values) for values in (x, y))
    own = f * g
    return _of_moments(
        own, f * f, g * g,
        moved=(above_x.means(g) + above_y.means(f), 2 * above_x.means(f), 2 * above_y.means(g)),
    )  # fmt: skip


def kendall(x: Floats, y: Floats) -> Correlation:
    """Return Kendall's τ-b: (concordant − discordant pairs) / √(pairs that x orders · pairs that y orders).

    In O(n log n) steps. Sources: Kendall 1945; the influences are those of a U-statistic, Hoeffding 1948.
    """
    n = len(x)
    if _constant(x) or _constant(y):
        return _nothing(n)
    left, right = (1 - (_times(values) - 1) / (n - 1) for values in (x, y))  # the share of the others that differ
    return _of_moments(_concordance(x, y) / (n - 1), left, right, degree=2)


def resampled(found: Correlation, draws: Draws) -> Floats:
    """Return a correlation in the data set and its resamples, [1 + B], moved by the influences on Fisher's scale.

    atanh moves by influence / (1 − value²); the result stays within −1 … 1.
    """
    drawn = draws.times.shape[1]
    room = 1 - found.value**2
    if abs(found.value) >= PERFECT or math.isnan(found.value):
        return np.full(len(draws.times), found.value)
    moved = draws.sums(np.zeros(len(found.influence), np.int64), 1, found.influence / room)[:, 0]
    values: Floats = np.tanh(math.atanh(found.value) + moved * math.sqrt(drawn / max(1, drawn - 1)))
    values[0] = found.value
    return values


def _of_moments(
    xy: Floats, xx: Floats, yy: Floats, moved: tuple[Floats, Floats, Floats] | None = None, degree: int = 1
) -> Correlation:
    """Return mean(xy) / √(mean(xx) · mean(yy)); `moved`: by how much each pair moves the terms of the others.

    degree: 2 where a term is itself a mean over the other pairs, so that a pair is in it twice.
    """
    n = len(xy)
    means = [float(terms.mean()) if n else 0.0 for terms in (xy, xx, yy)]
    scale = math.sqrt(means[1]) * math.sqrt(means[2])
    if n < 2 or scale <= 0:
        return _nothing(n)
    value = min(1.0, max(-1.0, means[0] / scale))
    parts = []
    for place, (terms, mean) in enumerate(zip((xy, xx, yy), means, strict=True)):
        part = degree * (terms - mean)
        if moved is not None:
            part = part + moved[place] - moved[place].mean()
        parts.append(part)
    influence = parts[0] / scale - value / 2 * (parts[1] / means[1] + parts[2] / means[2])
    return Correlation(value, influence / n)


def _nothing(n: int) -> Correlation:
    return Correlation(math.nan, np.full(n, np.nan))


def _constant(values: Floats) -> bool:
    return len(values) < 2 or bool((values == values[0]).all())


def _centred(values: Floats) -> Floats:
    """Return the values less their mean, of a size whose squares neither vanish nor overflow; 0 where all are equal."""
    if _constant(values):
        return np.zeros(len(values))
    apart: Floats = values / np.abs(values).max()
    apart = apart - apart.mean()
    largest: float = np.abs(apart).max()
    return np.asarray(apart / largest) if largest > 0 else apart


def _times(values: Floats) -> Ints:
    """Return how often each value occurs [n]."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    times: Ints = count[code]
    return times


def _mid(values: Floats) -> Floats:
    """Return the mid-distribution function of each value less ½: (values below + ½ of the equal ones) / n − ½."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    found: Floats = ((np.cumsum(count) - count / 2) / len(values) - 0.5)[code]
    return found


class _Above:
    """Means over the pairs that lie above each one, equal ones by half."""

    def __init__(self, values: Floats) -> None:
        distinct, self.code = np.unique(values, return_inverse=True)
        self.kinds = len(distinct)

    def means(self, terms: Floats) -> Floats:
        """Return Σ over j of (1{x_j > x_i} + ½·1{x_j = x_i}) · terms_j / n, for each i."""
        sums = np.bincount(self.code, terms, self.kinds)
        above = np.cumsum(sums[::-1])[::-1] - sums / 2
        return (above / len(terms))[self.code]


def _concordance(x: Floats, y: Floats) -> Floats:
    """Return of each pair by how many of the others agree with it in order more than disagree, ties not counted.

    The sign of a difference is the mean of those in two orders without ties, in which equal values stand in opposite
    order: so pairs that tie cancel.
    """
    agreement: Floats = np.mean([_agreements(a, b) for a in _orders(x) for b in _orders(y)], axis=0)
    return agreement


def _orders(values: Floats) -> list[Ints]:
    """Return the ranks of the values, 0 … n − 1, ties in order of place; where there are any, in the opposite, too."""
    n = len(values)
    ranks = np.empty(n, np.int64)
    order = np.argsort(values, kind="stable")
    ranks[order] = np.arange(n)
    in_order = values[order]
    if (in_order[1:] != in_order[:-1]).all():
        return [ranks]
    back = np.empty(n, np.int64)
    back[n - 1 - np.argsort(values[::-1], kind="stable")] = np.arange(n)
    return [ranks, back]


def _agreements(x: Ints, y: Ints) -> Ints:
    """Return, for permutations x and y of 0 … n − 1, the others in the same order less those in the opposite one.

    Of the items in the order of x, those before with a smaller y are counted bit by bit: among items whose higher bits
    agree, an item with a 1 comes after every one with a 0 that stands before it.
    """
    n = len(x)
    value = np.empty(n, np.int64)
    value[x] = y
    place = np.arange(n)  # of the items in `value`, stably sorted by the bits seen
    smaller = np.zeros(n, np.int64)
    for bit in reversed(range(max(1, n - 1).bit_length())):
        now = value[place]
        ones = (now >> bit) & 1
        group = now >> (bit + 1)
        zeros = np.cumsum(1 - ones) - (1 - ones)  # before each item
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        begin = np.repeat(starts, np.diff(starts, append=n))
        own = zeros - zeros[begin]
        smaller[place] += np.where(ones, own, 0)
        total = np.add.reduceat(1 - ones, starts)[np.repeat(np.arange(len(starts)), np.diff(starts, append=n))]
        at = begin + np.where(ones, total + (np.arange(n) - begin - own), own)
        moved = np.empty(n, np.int64)
        moved[at] = place
        place = moved
    below = smaller[x]  # x and y smaller
    return 4 * below - 2 * x - 2 * y + n - 1
