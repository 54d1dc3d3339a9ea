"""How often each rater errs, and which share of the outputs truly passes, estimated from several raters'
labels; and whether a metric's verdicts may take the place of a person's labels: the alternative annotator test.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.analysis.labels.human_labels import human_labels
from metrics.analysis.labels.judge_agreement import ENOUGH, UNDEFINED, Sample, Stat, cut_of, lacking, stat_of
from metrics.analysis.labels.labelled_scores import labelled_scores, output_clusters, passing_labels
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Bools, Floats
from metrics.core.rounding import at_least, exact_sum
from metrics.core.sampling_design import cluster_codes
from metrics.stats import rater_agreement
from metrics.store import Run

FEWEST_OUTPUTS = 50  # with two labels or more
FEWEST_OF_KIND = 30  # that truly pass, or fail: of fewer, intervals of sensitivity or specificity held 73 to 88 %
Obstacle = Literal["", "graded", "raters", "outputs"]
EPSILON = 0.1  # by which the judge may be behind a rater, for what people cost more: of crowd workers, the strictest


@dataclass(frozen=True, slots=True)
class RaterError:
    """One rater: `labels`, the share of them that pass, and of what truly passes and fails the share the rater says."""

    rater: str
    labels: int
    passes: float
    sensitivity: Stat
    specificity: Stat


@dataclass(frozen=True, slots=True)
class RaterErrors:
    """Dawid and Skene's estimates over `n` outputs with two labels or more; sample: whom they speak of, see Agreement.

    share: of the outputs that truly pass. obstacle: why nothing is estimated: grades, no three raters each two of whom
    share ENOUGH outputs, or fewer than FEWEST_OUTPUTS outputs.
    """

    n: int
    sample: Sample
    share: Stat = UNDEFINED
    raters: tuple[RaterError, ...] = ()
    obstacle: Obstacle = ""


def rater_errors(run: Run, criterion: str) -> RaterErrors:
    """Return each rater's sensitivity and specificity, and the share that truly passes, of the outputs that count.

    As in `rater_agreement` those labelled at random, if any. A sensitivity takes FEWEST_OF_KIND outputs that truly pass
    by the estimate, a specificity as many that fail. See metrics.stats.rater_agreement for what is assumed.
    """
    people = human_labels(run, criterion)
    sample: Sample = "outputs" if people.random.any() else "labelled"
    counted = people.random if sample == "outputs" else np.ones(len(people.ratings), bool)
    enough = rater_agreement.connected_raters(people.ratings[counted], ENOUGH)
    ratings = people.ratings[:, enough]
    counted = counted & ((~np.isnan(ratings)).sum(axis=1) > 1)
    ratings, own = ratings[counted], cluster_codes(output_clusters(run, np.flatnonzero(counted)))
    n = len(ratings)
    if people.criterion.graded or not enough.any():
        return RaterErrors(n, sample, obstacle="graded" if people.criterion.graded else "raters")
    if lacking(n, own, FEWEST_OUTPUTS):
        return RaterErrors(n, sample, obstacle="outputs")
    share, *rates = (
        stat_of(column, own, 0.0) for column in rater_agreement.dawid_skene(ratings, rater_agreement.draws_of(own)).T
    )
    names = [name for name, keep in zip(people.raters, enough, strict=True) if keep]
    of_kind = (share.value or 0.0) * n, (1 - (share.value or 0.0)) * n
    sides = (rates[: len(names)], rates[len(names) :])
    sensitivity, specificity = (
        [Stat(needs=needs) if (needs := math.ceil(FEWEST_OF_KIND - kind)) > 0 else one for one in side]
        for kind, side in zip(of_kind, sides, strict=True)
    )
    counts, passes = (~np.isnan(ratings)).sum(axis=0).tolist(), np.nanmean(ratings, axis=0).tolist()
    columns = zip(names, counts, passes, sensitivity, specificity, strict=True)
    return RaterErrors(n, sample, share, tuple(RaterError(*one) for one in columns))


@dataclass(frozen=True, slots=True)
class Replacement:
    """The test of one metric against each rater of a criterion, on `n` outputs that two or more labelled.

    tests: by rater; obstacle: why there are none: no threshold, fewer than FEWEST_RATERS raters with FEWEST_ITEMS
    outputs that another labelled, too ("raters"; `raters` have them).
    """

    column: Column
    epsilon: float
    n: int = 0
    raters: int = 0
    tests: tuple[tuple[str, rater_agreement.AnnotatorTest], ...] = ()
    obstacle: Literal["", "threshold", "raters"] = ""

    @property
    def winning_rate(self) -> float | None:
        """ω, the share of raters whom the judge is significantly better than, less ε; None without a test."""
        return sum(one.wins for _, one in self.tests) / len(self.tests) if self.tests else None

    @property
    def advantage(self) -> float | None:
        """ρ, the mean share of outputs on which the judge is at least as close to the others as a rater is."""
        return exact_sum(one.judge for _, one in self.tests) / len(self.tests) if self.tests else None

    @property
    def replaces(self) -> bool:
        """Whether the judge may replace a person: ω is at least SUFFICIENT."""
        return self.winning_rate is not None and at_least(self.winning_rate, rater_agreement.SUFFICIENT)


def annotator_test(
    run: Run,
    criterion: str,
    only: tuple[str, str],
    passing: float | None = None,
    threshold: float | None = None,
    epsilon: float = EPSILON,
) -> Replacement:
    """Return whether the verdicts of a metric at its threshold may replace a rater's; see `agreements`.

    Of outputs labelled at random, if any. Where the labels chose the threshold, each output is judged by thresholds
    chosen without it. See metrics.stats.rater_agreement.
    """
    both = labelled_scores(run, *only, criterion, passing=passing)
    cut = cut_of(both, threshold)
    if cut.threshold is None:
        return Replacement(both.column, epsilon, obstacle="threshold")
    people, rows = human_labels(run, criterion), both.counted
    labels = people.ratings[both.place[rows]]
    ratings = np.where(np.isnan(labels), np.nan, passing_labels(people, both.column, labels, passing))
    ratings[np.isnan(cut.passes[rows])] = np.nan
    keep = _raters(ratings)
    ratings = ratings[:, keep]
    n = int(((~np.isnan(ratings)).sum(axis=1) > 1).sum())
    found = Replacement(both.column, epsilon, n, int(keep.sum()))
    if keep.sum() < rater_agreement.FEWEST_RATERS:
        return replace(found, obstacle="raters")
    tests = rater_agreement.alternative_annotator(cut.passes[rows], ratings, both.clusters[rows], epsilon)
    names = [name for name, own in zip(people.raters, keep, strict=True) if own]
    return replace(found, tests=tuple(zip(names, tests, strict=True)))


def _raters(ratings: Floats) -> Bools:
    """Return which raters have FEWEST_ITEMS outputs that another of them labelled, too."""
    given = ~np.isnan(ratings)
    keep = np.ones(given.shape[1], bool)
    while True:
        shared = (given & ((given & keep).sum(axis=1) > 1)[:, None]).sum(axis=0)
        fewer = keep & (shared >= rater_agreement.FEWEST_ITEMS)
        if fewer.sum() == keep.sum():
            return keep
        keep = fewer
