"""The classification family: evaluators that set one predicted label a case against the true one, over a data set."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Aggregate, Columns, Findings, Metric, Parameters, Status
from metrics.core.sampling_design import SamplingDesign
from metrics.core.score_columns import STATUSES, ScoreColumns
from metrics.core.suite import Suite
from metrics.stats.bootstrap_draws import Draws
from metrics.stats.classification.confusion import AVERAGES, LabelScores, confusion_cells, label_scores, mean_scores
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
}

CLASSIFICATION_METRICS = (
    Metric("accuracy", "Share of cases whose predicted label is the true one.", binary=True, primary=True),
    Metric("precision", "Share of the predictions of a class that are right; over all classes the macro mean first."),
    Metric("recall", "Share of the cases of a class that are found; over all classes the macro mean first."),
    Metric("f1", "Harmonic mean of precision and recall; over all classes the macro mean first."),
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


def compare(
    suite: Suite,
    truth: pa.Array,
    predicted: pa.Array,
    labels: Sequence[str],
    parameters: ClassificationParameters,
    evidence: pa.Array,
) -> Findings:
    """Accuracy, precision, recall and F1 of one model, with the confusion matrix as curves.

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
    cases = ScoreColumns(
        suite.cases["case_id"].combine_chunks(),
        {"accuracy": pa.array((true_codes == guesses).astype(np.float64), mask=~counted)},
        pa.array(np.where(counted, STATUSES.index(Status.OK), STATUSES.index(Status.NOT_APPLICABLE)), pa.int8()),
        reason,
        evidence,
    )
    unscored = Counter(truth.filter(pa.array(~counted)).to_pylist())
    true_codes, guesses = true_codes[counted], guesses[counted]
    cells = confusion_cells(true_codes, guesses, len(labels))
    curves = pa.table([names.take(cells.truth), names.take(cells.predicted), cells.times], schema=CONFUSION)
    draws = parameters.draws(suite).of_cases(np.flatnonzero(counted))
    return Findings(aggregates(true_codes, guesses, labels, draws, unscored), cases, curves)


def aggregates(
    truth: Ints, predicted: Ints, labels: Sequence[str], draws: Draws, unscored: Mapping[str | None, int]
) -> list[Aggregate]:
    """Accuracy, the three means of each score (macro first), then every label's; `unscored` counts by true label.

    truth, predicted: [n] codes of `labels`, k predicted for none of them. Shares of independent cases have Wilson's
    interval, all else one from the resamples, see `estimate`.
    """
    n, k, out = len(truth), len(labels), sum(unscored.values())
    if not n:
        kinds = [("accuracy", None), *((metric, average) for average in AVERAGES for metric in LabelScores._fields)]
        return [
            Aggregate(metric, None, unscored=out, reason=NOTHING_SCORED, columns={"average": average})
            for metric, average in kinds
        ]
    hit = np.flatnonzero(truth == predicted)
    right, truths = draws.sums(truth[hit], k, cases=hit), draws.sums(truth, k)
    made = draws.sums(predicted, k + 1)[:, :k]
    hits = len(hit)
    cases = [np.bincount(codes, minlength=k)[:k].tolist() for codes in (truth[hit], predicted, truth)]
    scores = label_scores(right, made, truths)
    counts = LabelScores(made[0], truths[0], (made[0] + truths[0]) / 2)  # what the scores of a label rest on

    def share(part: float, whole: float) -> Interval | None:
        return wilson(part, whole) if draws.single else None

    accuracy = mean_scores(right, made, truths, "micro").recall
    found = [
        estimate("accuracy", accuracy, n, draws, n=n, unscored=out, share=share(hits, n), columns={"average": None})
    ]
    for average in AVERAGES:
        for metric, values in mean_scores(right, made, truths, average)._asdict().items():
            each, of, own, few = getattr(scores, metric)[0], float(n), None, None
            left_out = 0 if average == "micro" else int(np.isnan(each).sum())
            reason = f"{left_out} of {k} classes left out: {UNDEFINED[metric]}" if left_out else None
            if average == "micro":
                whole = (made if metric == "precision" else truths)[0].sum()
                reason = "no prediction is one of the classes" if np.isnan(values[0]) else None
                if metric != "f1" or made[0].sum() == truths[0].sum():  # a share of something
                    own = share(hits, float(whole))
            if average == "macro":
                of, few = effective(getattr(counts, metric)), few_cases(truths[0], draws)
            found.append(
                estimate(
                    metric, values, of, draws, n=n, unscored=out, share=own, few=few, reason=reason,
                    columns={"average": average},
                )
            )  # fmt: skip
    for code, label in enumerate(labels):
        tp, guessed, real = (of[code] for of in cases)
        counted: dict[str, int] = {"precision": guessed, "recall": real, "f1": guessed + real - tp}
        for metric, values in scores._asdict().items():
            found.append(
                estimate(
                    metric, values[:, code], getattr(counts, metric)[code], draws, n=counted[metric],
                    unscored=unscored.get(label, 0), label=label, columns={"average": None},
                    share=None if metric == "f1" else share(tp, counted[metric]),
                    reason=UNDEFINED[metric] if np.isnan(values[0, code]) else None,
                )
            )  # fmt: skip
    return found


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
    few: str | None = None,
    reason: str | None = None,
    columns: Columns | None = None,
) -> Aggregate:
    """Return the aggregate of `values` [1 + B]: of the data set and of its resamples; NaN is no value, with a reason.

    The interval is `share` where given, else follows from the same resamples that pair models: their variance, scaled
    as that of a share of `objects` cases in the units of `draws`, see resample_interval. `few`: why there are too few
    cases for either.
    """
    value, samples, units = float(values[0]), values[1:], draws.units
    if units < 2:  # one unit says nothing about the next
        samples = samples[:0]
    if few is not None and len(samples) and not math.isnan(value):
        samples, reason = samples[:0], few if reason is None else f"{reason}. {few}"
    interval, method = share or NONE, "wilson"
    if share is None and len(samples) and not math.isnan(value):
        low, high = resample_interval(values[0], samples, max(1.0, objects * draws.independence), units, bias=0.0)
        interval, method = (float(low), float(high)), "bootstrap"
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
