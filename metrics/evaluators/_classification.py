"""The classification family: evaluators that set one predicted label a case against the true one, over a data set."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.evaluator import Aggregate, CaseScore, Findings, Metric, Parameters, not_applicable
from metrics.core.evidence import Evidence
from metrics.stats.classification.confusion import (
    AVERAGES,
    Confusion,
    LabelScores,
    label_scores,
    mean_scores,
    resampled,
)
from metrics.stats.intervals import NONE, Interval, percentiles, wilson

CONFUSION = pa.schema([("label", pa.string()), ("predicted", pa.string()), ("count", pa.int64())])
NOTHING_SCORED = "no case has both a true label and a prediction"
UNDEFINED = {
    "precision": "never predicted",
    "recall": "no case of this class",
    "f1": "neither a case of this class nor a prediction of it",
}

CLASSIFICATION_METRICS = (
    Metric("accuracy", "Share of cases whose predicted label is the true one.", binary=True, primary=True),
    Metric("precision", "Share of the predictions of a class that are right; over all classes the macro mean first."),
    Metric("recall", "Share of the cases of a class that are found; over all classes the macro mean first."),
    Metric("f1", "Harmonic mean of precision and recall; over all classes the macro mean first."),
)


class ClassificationParameters(Parameters):
    """What the family's evaluators share."""

    missing: Literal["unscored", "wrong"] = Field(
        "unscored",
        description="A case without a prediction: 'unscored' leaves it out and counts it as such; 'wrong' makes it an "
        "error of its true class, for models that may decline.",
    )


def compare(
    case_ids: Sequence[str],
    truth: Sequence[str | None],
    predicted: Sequence[str | None],
    labels: Sequence[str],
    missing: Literal["unscored", "wrong"],
    evidence: Sequence[Mapping[str, Any]],
) -> Findings:
    """Accuracy, precision, recall and F1 of one model, with the confusion matrix as curves.

    One entry a case in each sequence; None is an absent label. `labels` are the classes, every true one among them; a
    prediction that is none of them is wrong, and null in the confusion matrix, as is an absent one that counts.
    Intervals: Wilson for accuracy, micro means and the precision and recall of a class; bootstrap over cases otherwise.
    """
    codes = {label: code for code, label in enumerate(labels)}
    cases: dict[str, CaseScore] = {}
    pairs: list[tuple[int, int]] = []
    unscored: Counter[str | None] = Counter()
    for case_id, true, guess, facts in zip(case_ids, truth, predicted, evidence, strict=True):
        shown = Evidence(facts=facts)
        if true is None:
            cases[case_id] = not_applicable("the case has no true label", shown)
        elif guess is None and missing == "unscored":
            cases[case_id] = not_applicable("the model made no prediction", shown)
        else:
            reason = "the model made no prediction" if guess is None else None
            pairs.append((codes[true], len(labels) if guess is None else codes.get(guess, len(labels))))
            cases[case_id] = CaseScore({"accuracy": float(true == guess)}, reason=reason, evidence=shown)
            continue
        unscored[true] += 1
    confusion = Confusion.of([true for true, _ in pairs], [guess for _, guess in pairs], len(labels))
    names = pa.array([*labels, None], pa.string())
    curves = pa.table([names.take(confusion.truth), names.take(confusion.predicted), confusion.count], schema=CONFUSION)
    return Findings(aggregates(confusion, labels, unscored), cases, curves)


def aggregates(confusion: Confusion, labels: Sequence[str], unscored: Mapping[str | None, int]) -> list[Aggregate]:
    """Accuracy, the three means of each score (macro first), then every label's; `unscored` counts by true label."""
    right, predicted, truths = confusion.outcomes()
    n, out = confusion.n, sum(unscored.values())
    if not n:
        kinds = [("accuracy", None), *((metric, average) for average in AVERAGES for metric in LabelScores._fields)]
        return [
            Aggregate(metric, None, unscored=out, reason=NOTHING_SCORED, columns={"average": average})
            for metric, average in kinds
        ]
    hits = int(right.sum())
    found = [_aggregate("accuracy", hits / n, wilson(hits, n), "wilson", n, out)]
    drawn_f1, drawn_means = resampled(confusion)
    scores = label_scores(right, predicted, truths)
    for average in AVERAGES:
        means = mean_scores(right, predicted, truths, average)
        for metric, value in means._asdict().items():
            left_out = 0 if average == "micro" else int(np.isnan(getattr(scores, metric)).sum())
            reason = f"{left_out} of {len(labels)} classes left out: {UNDEFINED[metric]}" if left_out else None
            if average == "micro" and math.isnan(value):
                reason = "no prediction is one of the classes"
            interval, method = NONE if n < 2 else percentiles(getattr(drawn_means[average], metric)), "bootstrap"
            if average == "micro" and (metric != "f1" or predicted.sum() == truths.sum()):  # a share of something
                interval, method = wilson(hits, int((predicted if metric == "precision" else truths).sum())), "wilson"
            found.append(_aggregate(metric, float(value), interval, method, n, out, reason=reason, average=average))
    for code, label in enumerate(labels):
        hit, made, real = int(right[code]), int(predicted[code]), int(truths[code])
        intervals = {
            "precision": (wilson(hit, made), "wilson", made),
            "recall": (wilson(hit, real), "wilson", real),
            "f1": (NONE if n < 2 else percentiles(drawn_f1[:, code]), "bootstrap", made + real - hit),
        }
        for metric, (interval, method, count) in intervals.items():
            value = float(getattr(scores, metric)[code])
            reason = UNDEFINED[metric] if math.isnan(value) else None
            out_of_label = unscored.get(label, 0)
            found.append(_aggregate(metric, value, interval, method, count, out_of_label, label=label, reason=reason))
    return found


def _aggregate(
    metric: str,
    value: float,
    interval: Interval,
    method: str,
    n: int,
    unscored: int,
    *,
    label: str | None = None,
    reason: str | None = None,
    average: str | None = None,
) -> Aggregate:
    if math.isnan(value):
        interval = NONE
    return Aggregate(
        metric,
        None if math.isnan(value) else value,
        *interval,
        n,
        unscored,
        label,
        reason,
        {"average": average},
        None if interval == NONE else method,
    )
