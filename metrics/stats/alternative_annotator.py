"""The alternative annotator test: whether a judge may take the place of a person who labels."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import at_least
from metrics.core.sampling_design import cluster_codes
from metrics.stats.cluster_variance import cluster_sums, cluster_variance
from metrics.stats.corrections import benjamini_yekutieli, is_significant
from metrics.stats.ratios import weighted_mean
from metrics.stats.student_t import student_p

FEWEST_RATERS = 3  # with two the test only says which of them the judge is closer to
FEWEST_ITEMS = 30  # of each rater, for the t test
SUFFICIENT = 0.5  # of the raters: the winning rate from which on the judge may replace a person


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The judge against one rater, on `n` items that other raters labelled, too.

    judge, rater: the share of items on which it agrees with the others at least as well as the other does; p: of the
    judge being behind by ε or more; adjusted: of all raters' p.
    """

    judge: float
    rater: float
    n: int
    p: float
    adjusted: float

    @property
    def wins(self) -> bool:
        """Whether the judge is significantly better than the rater less ε."""
        return is_significant(self.adjusted)


def alternative_annotator(passes: Floats, ratings: Floats, clusters: Ints, epsilon: float) -> list[AnnotatorTest]:
    """Return the test of a judge against each rater, of items in clusters (codes [n]).

    passes: [n] the judge's verdicts, 1, 0 or the share of its thresholds that an item passes; ratings: [n, k] 1 pass, 0
    fail, NaN none. Of each item of a rater, a_f and a_h are the shares of the other raters who say what judge and rater
    say:

        d = [a_h ≥ a_f] − [a_f ≥ a_h],  p of the t test of mean d ≥ ε, clustered (CR2), over the raters by
        Benjamini and Yekutieli

    Where d is the same throughout, p is that of so many clusters without a loss, (1 − ε)^c. Only items count of which
    another rater has a label; NaN and p = 1 of a rater without any. Source: Calderon, Reichart & Dror, "The Alternative
    Annotator Test for LLM-as-a-Judge", ACL 2025.
    """
    given = ~np.isnan(ratings)
    passed, counts = np.where(given, ratings, 0.0).sum(axis=1), given.sum(axis=1)
    found = []
    for own, there in zip(ratings.T, given.T, strict=True):
        rows = np.flatnonzero(there & (counts > 1) & ~np.isnan(passes))
        label, verdict = own[rows], passes[rows]
        others = counts[rows] - 1
        like_rater = np.where(label == 1, passed[rows] - 1, others - passed[rows])  # of the others
        alike = np.where(label == 1, verdict, 1 - verdict)  # how far the judge says what the rater says
        judge, rater = (alike + (1 - alike) * (2 * side >= others) for side in (others - like_rater, like_rater))
        means = (weighted_mean(judge), weighted_mean(rater))
        found.append((*means, len(rows), _p(rater - judge, clusters[rows], epsilon) if len(rows) else 1.0))
    adjusted = benjamini_yekutieli(np.array([p for *_, p in found])).tolist()
    return [AnnotatorTest(*one, value) for one, value in zip(found, adjusted, strict=True)]


def _p(d: Floats, clusters: Ints, epsilon: float) -> float:
    """Return the one-sided p of mean d ≥ ε."""
    codes = cluster_codes(clusters)
    residuals = cluster_sums(np.column_stack([d - d.mean(), np.ones(len(d))]), codes)
    if len(residuals) < 2 or not residuals[:, 0].any():
        return 1.0 if at_least(d.mean(), epsilon) else float((1 - epsilon) ** len(residuals))
    variance, freedom = cluster_variance(residuals[:, :1], residuals[:, 1:], residuals[:, 1:])
    t = (d.mean() - epsilon) / np.sqrt(variance)
    tail = float(student_p(np.abs(t), freedom)[0]) / 2
    return tail if t[0] < 0 else 1 - tail
