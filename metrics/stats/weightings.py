"""Weighted sums of several metrics: their intervals, and how much a ranking by them depends on the weights."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.float_tolerance import highest_place
from metrics.stats.intervals import mean_intervals
from metrics.stats.ratios import ratio

DRAWS = 10_000  # weightings: a share is known to ± 1 point


class WeightTurn(NamedTuple):
    """The least change of one weight that makes another model lead: the weight of `part` becomes `weight`."""

    part: int
    weight: float
    model: int


def weighted_intervals(
    parts: Floats, shares: Floats, weights: Floats | None = None, clusters: Ints | None = None, seed: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Return the means [m] of Σ share·part over the rows that have every part, and their 95 % intervals (low, high).

    parts: [k, n, m] in 0 … 1, NaN for none; shares: [k], sum 1; weights: [n]; clusters: [n] codes; see mean_intervals.

    A part that is equal in all rows, such as a share without a failure, says nothing of its own error. Where the others
    vary, its interval alone is put to the sum's: mean − √((mean − low)² + Σ (share·(value − own low))²), and so the
    upper end. Source: Zou & Donner, Statistics in Medicine 27:1693, 2008.
    """
    sums = np.tensordot(shares, parts, 1)
    there = ~np.isnan(sums)
    mass = there if weights is None else there * weights[:, None]
    mean = ratio((np.where(there, sums, 0.0) * mass).sum(axis=0), mass.sum(axis=0))
    low, high, _ = mean_intervals(sums, weights, clusters, seed, 0.0, 1.0)
    still = np.array([_spread(part, there) <= EQUAL for part in parts]) & (_spread(sums, there) > EQUAL)
    below, above = (mean - low) ** 2, (high - mean) ** 2
    for part, share, alone in zip(parts, shares, still, strict=True):
        if alone.any():
            own = np.where(there, part, np.nan)[:, alone]
            value = np.nanmax(own, axis=0)
            first, last, _ = mean_intervals(own, weights, clusters, seed, 0.0, 1.0)
            below[alone] += (share * (value - first)) ** 2
            above[alone] += (share * (last - value)) ** 2
    return mean, np.maximum(mean - np.sqrt(below), 0.0), np.minimum(mean + np.sqrt(above), 1.0)


def _spread(values: Floats, there: Bools) -> Floats:
    """Return by how much the values [n, m] of each column differ where they count; below 0 where none does."""
    most, least = (np.where(there, values, far) for far in (-np.inf, np.inf))
    return np.asarray(most.max(axis=0, initial=-np.inf) - least.min(axis=0, initial=np.inf), np.float64)


def first_shares(parts: Floats, seed: int = 0) -> Floats:
    """Return the share [m] of all weightings in which each of m models is first, from `parts` [k, m], 1 the best.

    The weightings are DRAWS uniform ones of the simplex wᵢ ≥ 0, Σw = 1 (Dirichlet's distribution with all parameters
    1). Models that are equal share a first place. Source: Lahdelma, Hokkanen & Salminen, European Journal of
    Operational Research 106:137, 1998 (the rank acceptability index of SMAA).

    >>> first_shares(np.array([[1.0, 0.0], [0.0, 1.0]])).round(1).tolist()
    [0.5, 0.5]
    """
    sums = np.random.default_rng(seed).dirichlet(np.ones(len(parts)), DRAWS) @ parts
    first = sums >= sums.max(axis=1, keepdims=True) - EQUAL
    return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0), np.float64)


def turning_point(parts: Floats, weights: Floats) -> WeightTurn | None:
    """Return the least change of one of the `weights` [k] (sum 1) after which another model has the largest sum.

    parts: [k, m]. The other weights keep their ratios and the sum stays 1, so that a model's sum is x·part + (1 − x) ·
    its mean over the other parts, x being the weight. None where no change of a single weight does it: another model
    must be better in that part and worse in the rest, or the reverse.

    >>> turning_point(np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([0.6, 0.4]))
    WeightTurn(part=0, weight=0.3333333333333333, model=1)
    """
    sums = weights @ parts
    leader = highest_place(sums)
    found: list[
        tuple[float, float, WeightTurn]
    ] = []  # by the change; of equal ones, as of two weights, the heavier one's
    for part, weight in enumerate(weights.tolist()):
        if weight >= 1:
            continue
        rest = (sums - weight * parts[part]) / (1 - weight)
        ahead, behind = parts[part, leader] - parts[part], rest[leader] - rest
        for model in np.flatnonzero(ahead * behind < -(EQUAL**2)).tolist():
            at = float(behind[model] / (behind[model] - ahead[model]))
            found.append((round(abs(at - weight), 9), -weight, WeightTurn(part, at, model)))
    return min(found)[2] if found else None
