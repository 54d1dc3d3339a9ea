"""May one model replace another? Non-inferiority and equivalence within a margin, from a paired difference."""

import math
from dataclasses import dataclass
from typing import Literal

from metrics.core.rounding import EQUAL, at_least, at_most
from metrics.stats.power import units_needed
from metrics.stats.rare_losses import UNKNOWN, Side
from metrics.stats.sequential import FEWEST, anytime_stretch

Verdict = Literal["better", "equivalent", "not_worse", "worse", "open"]


@dataclass(frozen=True, slots=True)
class Decided:
    """What a difference comes to under a margin, and the interval low … high that decides.

    better: significantly; equivalent: the interval lies within ± the margin; not_worse: it lies above − the margin;
    worse: significantly, and not known to be within the margin; open: neither is known. `more`: how many further
    units would answer, where it is open.
    """

    verdict: Verdict
    low: float
    high: float
    more: int | None = None


def decide_noninferiority(
    difference: float,
    interval: tuple[float, float],
    margin: float,
    units: int,
    error: float,
    significant: int = 0,
    worse: Side = UNKNOWN,
    better: Side = UNKNOWN,
    anytime: bool = False,
) -> Decided:
    """Decide from the `difference` b − a, above 0 where b is better, whether b may replace a.

    b is not worse (non-inferior) where the low end of the 95 % interval is above −margin: a one-sided test at 2.5 %.
    Two of them, one at each side, are the TOST of equivalence at 2.5 %, which is the interval within ±margin. The usual
    TOST at 5 % would take the 90 % interval; with the 95 % one, verdict and the interval that is shown agree.

    An interval knows only what was seen, and rare losses may not have been: the low end is at least the reach of
    `worse` below the difference, the high end that of `better` above it, see metrics.stats.rare_losses. What is better
    must not be worse by the margin through rare losses either; else a significant difference keeps its interval.
    Simulated errors: `python -m tests.benchmarks.bench_decisions`.

    Args:
        interval: the 95 % interval of the difference; infinite ends are none.
        margin: by how much b may be worse, > 0, in the metric's unit.
        units: independent units (cases, or groups of them), ≥ 1.
        error: standard error of the difference; NaN if it is not known.
        significant: 1 where b is significantly better, −1 where worse, after correction; else 0.
        worse, better: the units that are, where they are known.
        anytime: whether the interval holds at every look, see metrics.stats.sequential.

    `more` is the number of units, beyond these, with which an answer comes in at least 80 % of the cases if the true
    difference is the one found: that b is not worse, or that it is worse; None without an error.
    Source: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15:657, 1987; EMA/CPMP/EWP/2158/99, 2005.

    >>> decide_noninferiority(-0.002, (-0.008, 0.004), 0.01, 500, 0.003)
    Decided(verdict='equivalent', low=-0.008, high=0.004, more=None)
    """
    low = min(interval[0], difference - worse.reach(anytime))
    high = max(interval[1], difference + better.reach(anytime))
    if not at_most(low, -margin):
        if significant > 0:
            return Decided("better", *interval)
        return Decided("equivalent" if not at_least(high, margin) else "not_worse", low, high)
    if significant < 0:
        return Decided("worse", *interval)
    needed = FEWEST if anytime else 0
    if error > EQUAL:
        stretch = anytime_stretch if anytime else None
        needed = max(needed, units_needed(error, units, max(margin + difference, -difference), stretch))
    if margin + difference > 0 and worse.units:
        needed = max(needed, math.ceil(worse.units_needed(margin + difference, anytime) * units / worse.units))
    return Decided("open", low, high, max(1, needed - units) if needed else None)
