"""How much a ranking by a weighted sum depends on the weights."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats

DRAWS = 10_000  # weightings: a share is known to ± 1 point
EQUAL = 1e-12  # sums that are equal on paper differ in their last bits


class TurningPoint(NamedTuple):
    """The least change of one weight that makes another model lead: the weight of `part` becomes `weight`."""

    part: int
    weight: float
    model: int


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


def turning_point(parts: Floats, weights: Floats) -> TurningPoint | None:
    """Return the least change of one of the `weights` [k] (sum 1) after which another model has the largest sum.

    parts: [k, m]. The other weights keep their ratios and the sum stays 1, so that a model's sum is x·part + (1 − x) ·
    its mean over the other parts, x being the weight. None where no change of a single weight does it: another model
    must be better in that part and worse in the rest, or the reverse.

    >>> turning_point(np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([0.6, 0.4]))
    TurningPoint(part=0, weight=0.3333333333333333, model=1)
    """
    sums = weights @ parts
    leader = int(np.argmax(sums))
    found: list[
        tuple[float, float, TurningPoint]
    ] = []  # by the change; of equal ones, as of two weights, the heavier one's
    for part, weight in enumerate(weights.tolist()):
        if weight >= 1:
            continue
        rest = (sums - weight * parts[part]) / (1 - weight)
        ahead, behind = parts[part, leader] - parts[part], rest[leader] - rest
        for model in np.flatnonzero(ahead * behind < -(EQUAL**2)).tolist():
            at = float(behind[model] / (behind[model] - ahead[model]))
            found.append((round(abs(at - weight), 9), -weight, TurningPoint(part, at, model)))
    return min(found)[2] if found else None
