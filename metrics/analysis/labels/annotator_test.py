"""Whether a metric's verdicts may take the place of a person's labels: the alternative annotator test."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metrics.analysis.labels.human_labels import human_labels
from metrics.analysis.labels.judge_agreement import cut_of
from metrics.analysis.labels.labelled_scores import labelled_scores, passing_labels
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Bools, Floats
from metrics.core.rounding import at_least
from metrics.stats.rater_agreement import FEWEST_ITEMS, FEWEST_RATERS, SUFFICIENT, AnnotatorTest, alternative_annotator
from metrics.store import Run

EPSILON = 0.1  # by which the judge may be behind a rater, for what people cost more: of crowd workers, the strictest


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
    tests: tuple[tuple[str, AnnotatorTest], ...] = ()
    obstacle: Literal["", "threshold", "raters"] = ""

    @property
    def winning_rate(self) -> float | None:
        """ω, the share of raters whom the judge is significantly better than, less ε; None without a test."""
        return sum(one.wins for _, one in self.tests) / len(self.tests) if self.tests else None

    @property
    def advantage(self) -> float | None:
        """ρ, the mean share of outputs on which the judge is at least as close to the others as a rater is."""
        return sum(one.judge for _, one in self.tests) / len(self.tests) if self.tests else None

    @property
    def replaces(self) -> bool:
        """Whether the judge may replace a person: ω is at least SUFFICIENT."""
        return self.winning_rate is not None and at_least(self.winning_rate, SUFFICIENT)


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
    if keep.sum() < FEWEST_RATERS:
        return replace(found, obstacle="raters")
    tests = alternative_annotator(cut.passes[rows], ratings, both.clusters[rows], epsilon)
    names = [name for name, own in zip(people.raters, keep, strict=True) if own]
    return replace(found, tests=tuple(zip(names, tests, strict=True)))


def _raters(ratings: Floats) -> Bools:
    """Return which raters have FEWEST_ITEMS outputs that another of them labelled, too."""
    given = ~np.isnan(ratings)
    keep = np.ones(given.shape[1], bool)
    while True:
        shared = (given & ((given & keep).sum(axis=1) > 1)[:, None]).sum(axis=0)
        fewer = keep & (shared >= FEWEST_ITEMS)
        if fewer.sum() == keep.sum():
            return keep
        keep = fewer
