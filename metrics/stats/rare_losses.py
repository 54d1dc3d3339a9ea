"""How far a mean may lie from what was seen, as rare units that differ by much may be among those not seen.

An interval of a mean knows only the units it is made of. Of n units that hardly differ, up to 1 − 0.025^(1/n) of all
may lose everything. Every cut-off between the sizes of the losses divides the units into those that lose more and the
rest; for each, the share that loses more has an exact upper end. All cut-offs are looked at and the furthest reach
counts: a claim must hold at each of them, so their number needs no correction.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.cluster_variance import cluster_sums
from metrics.stats.float_tolerance import ratio, whole_from
from metrics.stats.intervals import exact_upper
from metrics.stats.sequential import BETS, bounds, evidence_below

TAIL = 0.025  # of each end of a 95 % interval
COUNTS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)  # units beyond a cut-off; of more, an interval knows enough
SHARE_VALUES = np.array([0.0, 1.0])  # of a unit that is not beyond a cut-off, and of one that is


class Side(NamedTuple):
    """The units on one side: those that lose, or those that win.

    sums: of the 0, 1, 2, 3, 4, 6, … units that differ most (COUNTS, as far as there are such units), by how much they
    differ together; most: by how much one unit can differ; units: how many independent ones there are on both sides, of
    unequal ones what they are worth. Without sums nothing is known of the side.
    """

    sums: tuple[float, ...] = ()
    most: float = 0.0
    units: int = 0

    @classmethod
    def of(cls, sizes: Floats, most: float, masses: Floats | None = None) -> Self:
        """Return one side of units that differ by `sizes` [n], not above 0 on the other side, with `masses` [n].

        Unequal units are worth (Σ mass)² / Σ mass² equal ones (Kish 1965).
        """
        falling = np.sort(sizes[sizes > 0])[::-1][: COUNTS[-1]]
        sums = np.concatenate([[0.0], falling.cumsum()])
        worth = len(sizes) if masses is None else math.floor(float(ratio(masses.sum() ** 2, (masses**2).sum(), 0.0)))
        return cls(tuple(sums[[count for count in COUNTS if count < len(sums)]].tolist()), most, worth)

    def reach(self, anytime: bool = False) -> float:
        """Return how much further than was seen this side may move the mean: the largest over the cut-offs k of

            (upper(k, n) − k/n)·(sum_k + most) / (k + 1)

        upper: Clopper and Pearson's 97.5 % end of the share beyond the cut-off, or, if it shall hold at every look
        while units arrive (`anytime`), that of a confidence sequence. The size is as if one more unit were known that
        differs by the most. 0 where nothing is known of the side.

        >>> round(Side((0.0,), 1.0, 20).reach(), 4), round(Side((0.0, 1.0), 1.0, 20).reach(), 4)
        (0.1684, 0.1987)
        """
        upper = _anytime_upper if anytime else share_upper
        return max(((upper(k, self.units) - k / self.units) * size for k, size in self._sizes()), default=0.0)

    def anytime_p(self, difference: float) -> float:
        """Return the two-sided p, valid at every look, that rare units of this side make up for a `difference` > 0.

        The largest over the cut-offs of 2 / Λ, Λ the evidence that the share beyond is below k/n + difference / size.
        """
        found = 0.0
        for k, size in self._sizes():
            share = k / self.units + (difference / size if size > 0 else 1.0)
            if share < 1:
                counts = np.array([[self.units - k, k]])
                found = max(found, 2 * math.exp(-float(evidence_below(counts, SHARE_VALUES, share)[0])))
        return min(1.0, found)

    def units_needed(self, distance: float, anytime: bool = False) -> int:
        """Return with how many units none of which loses the reach is `distance` > 0; 0 where none is needed.

        At every look it is at most that number, by the largest bet alone.

        >>> Side((0.0,), 1.0, 20).units_needed(0.01), Side((0.0,), 1.0, 20).units_needed(0.01, anytime=True)
        (368, 677)
        """
        if not self.sums or distance >= self.most:
            return 0
        share = distance / self.most
        if anytime:
            return whole_from(math.log(len(BETS) / TAIL) / math.log1p(BETS[0] * share / (1 - share)))
        return whole_from(math.log(TAIL) / math.log1p(-share))

    def _sizes(self) -> Iterator[tuple[int, float]]:
        """Yield how many units lie beyond each cut-off, fewer than there are, and the size that one of them has."""
        for k, total in zip(COUNTS, self.sums, strict=False):
            if k < self.units:
                yield k, (total + self.most) / (k + 1)


UNKNOWN = Side()


def both_sides(
    differences: Floats, most: float, weights: Floats | None = None, clusters: Ints | None = None
) -> tuple[Side, Side]:
    """Return the sides below and above 0 of paired `differences` [n].

    Units are the cases or their `clusters` (codes [n]). A unit differs by its part of the weighted mean, times the
    number of units.
    """
    if weights is None and clusters is None:
        return Side.of(-differences, most), Side.of(differences, most)
    masses = np.ones(len(differences)) if weights is None else weights
    sums = differences * masses
    if clusters is not None:
        masses, sums = cluster_sums(np.stack([masses, sums], axis=1), clusters).T
    there = masses > 0
    masses, sums = masses[there], sums[there]
    scaled = sums * float(ratio(masses.size * np.ones(1), masses.sum(), 0.0)[0])
    return Side.of(-scaled, most, masses), Side.of(scaled, most, masses)


@lru_cache(maxsize=4_096)
def share_upper(k: int, units: int) -> float:
    """Return Clopper and Pearson's 97.5 % end of a share that k of n units have."""
    return exact_upper(k, units, TAIL)


@lru_cache(maxsize=4_096)
def _anytime_upper(k: int, units: int) -> float:
    return bounds(np.array([units - k, k]), SHARE_VALUES, -math.log(TAIL)).high
