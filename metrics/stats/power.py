"""Power: the difference that given cases detect, the cases that a difference or a width needs, before any run too."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from metrics.core.rounding import NEAR, exact_sum
from metrics.stats.float_tolerance import root
from metrics.stats.intervals import wilson
from metrics.stats.student_t import student

Kind = Literal["share", "mean", "wins", "difference", "kappa"]
POWER = 0.8416212335729143  # the standard normal's 80 % point
Stretch = Callable[[float], float]  # by how much a test of so many clusters is stricter than Student's t


def detectable(error: float, clusters: float, stretch: Stretch | None = None) -> float:
    """Return the true difference that a two-sided test at 5 % detects with 80 % power: (t + 0.84)·error.

    Infinite of fewer than two clusters.

    stretch: of a test that is made at every look, metrics.stats.sequential.anytime_stretch; t is multiplied by it.
    """
    factor = 1.0 if stretch is None else stretch(clusters)
    return (student(clusters - 1) * factor + POWER) * error


def units_needed(error: float, clusters: float, difference: float, stretch: Stretch | None = None) -> int:
    """Return how many clusters are needed to detect a true `difference` > 0 with 80 % power.

    error: the standard error that the present number of `clusters` gives. The least c ≥ 2 with (t·stretch +
    0.84)·error·√(clusters / c) ≤ difference, t of c − 1 degrees of freedom.

    >>> units_needed(0.02, 100, detectable(0.02, 100))
    100
    """
    spread = error * math.sqrt(clusters)
    return _least(lambda units: detectable(spread / math.sqrt(units), units, stretch), difference)


def kappa_deviation(kappa: float, share: float) -> float:
    """Return √n times the standard error of Cohen's κ of two raters who both pass a `share` of n outputs.

    kappa: 0 ≤ κ < 1; share: 0 … 1, without the ends. With p = share, q = 1 − p:

        (1 − pe)²·n·Var κ = Σ p_ii·(1 − 2·p_i·(1 − κ))² + 2·pq·(1 − κ)³ − (κ − pe·(1 − κ))²,
        p_ii = p_i² + κ·pq,  pe = p² + q²

    Source: Fleiss, Cohen & Everitt, Psychological Bulletin 72:323, 1969, for two labels and equal margins.

    >>> round(kappa_deviation(0.0, 0.5), 6), round(kappa_deviation(0.6, 0.5), 6)
    (1.0, 0.8)
    """
    mixed, lack = share * (1 - share), 1 - kappa
    chance = 1 - 2 * mixed
    agreed = exact_sum((p * p + kappa * mixed) * (1 - 2 * p * lack) ** 2 for p in (share, 1 - share))
    variance = agreed + 2 * mixed * lack**3 - (kappa - chance * lack) ** 2
    return float(root(variance)) / (2 * mixed)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a suite is to find out, before it is run, and how precisely n of its cases would tell.

    deviation: the standard deviation of what one case contributes: √(p·(1 − p)) of a share, that of the scores of a
    mean, of the differences of two models (√d where they are right or wrong and differ in a share d of the cases), or
    kappa_deviation. share: the expected share, whose interval is Wilson's; None of anything else. effect: by what the
    variance is multiplied, as by `design_effect`.
    """

    deviation: float
    share: float | None = None
    effect: float = 1.0

    def half_width(self, cases: float) -> float:
        """Return half of the 95 % interval that so many cases are expected to give; infinite of 1 and of none."""
        worth = cases / self.effect
        if self.share is not None:
            low, high = wilson(self.share * worth, worth)
            return math.inf if low is None or high is None else (high - low) / 2
        return student(worth - 1) * self.deviation / math.sqrt(worth) if worth > 1 else math.inf

    def detectable(self, cases: float) -> float:
        """Return the difference (of two models, or from a limit) that a test at 5 % detects with 80 % power."""
        worth = cases / self.effect
        return detectable(self.deviation / math.sqrt(worth), worth) if worth > 1 else math.inf

    def cases_for_width(self, half_width: float) -> int:
        """Return the least cases whose interval is expected to be ± `half_width` > 0.

        >>> Aim(0.4, 0.8).cases_for_width(0.05)
        245
        """
        return _least(self.half_width, half_width)

    def cases_to_detect(self, difference: float) -> int:
        """Return the least cases that detect a true `difference` > 0 with 80 % power."""
        return _least(self.detectable, difference)


def aim(kind: Kind, expected: float, share: float = 0.5, effect: float = 1.0) -> Aim:
    """Return the aim of a kind, given what is expected.

    expected: of a "share" its value; of a "mean" or a "difference" of two models the standard deviation of the scores,
    or of their differences; of "wins", two models that are right or wrong, the share of cases in which they differ; of
    "kappa" κ, with the `share` that both raters pass. ValueError outside of these ranges.
    """
    shares = kind in ("share", "wins", "kappa")
    if not expected >= 0 or (shares and expected > 1) or not 0 < share < 1 or (kind == "kappa" and expected == 1):
        raise ValueError(f"found {kind} {expected:g}, share {share:g}; expected shares and κ between 0 and 1")
    if kind == "share":
        return Aim(math.sqrt(expected * (1 - expected)), expected, effect)
    if kind == "wins":
        return Aim(math.sqrt(expected), effect=effect)
    return Aim(kappa_deviation(expected, share) if kind == "kappa" else expected, effect=effect)


def design_effect(group: float = 1.0, icc: float = 0.0, repeats: int = 1, repeat_share: float = 0.0) -> float:
    """Return by what cases in groups multiply the variance of a mean, and repeats divide it.

    group: cases of a group, alike by the intraclass correlation `icc`; repeats: answers of a case, of whose score's
    variance repeat_share lies between repeats. (1 + (group − 1)·icc) · (1 − repeat_share + repeat_share / repeats).
    Source: Kish, Survey Sampling, 1965, ch. 5.4, for groups.

    >>> design_effect(group=5, icc=0.5), design_effect(repeats=2, repeat_share=0.5)
    (3.0, 0.75)
    """
    return (1 + (group - 1) * icc) * (1 - repeat_share + repeat_share / repeats)


def _least(precision: Callable[[float], float], wanted: float) -> int:
    """Return the least number ≥ 2 of cases with a `precision`, which falls with their number, of `wanted` > 0."""
    low, high = 2, 2
    while precision(high) > wanted * (1 + NEAR):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if precision(middle) <= wanted * (1 + NEAR) else (middle + 1, high)
    return low
