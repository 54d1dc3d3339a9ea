"""Interval coverage: whether the intervals that a model gives with its predictions hold the true values."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate, estimate
from metrics.evaluators.regression._values import NOTHING_SCORED, Values, number_cases, read_values
from metrics.stats.intervals import wilson
from metrics.stats.prediction_errors import resampled_means

BOUNDS = ("predicted_low", "predicted_high")
THREE = number_cases((1.0, 0.0, 2.0), (3.0, 0.0, 2.0), (-1.0, 0.0, 2.0), columns=BOUNDS)


class IntervalParameters(ResamplingParameters):
    """Which intervals these are."""

    level: float = Field(
        0.9, gt=0, lt=1, description="The nominal level of the intervals: the share of the true values to be inside."
    )


@evaluator(
    tasks=("regression",),
    inputs=("true_value", "predicted_low", "predicted_high"),
    metrics=(
        Metric.lower("coverage_gap", "|coverage − nominal level|.", primary=True, threshold=0.05),
        Metric.neutral("coverage", "Share of the true values that are inside the interval.", binary=True),
        Metric.amount("mean_width", "Mean width of the intervals."),
        Metric.amount("interval_score", "Mean width, plus 2/(1 − level) times how far a true value is outside."),
        Metric.amount(
            "crps",
            "Continuous ranked probability score of the normal distribution with that central interval.",
            minor=True,
            title="CRPS",
        ),
        Metric.amount("pinball", "Mean pinball loss of both ends as quantiles.", minor=True),
    ),
    sources=(
        "Gneiting & Raftery 2007: Strictly proper scoring rules (CRPS)",
        "Koenker & Bassett 1978: Regression quantiles",
    ),
    standards=("valid and reliable",),
    version=2,
    examples=(
        Example(
            "one of three is inside 0 … 2; the others miss it by 1",
            THREE,
            expect={
                "coverage_gap": 0.8 - 1 / 3,
                "mean_width": 2.0,
                "interval_score": 2.0 + 10 * 2 / 3,
                "pinball": (2.0 + 10 * 2 / 3) * 0.2 / 4,
            },
            rows=({"metric": "coverage", "value": 1 / 3, "n": 3},),
            parameters={"level": 0.8},
        ),
        Example(
            "ends count as inside; a case without an interval is unscored",
            number_cases((2.0, 0.0, 2.0), (1.0, 0.0, None), columns=BOUNDS),
            expect={"interval_score": 2.0},
            rows=({"metric": "coverage", "value": 1.0, "n": 1, "unscored": 1},),
        ),
    ),
    differs_from="regression judges the prediction itself; this one the interval around it.",
    differs_from_source="Pinball is the mean of the losses of both ends, scikit-learn's mean_pinball_loss of each; the "
    "thresholds are Assay's. An interval with its low end above its high end is not scored.",
)
def interval_coverage(suite: Suite, outputs: Outputs, parameters: IntervalParameters) -> Findings:
    """How often a model's own interval holds the true value, and how wide it is.

    Of the n cases with a true value t and an interval l … u of nominal level 1 − α, ends included:

        coverage = share with l ≤ t ≤ u        coverage_gap = |coverage − (1 − α)|        mean_width = mean (u − l)
        interval_score = mean of (u − l) + 2/α · (l − t where t < l) + 2/α · (t − u where t > u)
        pinball = mean over both ends q, at the quantiles α/2 and 1 − α/2 = a, of max(a·(t − q), (a − 1)·(t − q))

        crps = mean of σ·(z·(2Φ(z) − 1) + 2φ(z) − 1/√π)        z = (t − m) / σ

    CRPS is that of a normal distribution with the mean m = (l + u) / 2 whose central interval of `level` is l … u, so
    σ = (u − l) / (2·Φ⁻¹(1 − α/2)). It assumes this: of a skewed prediction, or one with heavy tails, prefer interval
    score and pinball, which assume nothing. It has the unit of the values; of an interval of width 0 it is |t − m|.

    Coverage at the nominal level is right; wide intervals reach it easily, so the width counts, too. The interval score
    weighs both and is least for the true quantiles; pinball is α/4 of it. `level` must be that of the intervals given:
    0.9 for the quantiles .05 and .95. Pinball is equal to scikit-learn's mean_pinball_loss.

    A case without a true value or without both ends is unscored, as is one whose low end is above its high end. The
    score of a case is whether it is inside (coverage), the width and its loss; evidence: truth, low, high.

    95 % intervals: Wilson's for the coverage, resamples where cases are in groups, bootstrap for means; the gap's ends
    follow from those of the coverage. Two models are tested on the same resamples.
    """
    found = read_values(suite, outputs, parameters, dict.fromkeys(BOUNDS, "interval"))
    low, high, truth = found.given["low"], found.given["high"], found.truth
    tail = 1 - parameters.level
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    width, inside = high - low, (outside == 0).astype(np.float64)
    score = width + 2 / tail * outside
    values = {"coverage": inside, "mean_width": width, "interval_score": score, "pinball": score * tail / 4}
    values["crps"] = _normal_crps(truth, low, high, parameters.level)
    cases = found.case_scores(values)
    coverage = _coverage(found, inside)
    rows = [coverage, _gap(coverage, parameters.level)]
    rows += [found.mean(name, own) for name, own in values.items() if name != "coverage"]
    return Findings(rows, cases)


def _normal_crps(truth: Floats, low: Floats, high: Floats, level: float) -> Floats:
    """Return the CRPS [n] of normal distributions with these central intervals; of width 0 the absolute error."""
    error = truth - (low + high) / 2
    deviation = (high - low) / 2 / NormalDist().inv_cdf((1 + level) / 2)
    z = np.abs(error) / np.where(deviation > 0, deviation, 1.0)
    z = np.minimum(z, 1e3)  # beyond, the score is |error| less σ/√π to all digits
    inside = np.array([math.erf(one / math.sqrt(2)) for one in z.tolist()])
    score = deviation * (z * inside + math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) - 1 / math.sqrt(math.pi))
    far = np.abs(error) - deviation / math.sqrt(math.pi)
    return np.where((deviation > 0) & (z < 1e3), score, far)


def _coverage(found: Values, inside: Floats) -> Aggregate:
    n = len(inside)
    if not n:
        return aggregate("coverage", math.nan, n=0, unscored=found.unscored, reason=NOTHING_SCORED)
    means = resampled_means(inside[:, None], found.draws)[:, 0]
    share = wilson(float(inside.sum()), n) if found.draws.single else None
    return estimate("coverage", means, n, found.draws, n=n, unscored=found.unscored, share=share)


def _gap(coverage: Aggregate, level: float) -> Aggregate:
    """Return |coverage − level|; its interval are the distances from the level that the coverage's interval holds."""
    if coverage.value is None:
        return replace(coverage, metric="coverage_gap")
    low = high = None
    if coverage.low is not None and coverage.high is not None:
        far = (abs(coverage.low - level), abs(coverage.high - level))
        low, high = (0.0 if coverage.low <= level <= coverage.high else min(far)), max(far)
    samples = None if coverage.replicates is None else np.abs(coverage.replicates - level)
    return replace(
        coverage, metric="coverage_gap", value=abs(coverage.value - level), low=low, high=high, replicates=samples
    )
