"""How far two samples of a score are apart (Kolmogorov–Smirnov, stability index), and the exact interval of a share."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.intervals import exact_upper
from metrics.stats.sequential import Bounds

BINS = 10  # of about as many scores each
SMOOTHING = 0.5  # added to the count of each bin, so that an empty one has a logarithm


@dataclass(frozen=True, slots=True)
class Drift:
    """How far two samples are apart; no test: of two samples of one distribution neither is 0."""

    ks: float
    psi: float


def drift(reference: Floats, current: Floats) -> Drift:
    """Return both statistics of two samples without NaN; ValueError where one is empty.

    Of 100 scores against 1,000 and ten bins the index is about .1 by chance alone, its customary limit.
    """
    if not len(reference) or not len(current):
        raise ValueError("both samples need a score")
    cells, places = np.unique(np.concatenate([current, reference]), return_inverse=True)
    pooled = np.bincount(places, minlength=len(cells)).astype(np.int64)
    mine = np.bincount(places[: len(current)], minlength=len(cells)).astype(np.int64)
    bins = equal_bins(pooled)
    binned, binned_mine = np.bincount(bins, pooled).astype(np.int64), np.bincount(bins, mine).astype(np.int64)
    return Drift(float(ks_distance(mine, pooled)), float(stability_index(binned_mine, binned)))


def ks_distance(mine: Ints, pooled: Ints) -> Floats:
    """Return max |F₁ − F₂| of a sample and the rest of a pool, from counts [..., cell] in rising order of the value.

    Source: Kolmogorov 1933, Smirnov 1939.
    """
    of_mine, of_all = np.cumsum(mine, axis=-1), np.cumsum(pooled)
    n = of_mine[..., -1:]
    apart = of_mine / n - (of_all - of_mine) / (of_all[-1] - n)
    return np.asarray(np.abs(apart).max(axis=-1))


def stability_index(mine: Ints, pooled: Ints) -> Floats:
    """Return Σ (p − q) ln(p / q) over bins, p and q the shares of a sample and the rest of a pool; counts: [..., bin].

    Each count is raised by one half first. Also known as Jeffreys' divergence.
    """
    rest = pooled - mine
    p = (mine + SMOOTHING) / (mine.sum(axis=-1, keepdims=True) + SMOOTHING * mine.shape[-1])
    q = (rest + SMOOTHING) / (rest.sum(axis=-1, keepdims=True) + SMOOTHING * mine.shape[-1])
    return np.asarray(((p - q) * np.log(p / q)).sum(axis=-1))


def equal_bins(pooled: Ints) -> Ints:
    """Return the bin of each value, from the counts of the pool in rising order: about a tenth of the pool each.

    A value that fills a bin alone has one of its own, and up to ten values have one each. The bins are of the pool, not
    of the reference, so that a permutation leaves them as they are.
    """
    if len(pooled) <= BINS:
        return np.arange(len(pooled))
    full = pooled.sum() / BINS
    bins = np.zeros(len(pooled), np.int64)
    held, number = 0.0, 0
    for place, count in enumerate(pooled.tolist()):
        if held and (held >= full or count >= full):
            number, held = number + 1, 0.0
        bins[place] = number
        held += count
    return bins


def exact_share(shares: Floats, level: float) -> Bounds:
    """Return the interval of a mean share that misses it with a chance of at most `level`, from that of each unit.

    Clopper and Pearson's for single cases, whose share is 0 or 1: all m with P(X ≥ k | m) and P(X ≤ k | m) above
    level / 2. For clusters with as many cases as have the same standard error. Sources: Clopper & Pearson, Biometrika
    26:404, 1934; Korn & Graubard, Survey Methodology 24:193, 1998.

    Args:
        shares: Of each independent unit, [unit], in [0, 1]; two or more.
        level: In (0, 1).

    >>> low, high = exact_share(np.repeat([0.0, 1.0], [12, 88]), 0.05)
    >>> round(low, 4), round(high, 4)
    (0.7998, 0.9364)
    """
    mean, variance = float(shares.mean()), float(shares.var()) / len(shares)
    n = len(shares) if variance <= EQUAL**2 else int(mean * (1 - mean) / variance + 1e-6)
    most, least = int(np.ceil(mean * n - 1e-6)), int(np.floor(mean * n + 1e-6))
    return Bounds(1 - exact_upper(n - least, n, level / 2), exact_upper(most, n, level / 2))
