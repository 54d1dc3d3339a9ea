"""classification_pr_curve: counts, precision, recall and F1 of each class by score threshold."""

import math

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats
from metrics.core.evaluator import MATCHES, Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ClassificationParameters, aggregate, effective, estimate, few_cases
from metrics.evaluators._score_curve import ScoreThresholds, best_f1_metrics, curve_table
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import ScoreMatrix, read_scores
from metrics.stats.bootstrap import Draws
from metrics.stats.classification import roc
from metrics.stats.float_tolerance import highest_place, highest_places, mean_over

NO_CASES = "no case of this class"
FOUR = (
    ("cat", {"cat": 0.91, "dog": 0.9}),
    ("cat", {"cat": 0.4, "dog": 0.6}),
    ("dog", {"dog": 0.55, "cat": 0.15}),
    ("dog", {"dog": 0.8}),
)
FOUR_CASES = scored_cases(*FOUR)


class ScoreCurveParameters(ClassificationParameters):
    """What the curve is taken at."""

    score_thresholds: ScoreThresholds = roc.THRESHOLDS


@classification_evaluator(
    title="Classification precision–recall curve",
    default_needs=("scored_predictions",),
    metrics=(
        *best_f1_metrics("classes"),
        Metric.detail(
            "average_precision",
            "Area under the curve of precision and recall of a class, in steps; the mean over classes.",
        ),
    ),
    sources=("Valor metrics: Precision-Recall Curves, classification tasks", "scikit-learn: average precision"),
    examples=(
        Example(
            "cat at .20 … .40: 2 of 2, none wrong; dog at .05 … .55: 2 of 2 with two wrong, 2·2 / (4 + 2)",
            FOUR_CASES,
            expect={"best_threshold": 0.2},
            rows=(
                {"metric": "best_f1", "label": "cat", "value": 1.0, "n": 2},
                {"metric": "best_threshold", "label": "cat", "value": 0.2},
                {"metric": "best_f1", "label": "dog", "value": 2 / 3},
                {"metric": "best_threshold", "label": "dog", "value": 0.05},
                {"metric": "best_f1", "label": None, "value": 5 / 6, "n": 4},
            ),
        ),
        Example(
            "a case without a prediction is a miss at every threshold if missing = wrong",
            scored_cases(*FOUR, ("cat", {})),
            rows=({"metric": "best_f1", "label": "cat", "value": 4 / 5, "n": 3, "unscored": 0},),
            parameters={"missing": "wrong"},
        ),
        Example(
            "a class without cases has precision alone",
            scored_cases(("cat", {"cat": 1.0, "fox": 0.3})) | {"labels": ["cat", "fox"]},
            expect={"best_f1": 1.0},
            rows=({"metric": "best_f1", "label": "fox", "value": None, "n": 0},),
        ),
    ),
    differs_from="classification counts the highest-scored label of each case; here every class is predicted whose "
    "score reaches the threshold, so a case may have several or none. detection_pr_curve matches boxes first.",
    differs_from_source="Precision, recall and F1 of 0/0 have no value. Thresholds are a parameter; the default is "
    "Valor's .05 … .95. best_f1, best_threshold and average_precision are Assay's addition, with intervals. Valor sets "
    "no threshold; .75 is Assay's.",
)
def classification_pr_curve(suite: Suite, outputs: Outputs, parameters: ScoreCurveParameters) -> Findings:
    """Precision, recall and F1 of each class at score thresholds: .05, .10, …, .95, or others.

    Every pair of case and class is its own yes or no: at threshold s a class is predicted for a case where its score is
    ≥ s. Over the cases with a true label and scores, for each class:

        tp = cases of the class with it predicted        fp = other cases with it predicted
        fn = cases of the class without                  tn = other cases without
        precision = tp / (tp + fp)      recall = tp / (tp + fn)      F1 = 2·tp / (2·tp + fp + fn)

    The curve has the columns label, threshold, tp, fp, tn, fn, precision, recall, f1. Precision is empty where nothing
    is predicted, recall and F1 where the class has no cases. A class without a score in a case is predicted at no
    threshold. A case without scores is unscored; with `missing` = wrong it is a miss of its class at every threshold.
    The matches list the predictions from the lowest threshold on and the true labels below it. Where scores are not
    within 0 … 1, such as logits, a threshold t stands for the score that a share t of all scores is below.

    `best_f1` of a class is its largest F1 over the thresholds, and `best_threshold` the lowest threshold that reaches
    it; without label, the largest mean of F1 over the classes with cases, at one common threshold, and that threshold.
    0 … 1, higher is better; n is the number of cases of the class. Interval and paired test: resamples of the cases
    (of `cases.group` where given) at that threshold. That it was chosen on the same cases is left out: a threshold for
    use is better chosen on others. The mean over classes of fewer than 5 cases (harmonic mean) has neither.

    `average_precision` of a class is Σ (recall − recall at the score above) · precision over all its scores, whatever
    the thresholds: the area under the curve in steps, which guesses bring to the share of the class. Without label, the
    mean over the classes with cases. Equal to scikit-learn's average_precision_score, of each class against all others.
    The interval is from resamples in which, to first order, each case moves it as its influence says.
    """
    found = read_scores(suite, outputs, parameters.missing)
    thresholds = found.thresholds_of(parameters.score_thresholds)
    tp, predicted = roc.threshold_counts(found.scores, found.truth, thresholds)
    table = curve_table(found.labels, thresholds, found.truths, tp, predicted, len(found.truth))
    draws = parameters.draws(suite).of_cases(found.place)
    aggregates = _aggregates(found, thresholds, draws)
    return Findings(aggregates, curves=table, matches=_matches(found, float(thresholds[0])))


def _aggregates(found: ScoreMatrix, thresholds: Floats, draws: Draws) -> list[Aggregate]:
    n, unscored = len(found.truth), sum(found.unscored_labels.values())
    tp, predicted = roc.threshold_counts(found.scores, found.truth, thresholds, draws.weights)
    truths = draws.sums(found.truth, len(found.labels))[0]
    known = truths > 0
    if not n:
        return [
            aggregate(metric, math.nan, n=0, unscored=unscored, reason=found.nothing)
            for metric in ("best_f1", "best_threshold", "average_precision")
        ]
    scores, whole = roc.f1(tp, predicted, truths[:, None]), (predicted + truths[:, None]) / 2
    common = highest_place(scores[known].mean(axis=0))
    best = np.where(known, highest_places(scores), common)
    left_out = int(np.count_nonzero(~known))
    reason = f"{left_out} of {len(known)} classes left out: {NO_CASES}" if left_out else None
    mean = mean_over(_resampled(found, thresholds[np.full_like(best, common)], draws), -1)
    rows = [
        estimate(
            "best_f1", mean, effective(whole[known, common]), draws, n=n, unscored=unscored, reason=reason,
            few=few_cases(truths, draws),
        ),
        aggregate("best_threshold", thresholds[common], n=n, unscored=unscored),
    ]  # fmt: skip
    own = _resampled(found, thresholds[best], draws)
    for code, label in enumerate(found.labels):
        at, out, many = int(best[code]), found.unscored_labels.get(label, 0), int(found.truths[code])
        why, threshold = (None, thresholds[at]) if known[code] else (NO_CASES, math.nan)
        rows += [
            estimate("best_f1", own[:, code], whole[code, at], draws, n=many, unscored=out, label=label, reason=why),
            aggregate("best_threshold", threshold, n=many, unscored=out, label=label, reason=why),
        ]
    return rows + _precisions(found, truths, reason, draws)


def _precisions(found: ScoreMatrix, truths: Floats, reason: str | None, draws: Draws) -> list[Aggregate]:
    """Return the mean of average precision over the classes with cases, then that of each."""
    each = [
        roc.average_precision(column, found.truth == code, draws.weights) for code, column in enumerate(found.scores.T)
    ]
    areas = roc.resampled(np.array([area for area, _ in each]), np.column_stack([own for _, own in each]), draws)
    n, unscored = len(found.truth), sum(found.unscored_labels.values())
    mean, few = mean_over(areas, -1), few_cases(truths, draws)
    rows = [
        estimate("average_precision", mean, effective(truths), draws, n=n, unscored=unscored, reason=reason, few=few)
    ]
    for code, (label, many) in enumerate(zip(found.labels, found.truths.tolist(), strict=True)):
        why, out = None if truths[code] > 0 else NO_CASES, found.unscored_labels.get(label, 0)
        rows.append(
            estimate(
                "average_precision", areas[:, code], truths[code], draws, n=many, unscored=out, label=label, reason=why
            )
        )
    return rows


def _resampled(found: ScoreMatrix, at: Floats, draws: Draws) -> Floats:
    """Return F1 of each class, predicted at the threshold `at` [k], in each data set: [1 + B, k]."""
    k = len(found.labels)
    case, code = np.nonzero(found.scores >= at)  # NaN is not
    right = found.truth[case] == code
    tp = draws.sums(code[right], k, cases=case[right])
    return roc.f1(tp, draws.sums(code, k, cases=case), draws.sums(found.truth, k))


def _matches(found: ScoreMatrix, lowest: float) -> pa.Table:
    """Return every prediction at or above the lowest threshold, then every true label below it: schema MATCHES."""
    true, other = roc.true_and_other(found.scores, found.truth)
    case, code = np.nonzero(found.scores >= lowest)
    missed = np.flatnonzero(true < lowest)
    right = found.truth[case] == code
    kinds = np.concatenate([np.where(right, 0, 1), np.where(other[missed] >= lowest, 2, 3)])
    names = pa.array(["tp", "fp_misclassification", "fn_misclassification", "fn_no_prediction"], pa.string())
    size = len(kinds)
    columns = [
        pa.array(found.case_ids, pa.string()).take(pa.array(np.concatenate([case, missed]))),
        pa.array(found.labels, pa.string()).take(pa.array(np.concatenate([code, found.truth[missed]]))),
        names.take(pa.array(kinds)),
        pa.nulls(size, pa.int64()),
        pa.nulls(size, pa.int64()),
        pa.concat_arrays([pa.array(found.scores[case, code]), pa.nulls(len(missed), pa.float64())]),
        pa.nulls(size, pa.float64()),
        pa.nulls(size, pa.float64()),
    ]
    return pa.table(columns, schema=MATCHES)
