"""top_k_accuracy: how often the true class is among the k highest-scored ones."""

import math
from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator, Field

from metrics.core.array_types import Ints
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ClassificationParameters, aggregate, estimate
from metrics.evaluators._spread_scores import spread_scores
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import ScoreMatrix, read_scores, whole
from metrics.stats.bootstrap import Draws
from metrics.stats.intervals import wilson
from metrics.stats.prediction_errors import resampled_means

TRIVIAL = "{} classes: every one of them is among the top {}"
Ks = Annotated[
    tuple[Annotated[int, Field(ge=1, le=10_000)], ...],
    Field(min_length=1, max_length=20, description="The numbers k of highest-scored classes, in any order."),
    AfterValidator(lambda values: tuple(sorted(set(values)))),
]
FOUR_CASES = {
    "labels": ["0", "1", "2"],
    **scored_cases(
        ("0", {"0": 0.5, "1": 0.2, "2": 0.2}), ("1", {"0": 0.3, "1": 0.4, "2": 0.2}),
        ("2", {"0": 0.2, "1": 0.4, "2": 0.3}), ("2", {"0": 0.7, "1": 0.2, "2": 0.1}),
    ),
}  # fmt: skip


def top_metrics(ks: tuple[int, ...]) -> tuple[Metric, ...]:
    """Return a metric for each k; the primary one is the first above 1, else the only one."""
    main = next((k for k in ks if k > 1), ks[0])
    return tuple(
        Metric(
            f"top_{k}", f"Share of the cases whose true class is among the {k} highest-scored ones.", binary=True,
            primary=k == main, title=f"Top-{k} accuracy", twin_of=("classification.accuracy",) if k == 1 else (),
        )
        for k in ks
    )  # fmt: skip


class TopParameters(ClassificationParameters):
    """Which k are computed, and how cases without scores count."""

    ks: Ks = (1, 3, 5)

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each k."""
        return declared if self.ks == (1, 3, 5) else top_metrics(self.ks)


@classification_evaluator(
    title="Top-k accuracy",
    default_needs=("scored_predictions",),
    metrics=top_metrics((1, 3, 5)),
    sources=("scikit-learn: top_k_accuracy_score",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "scikit-learn's: the last is third of three, and k = 3 of 3 classes says nothing",
            FOUR_CASES,
            expect={"top_2": 0.75, "top_3": None},
            rows=({"metric": "top_1", "value": 0.5, "n": 4},),
            parameters={"ks": (1, 2, 3)},
        ),
        Example(
            "of equal scores the class whose name comes last counts as higher",
            {"labels": ["a", "b", "c"], **scored_cases(("a", {"a": 0.5, "b": 0.5}), ("b", {"a": 0.5, "b": 0.5}))},
            expect={"top_1": 0.5, "top_2": 1.0},
            parameters={"ks": (1, 2)},
        ),
    ),
    differs_from="classification takes the one highest-scored label, the first in the file of several.",
    differs_from_source="A class without a score ranks below every scored one and is never among the top. Where k is "
    "not below the number of classes there is no value; scikit-learn warns and gives 1. The thresholds are Assay's.",
)
def top_k_accuracy(suite: Suite, outputs: Outputs, parameters: TopParameters) -> Findings:
    """How often the true class is among the k classes that a model scores highest, for several k.

    The rank of the true class is 1 + the number of classes with a higher score, and of those with an equal one whose
    name sorts after it: as in scikit-learn's top_k_accuracy_score, with which ties agree. Over the n cases with a true
    class and scores

        top_k = cases with rank ≤ k / n

    0 … 1. A model that scores every class the same gets what the names give it: look at the ROC AUC, too. A class
    without a score ranks last and is never among the top k; a case without any score is unscored, or wrong with
    `missing` = wrong. Where k is not below the number of classes there is no value, with the reason.

    The score of a case is 1 or 0 for each k; evidence: truth, rank and the score of the true class. Intervals:
    Wilson's, or resamples where cases are in groups; two models are tested on the same resamples.
    """
    found = read_scores(suite, outputs, parameters.missing)
    ranks = true_ranks(found)
    draws = parameters.draws(suite).of_cases(found.place)
    classes, n = len(found.labels), len(ranks)
    hits = {f"top_{k}": (ranks <= k).astype(np.float64) for k in parameters.ks if k < classes}
    rows = [_share(k, found, ranks, draws) for k in parameters.ks]
    trivial = [k for k in parameters.ks if k >= classes]
    values = hits | {f"top_{k}": np.full(n, np.nan) for k in trivial}
    ids = whole(suite.cases["case_id"])
    why = TRIVIAL.format(classes, trivial[0]) if trivial else None
    scored = np.zeros(len(ids), bool)
    scored[found.place] = True
    reasons = np.full(len(ids), why, object)
    reasons[~scored] = list(found.unscored.values())
    names = pa.array(found.labels, pa.string())
    cases = spread_scores(
        ids, found.place, pa.array(reasons, pa.string()), values, truth=names.take(pa.array(found.truth)),
        rank=pa.array(np.where(ranks > classes, np.nan, ranks)),
        score=pa.array(found.scores[np.arange(n), found.truth]),
    )  # fmt: skip
    return Findings(rows, cases)


def true_ranks(found: ScoreMatrix) -> Ints:
    """Return the rank of each case's true class [n], from 1; one more than there are classes where it has no score."""
    order = np.argsort(np.argsort(np.array(found.labels, dtype=object), kind="stable"))
    own = found.scores[np.arange(len(found.truth)), found.truth][:, None]
    after = order[None, :] > order[found.truth][:, None]
    above = (found.scores > own) | ((found.scores == own) & after)
    return np.where(np.isnan(own[:, 0]), len(found.labels) + 1, 1 + np.count_nonzero(above, axis=1))


def _share(k: int, found: ScoreMatrix, ranks: Ints, draws: Draws) -> Aggregate:
    n, name, classes, unscored = len(ranks), f"top_{k}", len(found.labels), sum(found.unscored_labels.values())
    if not n or k >= classes:
        reason = found.nothing if not n else TRIVIAL.format(classes, k)
        return aggregate(name, math.nan, n=n, unscored=unscored, reason=reason)
    shares = resampled_means((ranks <= k).astype(np.float64)[:, None], draws)[:, 0]
    own = wilson(int(np.count_nonzero(ranks <= k)), n) if draws.single else None
    return estimate(name, shares, n, draws, n=n, unscored=unscored, share=own)
