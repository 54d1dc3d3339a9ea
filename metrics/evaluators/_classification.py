"""The classification family: evaluators that set one predicted label a case against the true one, over a data set."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Aggregate, Columns, Findings, Metric, Parameters, Status
from metrics.core.sampling_design import SamplingDesign
from metrics.core.score_columns import STATUSES, ScoreColumns
from metrics.core.suite import Suite
from metrics.evaluators._spread_scores import gave_nothing
from metrics.stats.bootstrap import Draws
from metrics.stats.classification import confusion
from metrics.stats.float_tolerance import mean_over, ratio
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.resample_intervals import has_enough_truths, resample_interval

CONFUSION = pa.schema([("label", pa.string()), ("predicted", pa.string()), ("count", pa.int64())])
NOTHING_SCORED = "no case has both a true label and a prediction"
LEAST = 5.0  # cases a class, harmonic mean, below which a mean over classes has neither interval nor resamples
FEW_CASES = (
    f"No 95 % interval and no rank: it takes two classes and {LEAST:g} cases per class (harmonic mean); no interval or "
    "test of a mean over classes is reliable with fewer."
)
UNDEFINED = {
    "precision": "never predicted",
    "recall": "no case of this class",
    "f1": "neither a case of this class nor a prediction of it",
    "f_beta": "neither a case of this class nor a prediction of it",
    "specificity": "every case is of this class",
    "npv": "every prediction is of this class",
}
ONE_CLASS = "all cases, or all predictions, are of one class"

CLASSIFICATION_METRICS = (
    Metric("accuracy", "Share of cases whose predicted label is the true one.", binary=True, primary=True),
    Metric("f1", "Harmonic mean of precision and recall; over all classes the macro mean first."),
    Metric("precision", "Share of the predictions of a class that are right; over all classes the macro mean first."),
    Metric("recall", "Share of the cases of a class that are found; over all classes the macro mean first."),
    Metric.detail(
        "mcc", "Matthews' correlation of true and predicted class: 1 all right, 0 chance.", low=-1.0, title="MCC"
    ),
    Metric.detail("balanced_accuracy", "Mean over classes of their recall, so that each counts alike."),
    Metric.detail(
        "specificity", "Share of the cases of other classes that are not taken for a class; the macro mean first."
    ),
    Metric.detail(
        "npv",
        "Share of the predictions of other classes that are right in not being this one; the macro mean first.",
        title="NPV",
    ),
)
F_BETA = Metric(
    "f_beta",
    "F-score in which recall weighs β times as much as precision; over all classes the macro mean first.",
    threshold=None,
    title="F-β",
)


class ResamplingParameters(Parameters):
    """The resamples of the cases from which intervals and paired tests follow."""

    resamples: int = Field(
        500, ge=0, le=10_000, description="Resamples of the cases for 95 % intervals and paired tests; 0: neither."
    )
    seed: int = Field(0, ge=0, description="Seed of the resamples.")

    def draws(self, suite: Suite) -> Draws:
        """Return the resamples of a suite's cases, or of their groups: the same for every model."""
        design = SamplingDesign.of(suite.cases)
        return Draws.of(design.units, self.resamples, self.seed, design.weights)


class ClassificationParameters(ResamplingParameters):
    """What the family's evaluators share."""

    missing: Literal["unscored", "wrong"] = Field(
        "unscored",
        description="A case without a prediction: 'unscored' leaves it out and counts it as such; 'wrong' makes it an "
        "error of its true class, for models that may decline.",
    )


class LabelParameters(ClassificationParameters):
    """Which F-score is given beside F1."""

    beta: float | None = Field(
        None,
        gt=0,
        le=100,
        description="Also F-β, in which recall weighs β times as much as precision: 2 where misses are worse, .5 where "
        "false alarms are; empty: F1 alone.",
    )

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the declared metrics, and F-β where it is asked for."""
        return declared if self.beta is None else (*declared, F_BETA)


def compare(
    suite: Suite,
    truth: pa.Array,
    predicted: pa.Array,
    labels: Sequence[str],
    parameters: LabelParameters,
    evidence: pa.Array,
) -> Findings:
    """Accuracy, precision, recall, F1 and their relatives of one model, with the confusion matrix as curves.

    One entry a case of the suite in each column; null is an absent label. `labels` are the classes, every true one
    among them; a prediction that is none of them is wrong, and null in the confusion matrix, as is an absent one that
    counts. Intervals: see `aggregates`.
    """
    names = pa.array([*labels, None], pa.string())
    true_codes, guesses = (
        pc.fill_null(pc.index_in(column, names[:-1]), len(labels)).to_numpy().astype(np.int64)
        for column in (truth, predicted)
    )
    known, guessed = (column.is_valid().to_numpy(zero_copy_only=False) for column in (truth, predicted))
    counted = known & guessed if parameters.missing == "unscored" else known
    reason = pc.case_when(
        pc.make_struct(pa.array(~known), pa.array(~guessed)),
        "the case has no true label",
        "the model made no prediction",
    )
    without = np.where(gave_nothing(reason), STATUSES.index(Status.SKIPPED), STATUSES.index(Status.NOT_APPLICABLE))
    cases = ScoreColumns(
        suite.cases["case_id"].combine_chunks(),
        {"accuracy": pa.array((true_codes == guesses).astype(np.float64), mask=~counted)},
        pa.array(np.where(counted, STATUSES.index(Status.OK), without), pa.int8()),
        reason,
        evidence,
    )
    unscored = Counter(truth.filter(pa.array(~counted)).to_pylist())
    true_codes, guesses = true_codes[counted], guesses[counted]
    cells = confusion.confusion_cells(true_codes, guesses, len(labels))
    curves = pa.table([names.take(cells.truth), names.take(cells.predicted), cells.times], schema=CONFUSION)
    draws = parameters.draws(suite).of_cases(np.flatnonzero(counted))
    return Findings(aggregates(true_codes, guesses, labels, draws, unscored, parameters.beta), cases, curves)


class _Kind(NamedTuple):
    """A score of labels: its values in each data set, by label and micro, and what those of the data itself rest on.

    values: [1 + B, k]; micro: [1 + B]; mass: [k] the cases behind a value, weighted; part, whole: [k] the counts of
    which it is a share, None where it is none.
    """

    values: Floats
    micro: Floats
    mass: Floats
    part: list[int] | None
    whole: list[int]


def aggregates(
    truth: Ints,
    predicted: Ints,
    labels: Sequence[str],
    draws: Draws,
    unscored: Mapping[str | None, int],
    beta: float | None = None,
) -> list[Aggregate]:
    """Accuracy, the three means of each score (macro first), MCC and balanced accuracy, then every label's; `unscored`
    counts by true label.

    truth, predicted: [n] codes of `labels`, k predicted for none of them. Shares of independent cases have Wilson's
    interval, all else one from the resamples, see `estimate`.
    """
    n, k, out = len(truth), len(labels), sum(unscored.values())
    if not n:
        names = [*confusion.LabelScores._fields, *(["f_beta"] if beta else []), "specificity", "npv"]
        averaged = ((metric, average) for average in confusion.AVERAGES for metric in names)
        return [
            Aggregate(metric, None, unscored=out, reason=NOTHING_SCORED, columns={"average": average})
            for metric, average in (("accuracy", None), *averaged, ("mcc", None), ("balanced_accuracy", None))
        ]
    hit = np.flatnonzero(truth == predicted)
    right, truths = draws.sums(truth[hit], k, cases=hit), draws.sums(truth, k)
    made = draws.sums(predicted, k + 1)
    own = wilson(len(hit), n) if draws.single else None
    accuracy = ratio(right.sum(axis=1), truths.sum(axis=1))
    found = [estimate("accuracy", accuracy, n, draws, n=n, unscored=out, share=own, columns={"average": None})]
    cases = [np.bincount(codes, minlength=k)[:k] for codes in (truth[hit], predicted, truth)]
    kinds = _kinds(right, made[:, :k], truths, cases, beta)
    rare = few_cases(truths[0], draws)
    left_out = {
        metric: f"{lost} of {k} classes left out: {UNDEFINED[metric]}"
        for metric, kind in kinds.items()
        if (lost := int(np.isnan(kind.values[0]).sum()))
    }
    for average in confusion.AVERAGES:
        for metric, kind in kinds.items():
            own, values, few, of = None, kind.micro, None, float(n)
            reason: str | None = None
            if np.isnan(values[0]):
                reason = ONE_CLASS if metric in ("specificity", "npv") else "no prediction is one of the classes"
            if average == "micro":
                whole = (made[:, :k] if metric == "precision" else truths)[0].sum()
                one_share = metric in ("precision", "recall") or made[0, :k].sum() == truths[0].sum()
                if draws.single and one_share and metric not in ("specificity", "npv"):
                    own = wilson(len(hit), float(whole))
            else:
                values = mean_over(kind.values, -1, weights=np.ones_like(truths) if average == "macro" else truths)
                reason = left_out.get(metric)
            if average == "macro":
                of, few = effective(kind.mass), rare
            found.append(
                estimate(
                    metric, values, of, draws, n=n, unscored=out, share=own, few=few, reason=reason,
                    columns={"average": average},
                )
            )  # fmt: skip
    correlation = confusion.matthews(right, made, truths)
    alone: dict[str, Any] = {"n": n, "unscored": out, "columns": {"average": None}}
    recall = kinds["recall"]
    found += [
        estimate(
            "mcc", correlation, n, draws, bottom=-1.0, reason=ONE_CLASS if np.isnan(correlation[0]) else None, **alone
        ),
        estimate(
            "balanced_accuracy", mean_over(recall.values, -1), effective(recall.mass), draws, few=rare,
            reason=left_out.get("recall"), **alone,
        ),
    ]  # fmt: skip
    return found + _of_labels(kinds, labels, draws, unscored)


def _kinds(right: Floats, made: Floats, truths: Floats, cases: Sequence[Ints], beta: float | None) -> dict[str, _Kind]:
    """Return the scores of labels by name; `cases` [k] are the right, the predicted and the true ones as they are."""
    scores, occurs = confusion.label_scores(right, made, truths), made[0] + truths[0] > 0
    no = [np.where(occurs, counts, 0.0) for counts in confusion.complements(right, made, truths)]  # of no other label
    negative = confusion.label_scores(*no)
    summed = [counts.sum(axis=-1) for counts in (right, made, truths)]
    micro, micro_negative = (
        confusion.label_scores(summed[0], summed[1], summed[2]),
        confusion.label_scores(*(counts.sum(axis=-1) for counts in no)),
    )
    tp, guessed, real = (counts.tolist() for counts in cases)
    tn, not_guessed, not_real = (np.where(occurs, counts, 0).tolist() for counts in confusion.complements(*cases))
    either = (cases[1] + cases[2] - cases[0]).tolist()
    both = (made[0] + truths[0]) / 2
    found = {
        "precision": _Kind(scores.precision, micro.precision, made[0], tp, guessed),
        "recall": _Kind(scores.recall, micro.recall, truths[0], tp, real),
        "f1": _Kind(scores.f1, micro.f1, both, None, either),
    }
    if beta is not None:
        all_ = confusion.f_beta(summed[0], summed[1], summed[2], beta)
        found["f_beta"] = _Kind(confusion.f_beta(right, made, truths, beta), all_, both, None, either)
    found["specificity"] = _Kind(negative.recall, micro_negative.recall, no[2][0], tn, not_real)
    found["npv"] = _Kind(negative.precision, micro_negative.precision, no[1][0], tn, not_guessed)
    return found


def _of_labels(
    kinds: Mapping[str, _Kind], labels: Sequence[str], draws: Draws, unscored: Mapping[str | None, int]
) -> list[Aggregate]:
    """Return the scores of every label."""
    ends = {
        metric: resampled_ends(kind.values, kind.mass, draws)
        for metric, kind in kinds.items()
        if kind.part is None or not draws.single
    }
    lacking = {metric: np.isnan(kind.values[0]).tolist() for metric, kind in kinds.items()}
    return [
        estimate(
            metric, kind.values[:, code], kind.mass[code], draws, n=kind.whole[code], unscored=unscored.get(label, 0),
            label=label, columns={"average": None}, drawn=ends[metric][code] if metric in ends else None,
            share=wilson(kind.part[code], kind.whole[code]) if kind.part is not None and metric not in ends else None,
            reason=UNDEFINED[metric] if lacking[metric][code] else None,
        )
        for code, label in enumerate(labels)
        for metric, kind in kinds.items()
    ]  # fmt: skip


def few_cases(truths: Floats | Ints, draws: Draws) -> str | None:
    """Return why means over classes with so many cases [k] have neither interval nor resamples; None where they do."""
    many = np.asarray(truths * draws.independence, np.float64)
    return None if np.count_nonzero(many) > 1 and has_enough_truths(many, LEAST, 0) else FEW_CASES


def count_rarer(which: Bools, draws: Draws) -> float:
    """Return how many cases of the rarer kind there are, those in `which` [n] or the others, as far as independent."""
    hits = int(np.count_nonzero(which))
    return min(hits, len(which) - hits) * draws.independence


def effective(counts: Floats | Ints) -> float:
    """Return on how many cases a mean over classes rests that have `counts` [k] cases each: k²/Σ 1/count, 0 left out.

    As many cases in one class give a share the variance that the mean over classes has.
    """
    present = counts[counts > 0]
    return len(present) ** 2 / float((1 / present).sum()) if len(present) else 0.0


def resampled_ends(values: Floats, objects: Floats, draws: Draws, bottom: float = 0.0) -> list[Interval]:
    """Return the 95 % intervals of several `values` [1 + B, m] that rest on `objects` [m] cases; none of one unit.

    They follow from the same resamples that pair models: their variance, scaled as that of a share of so many cases in
    the units of `draws`, see resample_interval; of values within bottom … 1.
    """
    if len(values) < 2 or draws.units < 2:
        return [NONE] * values.shape[1]
    span = 1.0 - bottom
    scaled = (values - bottom) / span if bottom else values
    size = np.maximum(1.0, objects * draws.independence)
    low, high = resample_interval(scaled[0], scaled[1:], size, draws.units, bias=0.0)
    return list(zip((bottom + span * low).tolist(), (bottom + span * high).tolist(), strict=True))


def estimate(
    metric: str,
    values: Floats,
    objects: float,
    draws: Draws,
    *,
    n: int,
    unscored: int,
    label: str | None = None,
    share: Interval | None = None,
    drawn: Interval | None = None,
    bottom: float = 0.0,
    few: str | None = None,
    reason: str | None = None,
    columns: Columns | None = None,
) -> Aggregate:
    """Return the aggregate of `values` [1 + B]: of the data set and of its resamples; NaN is no value, with a reason.

    The interval is `share` where given, else `drawn`, or what resampled_ends has for `objects` cases and the range
    bottom … 1. `few`: why there are too few cases for either.
    """
    value, samples = float(values[0]), values[1:]
    if draws.units < 2:  # one unit says nothing about the next
        samples = samples[:0]
    if few is not None and len(samples) and not math.isnan(value):
        samples, reason = samples[:0], few if reason is None else f"{reason}. {few}"
    interval, method = share or NONE, "wilson"
    if share is None and len(samples) and not math.isnan(value):
        interval = drawn or resampled_ends(values[:, None], np.array([objects]), draws, bottom)[0]
        method = "bootstrap"
    return aggregate(
        metric, value, interval, method, n=n, unscored=unscored, label=label, reason=reason, columns=columns,
        samples=samples,
    )  # fmt: skip


def aggregate(
    metric: str,
    value: float,
    interval: Interval = NONE,
    method: str | None = None,
    *,
    n: int,
    unscored: int,
    label: str | None = None,
    reason: str | None = None,
    columns: Columns | None = None,
    samples: Floats | None = None,
) -> Aggregate:
    """Return an Aggregate from plain floats: NaN is no value, which needs a reason, or no end of an interval.
    samples: [B], none of one unit.
    """
    columns = columns or {}
    if np.isnan(value):
        return Aggregate(metric, None, n=n, unscored=unscored, label=label, reason=reason, columns=columns)
    low, high = (None if bound is None or np.isnan(bound) else float(bound) for bound in interval)
    method = None if low is None and high is None else method
    samples = None if samples is None or not len(samples) else samples
    return Aggregate(metric, float(value), low, high, n, unscored, label, reason, columns, method, samples)
