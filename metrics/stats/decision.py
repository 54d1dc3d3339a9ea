"""May one model replace another? Non-inferiority and equivalence within a margin, from a paired difference."""

import math
from dataclasses import dataclass
from typing import Literal

from metrics.stats.power import units_needed
from metrics.stats.sequential import FEWEST, anytime_stretch

Verdict = Literal["better", "equivalent", "not_worse", "worse", "open"]
TAIL = 0.025  # of each end of a 95 % interval


@dataclass(frozen=True, slots=True)
class Decision:
    """What a difference comes to under a margin, and the interval low … high that decides.

    better: significantly; equivalent: the interval lies within ± the margin; not_worse: it lies above − the margin;
    worse: significantly, and not known to be within the margin; open: neither is known. `more`: how many further
    units would answer, where it is open.
    """

    verdict: Verdict
    low: float
    high: float
    more: int | None = None


def decide(
    difference: float,
    interval: tuple[float, float],
    margin: float,
    units: int,
    error: float,
    significant: int = 0,
    never: tuple[bool, bool] = (False, False),
    most: float = 0.0,
    anytime: bool = False,
) -> Decision:
    """Decide from the `difference` b − a, above 0 where b is better, whether b may replace a.

    b is not worse (non-inferior) where the low end of the 95 % interval is above −margin: a one-sided test at 2.5 %.
    Two of them, one at each side, are the TOST of equivalence at 2.5 %, which is the interval within ±margin. The usual
    TOST at 5 % would take the 90 % interval; with the 95 % one, verdict and the interval that is shown agree.

    A resampled interval is no wider than what was seen. Where no unit of n is worse, up to 1 − 0.025^(1/n) of all units
    may be (Clopper & Pearson), each by `most`: the low end is at least that far below the difference, and likewise the
    high end where no unit is better; a significant difference keeps its interval. Without this, 10 units of which 4 %
    lose would pass in 66 % of the cases.

    Args:
        interval: the 95 % interval of the difference.
        margin: by how much b may be worse, > 0, in the metric's unit.
        units: independent units (cases, or groups of them), ≥ 1.
        error: standard error of the difference; NaN if it is not known.
        significant: 1 where b is significantly better, −1 where worse, after correction; else 0.
        never: whether no unit is worse; whether none is better.
        most: by how much a unit can differ at most, such as the metric's range.
        anytime: whether the interval holds at every look, see metrics.stats.sequential.

    `more` is the number of units, beyond these, with which an answer comes in at least 80 % of the cases if the true
    difference is the one found: that b is not worse, or that it is worse; None without an error.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15:657, 1987; EMA/CPMP/EWP/2158/99, 2005.

    >>> decide(-0.002, (-0.008, 0.004), 0.01, 500, 0.003)
    Decision(verdict='equivalent', low=-0.008, high=0.004, more=None)
    """
    if significant > 0:
        return Decision("better", *interval)
    unseen = most * (1 - TAIL ** (1 / units))
    low = min(interval[0], difference - unseen) if never[0] else interval[0]
    high = max(interval[1], difference + unseen) if never[1] else interval[1]
    if low > -margin:
        return Decision("equivalent" if high < margin else "not_worse", low, high)
    if significant < 0:
        return Decision("worse", *interval)
    needed = FEWEST if anytime else 0
    if error > 0:
        stretch = anytime_stretch if anytime else None
        needed = max(needed, units_needed(error, units, max(margin + difference, -difference), stretch))
    if never[0] and margin + difference < most:
        needed = max(needed, math.ceil(math.log(TAIL) / math.log1p(-(margin + difference) / most)))
    return Decision("open", low, high, max(1, needed - units) if needed else None)
