"""Test whether an event is more frequent under a treatment than under its control, stratum by stratum."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats


class Stratum(NamedTuple):
    """Counts of one stratum: how many are treated and how many of these are hit, the same of its controls."""

    treated: int
    treated_hits: int
    control: int
    control_hits: int


def exact_excess(strata: Mapping[Stratum, int]) -> float | None:
    """Return the one-sided exact p of no more hits among the treated than among the controls of their own stratum.

    strata: how many there are of each outcome. Given a stratum's number of hits, how many of them fall on the treated
    is hypergeometric if it does not matter who was treated; p = P(Σ ≥ observed Σ), the strata independent. One treated
    and one control in each: McNemar's exact test; a single stratum: Fisher's. None where no stratum is informative
    (all hit, none hit, or no control). Source: Cochran 1954; Mantel & Haenszel 1959; in its exact form Gart 1970.

    >>> exact_excess({Stratum(1, 1, 1, 0): 3, Stratum(1, 0, 1, 1): 1})
    0.3125
    """
    kinds: Counter[tuple[int, int, int]] = Counter()
    observed = 0
    for stratum, many in strata.items():
        hits = stratum.treated_hits + stratum.control_hits
        if many and stratum.treated and stratum.control and 0 < hits < stratum.treated + stratum.control:
            kinds[stratum.treated, stratum.control, hits] += many
            observed += many * stratum.treated_hits
    if not kinds:
        return None
    sums = np.ones(1)
    for kind, count in kinds.items():
        sums = np.convolve(sums, _power(_hypergeometric(*kind), count))
    return float(min(1.0, sums[observed:].sum()))


def _hypergeometric(treated: int, control: int, hits: int) -> Floats:
    """P(0), P(1) … of how many of the hits fall on the treated."""
    total = math.comb(treated + control, hits)
    most = min(treated, hits)
    return np.array([math.comb(treated, own) * math.comb(control, hits - own) / total for own in range(most + 1)])


def _power(chances: Floats, times: int) -> Floats:
    """Return the distribution of the sum of `times` independent draws, by squaring."""
    found = np.ones(1)
    while times:
        if times & 1:
            found = np.convolve(found, chances)
        times >>= 1
        if times:
            chances = np.convolve(chances, chances)
    return found
