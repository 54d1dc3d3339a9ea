"""Test whether two samples of a score have one distribution: Kolmogorov–Smirnov, population stability index."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints

BINS = 10  # of about as many scores each
DRAWS = 1_999  # permutations: the smallest p is 1 / 2,000
CHUNK = 2_000_000  # labels permuted at once
SMOOTHING = 0.5  # added to the count of each bin, so that an empty one has a logarithm
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Drift:
    """How far two samples are apart, and the p of a distance as large between two of one distribution."""

    ks: float
    ks_p: float
    psi: float
    psi_p: float


def drift(reference: Floats, current: Floats, seed: int = 0, draws: int = DRAWS) -> Drift:
    """Return both statistics of two samples without NaN, each with its permutation p; ValueError where one is empty.

    p = (1 + how many permutations are as extreme) / (1 + draws). It is exact for any sizes and any ties, which the
    tables of Kolmogorov and the customary .1 and .25 of the index are not: of 100 scores against 1,000 and ten bins the
    index is about .1 by chance alone.
    """
    if not len(reference) or not len(current):
        raise ValueError("both samples need a score")
    cells, places = np.unique(np.concatenate([current, reference]), return_inverse=True)
    pooled = np.bincount(places, minlength=len(cells)).astype(np.int64)
    mine = np.bincount(places[: len(current)], minlength=len(cells)).astype(np.int64)
    bins = equal_bins(pooled)
    binned, binned_mine = np.bincount(bins, pooled).astype(np.int64), np.bincount(bins, mine).astype(np.int64)
    rng = np.random.default_rng(seed)
    ks, psi = ks_distance(mine, pooled), stability_index(binned_mine, binned)
    as_far = sum(int((drawn >= ks - ROUNDING).sum()) for drawn in _ks_drawn(pooled, len(current), rng, draws))
    shuffled = rng.multivariate_hypergeometric(binned, len(current), size=draws)
    as_unstable = int((stability_index(shuffled, binned) >= psi - ROUNDING).sum())
    return Drift(float(ks), (1 + as_far) / (1 + draws), float(psi), (1 + as_unstable) / (1 + draws))


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


def _ks_drawn(pooled: Ints, n: int, rng: np.random.Generator, draws: int) -> list[Floats]:
    """Return the distance in each of `draws` permutations, in chunks."""
    total = int(pooled.sum())
    ends = np.cumsum(pooled) - 1
    labels = np.zeros(total, np.int8)
    labels[:n] = 1
    found = []
    step = max(1, CHUNK // total)
    for start in range(0, draws, step):
        shuffled = rng.permuted(np.broadcast_to(labels, (min(step, draws - start), total)), axis=1)
        mine = np.cumsum(shuffled, axis=1, dtype=np.int32)[:, ends] / n
        rest = (ends + 1 - mine * n) / (total - n)
        found.append(np.abs(mine - rest).max(axis=1))
    return found
