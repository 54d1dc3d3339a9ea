"""Answering only when sure: risk and coverage, and a threshold of the score with a guarantee."""

import math
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import at_most
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import ratio, whole_from
from metrics.stats.intervals import binomial_tail

STARTS = 5  # most places where the search for a threshold begins, each with its part of the risk
FORESEEN = 10  # times as many cases: beyond, no number of missing cases is given
LEVELS = 100  # thresholds that are tried: the scores at so many evenly spaced coverages


class RiskCoverage(NamedTuple):
    """At each distinct score, from the highest: the share of the cases at or above it, and how many of them are wrong.

    threshold, coverage, risk: [k]; answered, wrong: [k] the counts behind them.
    """

    threshold: Floats
    coverage: Floats
    risk: Floats
    answered: Ints
    wrong: Ints


class Guarantee(NamedTuple):
    """A threshold from which on answers are given, and what was seen there: answers, wrong ones, of how many cases."""

    threshold: float
    answered: int
    wrong: int
    n: int

    @property
    def coverage(self) -> float:
        """The share of the cases that are answered."""
        return self.answered / self.n


def risk_coverage(score: Floats, wrong: Bools) -> RiskCoverage:
    """Return risk and coverage of cases with a `score` [n] (finite, higher is surer) that are `wrong` [n] or right."""
    order = np.argsort(-score, kind="stable")
    ordered, mistakes = score[order], np.cumsum(wrong[order].astype(np.int64))
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(score) else np.zeros(0, np.int64)
    answered, missed = last + 1, mistakes[last] if len(score) else np.zeros(0, np.int64)
    return RiskCoverage(
        ordered[last], answered / max(1, len(score)), missed / np.maximum(answered, 1), answered, missed
    )


def risk_areas(score: Floats, wrong: Bools, draws: Draws) -> Floats:
    """Return the mean risk over all coverages of a data set and of its resamples [1 + B]; NaN without cases.

    Cases with equal scores are answered together, a part of them at random. With b answers and m mistakes before the w
    cases of a score, of which the share r is wrong, the risk is (m + r·x) / (b + x) for x from 0 to w:

        area = 1/n · Σ r·w + (m − r·b) · ln((b + w) / b)

    It is the limit of the mean over the coverages 1/n, 2/n … 1 (AURC), and the same for every case twice. 0: no
    mistakes; an order by chance has the error rate. Source: Geifman, Uziel & El-Yaniv, ICLR 2019.

    >>> surest_right = np.array([False, True])
    >>> risk_areas(np.array([0.9, 0.8]), surest_right, Draws.of(np.arange(2), 0)).round(3).tolist()
    [0.153]
    """
    distinct, codes = np.unique(-score, return_inverse=True)
    kinds = len(distinct)
    own = draws.sums(codes, kinds)
    missed = draws.sums(codes[wrong], kinds, cases=np.flatnonzero(wrong))
    before = np.cumsum(own, axis=1) - own
    mistakes = np.cumsum(missed, axis=1) - missed
    rate = ratio(missed, own, 0.0)
    first = before <= 0
    growth = np.log1p(ratio(own, before, 0.0))
    parts = rate * own + np.where(first, 0.0, (mistakes - rate * before) * growth)
    return ratio(parts.sum(axis=1), own.sum(axis=1))


def fewest_answers(most: float = 0.05, sure: float = 0.95) -> int:
    """Return how many answers, all of them right, show that at most the share `most` is wrong; 59 for 5 % and 95 %."""
    return whole_from(math.log(1 - sure) / math.log1p(-most))


def guaranteed(curve: RiskCoverage, most: float = 0.05, sure: float = 0.95) -> Guarantee | None:
    """Return the lowest threshold whose answers are wrong at most `most` of the time, with a chance of `sure`.

    In a share `sure` of data sets the answers to new cases from the threshold on are wrong in at most the share `most`
    of cases; None where these cases show it of no threshold. The cases must be independent and drawn as the new ones.

    Thresholds are tested by the binomial tail of their mistakes, in sequences from few answers to many, each up to the
    first threshold that is not shown. A sequence begins at the fewest answers that can show one; with more cases, up to
    STARTS sequences begin at evenly spaced numbers of answers, each with an equal part of 1 − sure. However many
    thresholds are tried, the risk of one false guarantee is at most 1 − sure. Source: Angelopoulos, Bates, Candès,
    Jordan & Lei 2021, Learn then Test (fixed sequence testing from several starts); Geifman & El-Yaniv 2017.
    """
    n = int(curve.answered[-1]) if len(curve.answered) else 0
    if n < fewest_answers(most, sure):
        return None
    places = _tried(curve)
    answered = curve.answered[places]
    starts = min(STARTS, n // fewest_answers(most, sure))
    level = (1 - sure) / starts
    fewest = fewest_answers(most, 1 - level)
    shown = at_most(binomial_tail(curve.wrong[places], answered, most), level)
    best = -1
    for first in np.searchsorted(answered, np.linspace(fewest, n, starts, endpoint=False)).tolist():
        stop = first + int(np.argmin(np.append(shown[first:], False)))
        best = max(best, stop - 1 if stop > first else -1)
    if best < 0:
        return None
    place = places[best]
    return Guarantee(float(curve.threshold[place]), int(curve.answered[place]), int(curve.wrong[place]), n)


def cases_missing(curve: RiskCoverage, most: float = 0.05, sure: float = 0.95) -> int | None:
    """Return how many more cases it takes to guarantee a threshold, if at each the same share of answers stays wrong.

    Up to `fewest_answers` it is what lacks to them. None where too many answers are wrong at every threshold, or it
    would take more than FORESEEN times the cases. The share wrong is taken as (wrong + ½) / (answers + 1): a few right
    answers promise nothing.
    """
    n = int(curve.answered[-1]) if len(curve.answered) else 0
    if n < fewest_answers(most, sure):
        return fewest_answers(most, sure) - n
    places = _tried(curve)
    share = curve.answered[places] / n
    risk = (curve.wrong[places] + 0.5) / (curve.answered[places] + 1)
    total = n
    while (total := math.ceil(total * 1.1)) <= FORESEEN * n:
        answered = np.floor(share * total).astype(np.int64)
        wrong = np.ceil(risk * answered).astype(np.int64)
        if (binomial_tail(wrong, answered, most) <= (1 - sure) / STARTS).any():
            return total - n
    return None


def _tried(curve: RiskCoverage) -> Ints:
    """Return the places in the curve of the thresholds that are tested, at most LEVELS of them."""
    wanted = np.ceil(np.arange(1, LEVELS + 1) * curve.answered[-1] / LEVELS)
    return np.unique(np.searchsorted(curve.answered, wanted))
