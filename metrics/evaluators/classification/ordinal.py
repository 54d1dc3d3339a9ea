"""Ordinal: agreement of predicted levels, such as grades or severities, with the true ones."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Floats, Ints
from metrics.core.classes import level_order
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import NOTHING_SCORED, ResamplingParameters, aggregate, estimate
from metrics.evaluators._spread_scores import spread_scores
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import label_codes, whole
from metrics.evaluators.classification.classification import top_predictions
from metrics.stats.bootstrap import Draws
from metrics.stats.intervals import NONE, wilson
from metrics.stats.prediction_errors import resampled_means
from metrics.stats.rater_agreement import kappas
from metrics.stats.resample_intervals import scaled_interval

NO_ORDER = "the order of the levels is not known: name them in the parameter levels, from the lowest"
NO_TRUTH = "the case has no true level"
UNANSWERED = "the model made no prediction"
NO_LEVEL = "the predicted class is no level"
CHANCE = "κ has no value: truths and predictions are all of one level"
NO_INTERVAL = "No 95 % interval: all resamples of these cases give the same value, or one is at the end of the range."
METRICS = ("quadratic_kappa", "linear_kappa", "mae_levels", "within_one")
KINDS = {"quadratic_kappa": {"quadratic": True}, "linear_kappa": {"linear": True}}
NAMED_LEVELS = scored_cases(("low", {"low": 1.0}), ("high", {"medium": 1.0}))
GRADES = {
    "labels": ["1", "2", "3"],
    **scored_cases(("1", {"1": 1.0}), ("2", {"3": 1.0}), ("3", {"3": 1.0}), ("3", {"1": 1.0}), ("1", {"2": 1.0})),
}


class OrdinalParameters(ResamplingParameters):
    """The levels in their order."""

    levels: tuple[str, ...] = Field(
        (), description="The levels from the lowest to the highest; empty: by number, else in the suite's own order."
    )


@classification_evaluator(
    title="Ordinal agreement",
    metrics=(
        Metric(
            "quadratic_kappa",
            "Cohen's κ with quadratic weights: agreement above chance, far misses weigh the most.",
            -1.0,
            primary=True,
            threshold=0.6,
            title="Quadratic κ",
        ),
        Metric("linear_kappa", "Cohen's κ with linear weights.", -1.0, threshold=0.6, minor=True, title="Linear κ"),
        Metric.amount(
            "mae_levels", "Mean distance of the predicted from the true level, in levels.", title="MAE of levels"
        ),
        Metric(
            "within_one", "Share of the cases that are predicted at most one level off.", binary=True, threshold=0.9
        ),
    ),
    sources=("Cohen 1968: Weighted kappa", "scikit-learn: cohen_kappa_score"),
    standards=("valid and reliable",),
    default_needs=("ordered_labels",),
    examples=(
        Example(
            "five grades; one is two levels off, two are one off",
            GRADES,
            expect={"within_one": 0.8, "quadratic_kappa": 1 - 6 / 8, "linear_kappa": 1 - 4 / 4.8},
            rows=({"metric": "mae_levels", "value": 0.8, "n": 5},),
        ),
        Example("names have no order by themselves", NAMED_LEVELS, expect={"mae_levels": None}),
        Example(
            "the same with their order",
            NAMED_LEVELS,
            expect={"mae_levels": 0.5, "within_one": 1.0},
            parameters={"levels": ("low", "medium", "high")},
        ),
    ),
    differs_from="classification counts every wrong class alike; here one that is next to the true one is less wrong.",
    differs_from_source="Where truths and predictions are all of one level κ has no value, with the reason; "
    "scikit-learn gives NaN. The thresholds are Assay's: .6 is where Landis and Koch's substantial agreement begins.",
)
def ordinal(suite: Suite, outputs: Outputs, parameters: OrdinalParameters) -> Findings:
    """How near predicted levels are to the true ones, where classes have an order: weighted κ, distance, within one.

    The prediction of a case is its label with the highest score, as in classification. With the levels numbered 0 … k −
    1, i the true and j the predicted one of a case:

        κ = 1 − Σ w_ij·observed_ij / Σ w_ij·expected_ij,  w = (i − j)² (quadratic) or |i − j| (linear)
        mae_levels = mean |i − j|                         within_one = share with |i − j| ≤ 1

    observed: the confusion matrix; expected: what the frequencies of true and predicted levels give by chance. κ is 1
    where all agree, 0 at chance, below 0 where it is worse. Equal to scikit-learn's cohen_kappa_score.

    The order is that of `levels`; else by number where all labels are numbers; else the suite's own order of labels,
    unless that is alphabetical, as it is where the file gave none: then there is no value, with the reason. (Labels of
    one character, such as grades A to F, are in order.) Cases without a true label or a prediction, or whose prediction
    is no level, are unscored.

    The score of a case is its distance (mae_levels) and whether it is within one; evidence: truth, predicted. 95 %
    intervals over cases, or over `cases.group` where given: Wilson's for the share, bootstrap for the mean, κ on the
    scale of atanh from resamples. Two models are tested on the same resamples.
    """
    ids, truth = whole(suite.cases["case_id"]), whole(suite.cases["label"]).dictionary_encode()
    best = top_predictions(suite.cases["case_id"], outputs.predictions)[0].dictionary_encode()
    named = pa.concat_arrays([truth.dictionary, best.dictionary]).unique().to_pylist()
    levels = parameters.levels or level_order(suite.labels, named)
    if not levels:
        rows = [aggregate(name, math.nan, n=0, unscored=len(suite), reason=NO_ORDER) for name in METRICS]
        empty = spread_scores(ids, np.zeros(0, np.intp), pa.repeat(NO_ORDER, len(ids)), {}, truth=truth, predicted=best)
        return Findings(rows, empty)
    _check(suite, truth.dictionary.to_pylist(), levels)
    names = pa.array(levels, pa.string())
    i, j = label_codes(truth, names), label_codes(best, names)
    unanswered = best.indices.is_null().to_numpy(zero_copy_only=False)
    why = np.select([i < 0, unanswered, j < 0], [0, 1, 2], -1)
    reasons = pa.array([NO_TRUTH, UNANSWERED, NO_LEVEL]).take(pa.array(why, mask=why < 0))
    place = np.flatnonzero((i >= 0) & (j >= 0))
    i, j = i[place], j[place]
    apart = np.abs(i - j).astype(np.float64)
    near = (apart <= 1).astype(np.float64)
    draws = parameters.draws(suite).of_cases(place)
    rows = [*_kappas(i, j, len(levels), draws, len(suite)), *_distances(apart, near, draws, len(suite))]
    scores = {"mae_levels": apart, "within_one": near}
    return Findings(rows, spread_scores(ids, place, reasons, scores, truth=truth, predicted=best))


def _check(suite: Suite, truths: Sequence[str], levels: Sequence[str]) -> None:
    unknown = sorted(set(truths) - set(levels))
    if unknown:
        expected = "one of the levels " + ", ".join(levels)
        raise InputError(InputProblem(suite.name, f"the label {name!r}", expected, column="levels") for name in unknown)


def _kappas(i: Ints, j: Ints, k: int, draws: Draws, cases: int) -> list[Aggregate]:
    n, rows = len(i), []
    tables = draws.sums(i * k + j, k * k).reshape(-1, k, k) if n else np.zeros((1, k, k))
    for name, kind in KINDS.items():
        values = kappas(tables, **kind)
        value, samples = float(values[0]), values[1:]
        if math.isnan(value):
            reason = CHANCE if n else NOTHING_SCORED
            rows.append(aggregate(name, value, n=n, unscored=cases - n, reason=reason))
            continue
        ends = scaled_interval(value, samples, draws.units, "correlation")
        why = NO_INTERVAL if ends is None and len(samples) else None
        rows.append(
            aggregate(name, value, ends or NONE, "bootstrap", n=n, unscored=cases - n, reason=why, samples=samples)
        )
    return rows


def _distances(apart: Floats, near: Floats, draws: Draws, cases: int) -> list[Aggregate]:
    n, out = len(apart), cases - len(apart)
    if not n:
        return [aggregate(name, math.nan, n=0, unscored=out, reason=NOTHING_SCORED) for name in METRICS[2:]]
    ends, why = draws.mean_interval(apart, 0.0)
    means, shares = resampled_means(np.column_stack([apart, near]), draws).T
    own = wilson(float(near.sum()), n) if draws.single else None
    return [
        aggregate("mae_levels", means[0], ends, "bootstrap", n=n, unscored=out, reason=why, samples=means[1:]),
        estimate("within_one", shares, n, draws, n=n, unscored=out, share=own),
    ]
