"""classification_pr_curve_detailed: outcomes of each case and class by score threshold, with examples."""

import json
import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Aggregate, CaseScore, Example, Findings, Metric
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ClassificationParameters, ResamplingParameters, aggregate
from metrics.evaluators._score_curve import DETAILED_CURVES, ScoreThresholds
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import ScoreMatrix, read_scores
from metrics.stats.bootstrap import Draws
from metrics.stats.classification.roc import THRESHOLDS, true_and_other
from metrics.stats.float_tolerance import weighted_mean
from metrics.stats.intervals import NONE, wilson

KINDS = ("tp", "fn_misclassification", "fn_no_prediction", "fp_misclassification")  # those with a value per case
NO_CASES = "no case of this class"
FOUR_CASES = scored_cases(
    ("cat", {"cat": 0.91, "dog": 0.9}), ("cat", {"cat": 0.3, "dog": 0.7}), ("dog", {"dog": 0.5}), ("fox", {"cat": 0.4})
)


class DetailedParameters(ClassificationParameters):
    """What the curve is taken at, how many examples are kept, and where the shares are taken."""

    score_thresholds: ScoreThresholds = THRESHOLDS
    pr_curve_max_examples: int = Field(
        1, ge=0, le=100, description="Most examples kept of each class, threshold and kind."
    )
    score_threshold: float = Field(
        0.5, gt=0, le=1, allow_inf_nan=False, description="Score threshold of the shares; the curve has all of them."
    )


@classification_evaluator(
    title="Detailed classification precision–recall curve",
    stand="aside",
    default_needs=("scored_predictions",),
    metrics=(
        Metric("tp", "Share of cases whose true label reaches the score threshold.", binary=True, primary=True),
        Metric.lower(
            "fn_misclassification",
            "Share of cases whose true label stays below the score threshold while another label reaches it.",
            binary=True,
        ),
        Metric.lower("fn_no_prediction", "Share of cases in which no label reaches the score threshold.", binary=True),
        Metric.lower(
            "fp_misclassification",
            "Wrong labels that reach the score threshold, per case.",
            high=math.inf,
            unit="per case",
        ),
    ),
    sources=("Valor metrics: Detailed Precision-Recall Curves, classification tasks",),
    examples=(
        Example(
            "at .5: cases 1 and 3 found, 2 taken for a dog, nothing for 4; dog is wrong in 1 and 2",
            FOUR_CASES,
            expect={"fn_misclassification": 0.25, "fn_no_prediction": 0.25, "fp_misclassification": 0.5},
            rows=(
                {"metric": "tp", "label": None, "value": 0.5, "n": 4},
                {"metric": "fn_misclassification", "label": "cat", "value": 0.5, "n": 2},
                {"metric": "fp_misclassification", "label": "dog", "value": 0.5, "n": 4},
                {"metric": "tp", "label": "fox", "value": 0.0},
            ),
        ),
        Example(
            "at .4 the fox is taken for a cat",
            FOUR_CASES,
            expect={"fn_no_prediction": 0.0},
            rows=({"metric": "fn_misclassification", "label": "fox", "value": 1.0},),
            parameters={"score_threshold": 0.4},
        ),
    ),
    differs_from="classification_pr_curve has the rates, this one the kinds of error behind them and examples; in "
    "detection_pr_curve_detailed a false positive can also be on background, in classification every case has a true "
    "label that it was mistaken for.",
    differs_from_source="The kinds are Valor's, with true negatives and their examples, which its text does not list. "
    "An example is a case id; its dataset name is added in the JSON export. Examples are those of the highest score "
    "(of what is not predicted, the lowest), where Valor takes any. Shares at one threshold are Assay's addition. "
    "Their thresholds are Assay's: Valor sets none.",
)
def classification_pr_curve_detailed(suite: Suite, outputs: Outputs, parameters: DetailedParameters) -> Findings:
    """Right, mistaken and missing predictions of each class by score threshold, with examples.

    The score thresholds are .05, .10, …, .95, or others. At threshold s a class is predicted for a case where its score
    is ≥ s; a class without a score never is. Every pair of case and class is one of

        tp                    the class is the true one and predicted
        fp_misclassification  it is not the true one and predicted
        fn_misclassification  it is the true one and not predicted, another class is
        fn_no_prediction      it is the true one, and no class is predicted
        tn                    it is not the true one and not predicted

    The curve has the columns label, threshold, kind, count, examples: a JSON list of up to `pr_curve_max_examples` case
    ids, of predicted ones those with the highest score first, of the others those with the lowest (an absent score is
    the lowest), in the suite's order where they tie.

    The metrics are the kinds at `score_threshold`: shares of the cases with a true label and scores, which add up to 1
    for tp, fn_misclassification and fn_no_prediction, and the number of wrong labels per case. Of a class: shares of
    its cases, and for fp_misclassification of all cases. Every case has its own values, 0 or 1 or that number. A case
    without scores is unscored; with `missing` = wrong it is an fn_no_prediction at every threshold. Scores that are not
    within 0 … 1 have no values. 95 % intervals:
    Wilson; a bootstrap over cases for the number per case, and for all where the suite has groups, over those.
    """
    found = read_scores(suite, outputs, parameters.missing).of_probabilities()
    true, other = true_and_other(found.scores, found.truth)
    at = parameters.score_threshold
    predicted = found.scores >= at  # NaN is not
    wrong = predicted.sum(axis=1) - (true >= at)
    values = np.column_stack([true >= at, (true < at) & (other >= at), (true < at) & (other < at), wrong]).astype(float)
    cases = found.scores_of(KINDS)
    named = np.array(found.labels, dtype=object)
    for case_id, row, chosen, code, score in zip(
        found.case_ids, values.tolist(), predicted, found.truth.tolist(), true.tolist(), strict=True
    ):
        facts = {
            "truth": found.labels[code],
            "score": score if score >= 0 else None,
            "threshold": at,
            "predicted": named[chosen].tolist(),
        }
        cases[case_id] = CaseScore(dict(zip(KINDS, row, strict=True)), evidence=Evidence(facts=facts))
    rows = list(_rows(found, other, parameters))
    curves = pa.table([list(column) for column in zip(*rows, strict=True)] or [[]] * 5, schema=DETAILED_CURVES)
    draws = ResamplingParameters.model_validate({"resamples": 0}).draws(suite).of_cases(found.place)
    return Findings(_aggregates(found, values, predicted, draws), cases, curves)


def _aggregates(found: ScoreMatrix, values: Floats, predicted: Bools, draws: Draws) -> list[Aggregate]:
    n, unscored = len(values), sum(found.unscored_labels.values())
    if not n:
        return [aggregate(kind, math.nan, n=0, unscored=unscored, reason=found.nothing) for kind in KINDS]

    def row(kind: str, cells: Floats, draws: Draws, out: int, label: str | None = None) -> Aggregate:
        count, counted = len(cells), kind != "fp_misclassification" or label is not None
        if not count:
            return aggregate(kind, math.nan, n=0, unscored=out, label=label, reason=NO_CASES)
        interval, method, why = NONE, "bootstrap", None
        if counted and draws.single:
            interval, method = wilson(cells.sum(), count), "wilson"
        else:
            interval, why = draws.mean_interval(cells, 0.0, 1.0 if counted else math.inf)
        mean = weighted_mean(cells, draws.weights)
        return aggregate(kind, mean, interval, method, n=count, unscored=out, label=label, reason=why)

    rows = [row(kind, values[:, index], draws, unscored) for index, kind in enumerate(KINDS)]
    for code, label in enumerate(found.labels):
        own, out = found.truth == code, found.unscored_labels.get(label, 0)
        of_label = draws.of_cases(np.flatnonzero(own))
        rows += [row(kind, values[own, index], of_label, out, label) for index, kind in enumerate(KINDS[:3])]
        mistaken = (predicted[:, code] & ~own).astype(float)
        rows.append(row("fp_misclassification", mistaken, draws, out, label))
    return rows


def _rows(
    found: ScoreMatrix, other: Floats, parameters: DetailedParameters
) -> Iterator[tuple[str, float, str, int, str]]:
    """Yield the rows of DETAILED_CURVES, class by class."""
    thresholds, most = parameters.score_thresholds, parameters.pr_curve_max_examples
    for code, label in enumerate(found.labels):
        score = np.nan_to_num(found.scores[:, code], nan=-np.inf)
        own = np.flatnonzero(found.truth == code)
        rest = np.flatnonzero(found.truth != code)
        own_falling, own_rising = _ordered(own, -score), _ordered(own, score)
        rest_falling, rest_rising = _ordered(rest, -score), _ordered(rest, score)
        missed_ones = np.searchsorted(score[own_rising], thresholds, side="left").tolist()
        left_alone = np.searchsorted(score[rest_rising], thresholds, side="left").tolist()
        for threshold, fn, tn in zip(thresholds, missed_ones, left_alone, strict=True):
            missed = own_rising[:fn]
            taken = other[missed] >= threshold
            for kind, cases in (
                ("tp", own_falling[: len(own) - fn]),
                ("fp_misclassification", rest_falling[: len(rest) - tn]),
                ("fn_misclassification", missed[taken]),
                ("fn_no_prediction", missed[~taken]),
                ("tn", rest_rising[:tn]),
            ):
                shown = [found.case_ids[place] for place in cases[:most].tolist()]
                yield label, threshold, kind, len(cases), json.dumps(shown, ensure_ascii=False)


def _ordered(cases: NDArray[np.intp], by: Floats) -> NDArray[np.intp]:
    """Return `cases` by rising value of `by`, equal ones in their order."""
    return cases[np.argsort(by[cases], kind="stable")]
