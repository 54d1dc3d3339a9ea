"""How often each rater errs, and which share of the outputs truly passes, estimated from several raters' labels."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.analysis.labels.human_labels import human_labels
from metrics.analysis.labels.judge_agreement import ENOUGH, UNDEFINED, Sample, Stat, lacking, stat_of
from metrics.analysis.labels.labelled_scores import output_clusters
from metrics.core.sampling_design import cluster_codes
from metrics.stats.rater_agreement import connected_raters, dawid_skene, draws_of
from metrics.store import Run

FEWEST_OUTPUTS = 50  # with two labels or more
FEWEST_OF_KIND = 30  # that truly pass, or fail: of fewer, intervals of sensitivity or specificity held 73 to 88 %
Obstacle = Literal["", "graded", "raters", "outputs"]


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
    enough = connected_raters(people.ratings[counted], ENOUGH)
    ratings = people.ratings[:, enough]
    counted = counted & ((~np.isnan(ratings)).sum(axis=1) > 1)
    ratings, own = ratings[counted], cluster_codes(output_clusters(run, np.flatnonzero(counted)))
    n = len(ratings)
    if people.criterion.graded or not enough.any():
        return RaterErrors(n, sample, obstacle="graded" if people.criterion.graded else "raters")
    if lacking(n, own, FEWEST_OUTPUTS):
        return RaterErrors(n, sample, obstacle="outputs")
    share, *rates = (stat_of(column, own, 0.0) for column in dawid_skene(ratings, draws_of(own)).T)
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
