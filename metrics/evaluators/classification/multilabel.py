"""Multilabel: sets of predicted labels against sets of true ones, and the scores of all labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.evaluators._classification import (
    UNDEFINED,
    ResamplingParameters,
    aggregate,
    effective,
    estimate,
    few_cases,
)
from metrics.evaluators._spread_scores import spread_scores
from metrics.evaluators.classification._examples import classification_evaluator
from metrics.evaluators.classification._score_matrix import NO_SCORES
from metrics.stats.bootstrap import Draws
from metrics.stats.classification import confusion
from metrics.stats.classification.roc import resampled_areas, roc
from metrics.stats.float_tolerance import mean_over
from metrics.stats.intervals import wilson
from metrics.stats.prediction_errors import resampled_means

NO_LABELS = "the case has no list of true labels"
UNANSWERED = "the model has no output for the case"
NOTHING_SCORED = "no case has both true labels and an output"
NO_CASE = "no case has this label"
NOT_BOTH = "every case has this label, or none has"
ONE_CASE = "No 95 % interval and no rank: there is one case with this label, or one without."
SHARES = ("precision", "recall", "f1")
SAMPLES = "samples"
RANKS = {"label_ranking_ap": "average_precision", "coverage_error": "coverage", "ranking_loss": "loss"}


def label_cases(*cases: tuple[Sequence[str], Mapping[str, float]]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example: of each its true labels, and the scores of labels."""
    numbered = [(str(number), *case) for number, case in enumerate(cases, 1)]
    return {
        "cases": [{"case_id": id, "labels": list(labels)} for id, labels, _ in numbered],
        "outputs": [{"case_id": id} for id, _, _ in numbered],
        "predictions": [
            {"case_id": id, "label": label, "score": score}
            for id, _, scores in numbered
            for label, score in scores.items()
        ],
    }


class MultilabelParameters(ResamplingParameters):
    """From which score on a label is predicted."""

    score_threshold: float = Field(0.5, allow_inf_nan=False, description="A label is predicted from this score on.")


@classification_evaluator(
    title="Multilabel classification",
    stand="first",
    inputs=("labels", "predictions"),
    metrics=(
        Metric(
            "f1",
            "Harmonic mean of precision and recall of a label; over all labels the macro mean first.",
            primary=True,
        ),
        Metric(
            "precision", "Share of the predictions of a label that are right; over all labels the macro mean first."
        ),
        Metric("recall", "Share of the cases with a label that are found; over all labels the macro mean first."),
        Metric("subset_accuracy", "Share of the cases whose predicted labels are exactly the true ones.", binary=True),
        Metric.lower("hamming_loss", "Share of all pairs of a case and a label that are wrong."),
        Metric("map", "Mean over labels of the average precision of their scores.", title="mAP", threshold=None),
        Metric.detail(
            "roc_auc",
            "Chance that a case with a label scores higher for it than one without; the mean over labels.",
            title="ROC AUC",
        ),
        Metric.detail(
            "label_ranking_ap",
            "Mean over true labels of the share of true ones among those scored as high.",
            title="Label ranking AP",
        ),
        Metric.amount(
            "coverage_error",
            "How many labels down the ranking all true ones are found, the mean over cases.",
            minor=True,
        ),
        Metric.lower(
            "ranking_loss",
            "Share of pairs of a true and a false label that are not in order by score.",
            threshold=None,
            minor=True,
        ),
    ),
    sources=("scikit-learn: multilabel metrics",),
    examples=(
        Example(
            "one case right, one that lacks a label, one with a label too many",
            label_cases((["a"], {"a": 0.9, "b": 0.2}), (["a", "b"], {"a": 0.8, "b": 0.3}), ([], {"a": 0.6, "b": 0.1})),
            expect={
                "hamming_loss": 2 / 6,
                "map": 1.0,
                "roc_auc": 1.0,
                "coverage_error": (1 + 2 + 0) / 3,
                "label_ranking_ap": 1.0,
                "ranking_loss": 0.0,
            },
            rows=(
                {"metric": "subset_accuracy", "value": 1 / 3, "n": 3},
                {"metric": "precision", "label": "a", "value": 2 / 3},
                {"metric": "recall", "label": "b", "value": 0.0},
                {"metric": "precision", "label": "b", "value": None},
                {"metric": "f1", "label": None, "average": "micro", "value": 4 / 6},
                {"metric": "f1", "label": None, "average": "macro", "value": 0.4},
                {"metric": "f1", "label": None, "average": "samples", "value": (1 + 2 / 3 + 0) / 3},
                {"metric": "roc_auc", "label": "a", "value": 1.0},
            ),
        ),
    ),
    differs_from="classification takes one label a case, the highest-scored one; here every label is predicted or not.",
    differs_from_source="0/0 has no value and is left out of means, with the reason; scikit-learn gives 0 and warns. A "
    "label without true cases has no average precision, one that all or no cases have no ROC AUC. A label without a "
    "score in a case counts as scored below all others.",
)
def multilabel(suite: Suite, outputs: Outputs, parameters: MultilabelParameters) -> Findings:
    """How well sets of predicted labels agree with sets of true ones, label by label and case by case.

    A label is predicted where its score is at least `score_threshold`, or where it is listed without one. Over the n
    cases with a list of true labels (which may be empty) and an output, and the k labels of the suite and of the
    predictions:

        subset_accuracy = cases with exactly the true labels / n
        hamming_loss    = pairs of case and label that are wrong / (n · k)
        precision, recall, F1 of each label, as in classification

    Over all labels, column `average`: *macro*, the mean over labels, *weighted* by their cases, *micro*, of the summed
    counts, and *samples*, the mean over cases of the scores of each case's own set. From the scores alone: mAP, the
    mean over labels of average precision; ROC AUC, the mean over labels that some cases have and some do not, of the
    chance that one with the label scores higher for it; label ranking AP, coverage error and ranking loss, the means
    over cases.
    Lists of labels without scores rank nothing: these five have no value.

    0/0 has no value, with the reason, and is left out of means. Equal to scikit-learn's metrics with zero_division =
    nan, average_precision_score, roc_auc_score, label_ranking_average_precision_score, coverage_error and
    label_ranking_loss.

    The score of a case: subset accuracy, hamming loss, precision, recall and F1 of its set, and its ranking; evidence:
    truth and predicted. 95 % intervals over cases, or over `cases.group` where given: Wilson's for shares of cases,
    bootstrap for means over cases, resamples for the rest; two models are tested on the same resamples. Macro means
    over labels of fewer than 5 cases (harmonic mean) have neither.
    """
    found = _read(suite, outputs)
    predicted = found.scores >= parameters.score_threshold
    cases = _case_values(found, predicted)
    draws = parameters.draws(suite).of_cases(found.place)
    rows = [
        *_of_labels(found, predicted, draws),
        *_of_cases(found, cases, draws),
        *_precisions(found, draws),
        *_areas(found, draws),
    ]
    ids = suite.cases["case_id"].combine_chunks()
    shown = spread_scores(
        ids, found.place, found.reasons, cases, truth=_texts(found.truth, found.labels),
        predicted=_texts(predicted, found.labels),
    )  # fmt: skip
    return Findings(rows, shown)


@dataclass(frozen=True, eq=False, slots=True)
class _Sets:
    """The n scored cases: true labels and scores [n, k], −inf without one; place in the suite, and reasons of all N.

    `listed`: the predicted labels are lists without scores, which rank nothing.
    """

    labels: tuple[str, ...]
    truth: Bools
    scores: Floats
    place: NDArray[np.intp]
    reasons: pa.Array
    listed: bool

    @property
    def unscored(self) -> int:
        return len(self.reasons) - len(self.place)


def _read(suite: Suite, outputs: Outputs) -> _Sets:
    ids, lists = suite.cases["case_id"].combine_chunks(), suite.cases["labels"].combine_chunks()
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    table = table.filter(pc.is_valid(table["label"]))
    true = pc.list_flatten(lists)
    named = pa.concat_arrays([true, table["label"].combine_chunks()]).unique().drop_null().to_pylist()
    labels = (*suite.labels, *sorted(set(named) - set(suite.labels)))
    names, shape = pa.array(labels, pa.string()), (len(ids), len(labels))

    def codes(values: pa.Array | pa.ChunkedArray, known: pa.Array) -> Ints:
        found = pc.fill_null(pc.index_in(values, value_set=known), -1)
        places: Ints = found.to_numpy().astype(np.int64)
        return places

    truth = confusion.codes_matrix(pc.list_parent_indices(lists).to_numpy().astype(np.int64), codes(true, names), shape)
    flat = np.full(shape[0] * shape[1], -np.inf)
    case, label = codes(table["case_id"], ids), codes(table["label"], names)
    height = pc.fill_null(table["score"], 1.0).to_numpy()  # named without a score: predicted
    known = (case >= 0) & ~np.isnan(height)
    np.maximum.at(flat, case[known] * shape[1] + label[known], height[known])
    answered = pc.is_in(ids, value_set=outputs.outputs["case_id"].combine_chunks())
    listed = lists.is_valid()
    reasons = pc.case_when(pc.make_struct(pc.invert(listed), pc.invert(answered)), NO_LABELS, UNANSWERED)
    place = np.flatnonzero(pc.and_(listed, answered).to_numpy(zero_copy_only=False))
    unscored = bool(len(table)) and table["score"].null_count == len(table)
    return _Sets(labels, truth[place], flat.reshape(shape)[place], place, pc.cast(reasons, pa.string()), unscored)


def _case_values(found: _Sets, predicted: Bools) -> dict[str, Floats]:
    wrong = found.truth ^ predicted
    order = confusion.ranking(found.truth, found.scores)._asdict()
    ranks = {name: np.full(len(wrong), np.nan) if found.listed else order[field] for name, field in RANKS.items()}
    loss: Floats = np.asarray(wrong.mean(axis=1) if wrong.shape[1] else np.zeros(len(wrong)))
    precision, recall, f1 = confusion.set_f1(found.truth, predicted)
    return {
        "f1": f1, "precision": precision, "recall": recall,
        "subset_accuracy": np.asarray(~wrong.any(axis=1), np.float64),
        "hamming_loss": loss,
        **ranks,
    }  # fmt: skip


def _of_labels(found: _Sets, predicted: Bools, draws: Draws) -> Iterator[Aggregate]:
    """Yield precision, recall and F1: macro, weighted and micro means, then each label's."""
    n, k, out = len(found.place), len(found.labels), found.unscored
    if not n:
        for average in confusion.AVERAGES:
            for metric in SHARES:
                yield aggregate(
                    metric, math.nan, n=0, unscored=out, reason=NOTHING_SCORED, columns={"average": average}
                )
        return
    right, made, truths = confusion.label_counts(found.truth, predicted, draws)
    scores = confusion.label_scores(right, made, truths)
    cases = [np.count_nonzero(of, axis=0).tolist() for of in (found.truth & predicted, predicted, found.truth)]
    counts = confusion.LabelScores(made[0], truths[0], (made[0] + truths[0]) / 2)
    for average in confusion.AVERAGES:
        for metric, values in confusion.mean_scores(right, made, truths, average)._asdict().items():
            left_out = 0 if average == "micro" else int(np.isnan(getattr(scores, metric)[0]).sum())
            reason = f"{left_out} of {k} labels left out: {UNDEFINED[metric]}" if left_out else None
            if np.isnan(values[0]):
                reason = reason or "no label is predicted, or none is true"
            of = effective(getattr(counts, metric)) if average == "macro" else float(n)
            few = few_cases(truths[0], draws) if average == "macro" else None
            yield estimate(
                metric, values, of, draws, n=n, unscored=out, few=few, reason=reason, columns={"average": average}
            )
    for code, label in enumerate(found.labels):
        tp, guessed, real = (of[code] for of in cases)
        wholes = {"precision": guessed, "recall": real, "f1": guessed + real - tp}
        for metric, values in scores._asdict().items():
            own = wilson(tp, wholes[metric]) if draws.single and metric != "f1" and wholes[metric] else None
            yield estimate(
                metric, values[:, code], getattr(counts, metric)[code], draws, n=wholes[metric], unscored=out,
                label=label, columns={"average": None}, share=own,
                reason=UNDEFINED[metric] if np.isnan(values[0, code]) else None,
            )  # fmt: skip


def _of_cases(found: _Sets, cases: Mapping[str, Floats], draws: Draws) -> Iterator[Aggregate]:
    """Yield the means over cases: the samples average of precision, recall and F1, and the others."""
    for metric, values in cases.items():
        columns: dict[str, str | float | int | None] = {"average": SAMPLES if metric in SHARES else None}
        known = np.flatnonzero(~np.isnan(values))
        n, out = len(known), len(values) - len(known)
        reason = f"{out} of {len(values)} cases left out: nothing to divide by" if out else None
        if not n:
            why = NO_SCORES if found.listed and metric in RANKS else reason or NOTHING_SCORED
            yield aggregate(metric, math.nan, n=0, unscored=found.unscored + out, reason=why, columns=columns)
            continue
        column, own = values[known, None], draws.of_cases(known)
        samples = resampled_means(column, own)[:, 0]
        if metric == "subset_accuracy" and draws.single:
            ends, method = wilson(float(column.sum()), n), "wilson"
        else:
            high = math.inf if metric == "coverage_error" else 1.0
            ends, unknown = own.mean_interval(column[:, 0], 0.0, high)
            method, reason = "bootstrap", "; ".join(filter(None, [reason, unknown])) or None
        yield aggregate(
            metric, samples[0], ends, method, n=n, unscored=found.unscored + out, reason=reason, columns=columns,
            samples=samples[1:],
        )  # fmt: skip


def _precisions(found: _Sets, draws: Draws) -> Iterator[Aggregate]:
    """Yield the mean average precision over labels, then that of each."""
    n, k = len(found.place), len(found.labels)
    truths = np.count_nonzero(found.truth, axis=0)
    if not truths.any():
        yield aggregate("map", math.nan, n=n, unscored=found.unscored, reason=NO_CASE if n else NOTHING_SCORED)
        return
    if found.listed:
        yield aggregate("map", math.nan, n=n, unscored=found.unscored, reason=NO_SCORES)
        return
    areas = confusion.resampled_precisions(found.truth, found.scores, draws)
    held = ~np.isnan(areas[0])
    left_out = k - int(held.sum())
    reason = f"{left_out} of {k} labels left out: {NO_CASE}" if left_out else None
    mean = mean_over(areas[:, held], 1)
    yield estimate(
        "map", mean, effective(truths), draws, n=n, unscored=found.unscored, reason=reason,
        few=few_cases(truths, draws), columns={"average": None},
    )  # fmt: skip
    for code, label in enumerate(found.labels):
        many = int(truths[code])
        yield estimate(
            "map", areas[:, code], max(many, 1), draws, n=many, unscored=found.unscored, label=label,
            reason=None if held[code] else NO_CASE, columns={"average": None},
        )  # fmt: skip


def _areas(found: _Sets, draws: Draws) -> Iterator[Aggregate]:
    """Yield the mean ROC AUC over the labels that some cases have and some do not, then that of each label."""
    n, k = len(found.place), len(found.labels)
    mass = np.ones(n) if draws.weights is None else draws.weights
    both = [code for code in range(k) if 0 < mass @ found.truth[:, code] < mass.sum()]
    if not both or found.listed:
        why = NOTHING_SCORED if not n else NO_SCORES if found.listed else NOT_BOTH
        yield aggregate("roc_auc", math.nan, n=n, unscored=found.unscored, reason=why)
        return
    curves = [roc(found.scores[:, code], found.truth[:, code], draws.weights) for code in both]
    areas = resampled_areas(curves, found.truth[:, both], draws)
    truths = np.count_nonzero(found.truth, axis=0)
    rarer = np.minimum(truths, n - truths)
    yield estimate(
        "roc_auc", areas.mean(axis=1), effective(rarer[both]), draws, n=n, unscored=found.unscored,
        reason=f"{k - len(both)} of {k} labels left out: {NOT_BOTH}" if len(both) < k else None,
        few=few_cases(rarer[both], draws), columns={"average": None},
    )  # fmt: skip
    for code, (label, many) in enumerate(zip(found.labels, truths.tolist(), strict=True)):
        known, of = code in both, effective(np.array([many, n - many]))
        yield estimate(
            "roc_auc", areas[:, both.index(code)] if known else np.full(1, np.nan), of, draws, n=many,
            unscored=found.unscored, label=label, columns={"average": None}, reason=None if known else NOT_BOTH,
            few=ONE_CASE if rarer[code] * draws.independence < 2 else None,
        )  # fmt: skip


def _texts(which: Bools, labels: Sequence[str]) -> pa.Array:
    """Return the labels of each case [n] as one text."""
    return pa.array([", ".join(labels[code] for code in np.flatnonzero(row).tolist()) for row in which], pa.string())
