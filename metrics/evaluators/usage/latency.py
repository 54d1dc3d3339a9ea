"""Latency: median, 95 % point and mean of what answers take, of which a few may take very much."""

from metrics.core.evaluator import Example, Findings
from metrics.core.evaluator_decorator import evaluator
from metrics.core.fields import TASKS
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.usage._quantiles import (
    DIFFERS_FROM_SOURCE,
    SOURCES,
    describe_usage,
    example_of,
    usage_metrics,
)

METRICS = usage_metrics("time of an answer, in seconds", "s")


@evaluator(
    id="latency",
    title="Latency",
    tasks=TASKS,
    inputs=("duration_s",),
    metrics=METRICS,
    has_thresholds=False,
    sources=SOURCES,
    standards=("valid and reliable", "ongoing monitoring"),
    examples=(
        Example(
            "one answer of four takes most of all: the median does not move, the mean does",
            example_of("duration_s", 1.0, 2.0, 4.0, 30.0),
            rows=(
                {"metric": "median", "value": 3.0, "n": 4},
                {"metric": "p95", "value": 30.0},
                {"metric": "mean", "value": 9.25},
            ),
        ),
        Example(
            "an output that does not say it is unscored",
            example_of("duration_s", 1.0, None, 4.0),
            rows=({"metric": "median", "value": 2.5, "n": 2, "unscored": 1},),
        ),
    ),
    differs_from="agent_budget compares what was spent case by case with a budget; this one says what is usual.",
    differs_from_source=DIFFERS_FROM_SOURCE,
)
def latency(suite: Suite, outputs: Outputs, parameters: ResamplingParameters) -> Findings:
    """How long answers take: the median, the 95 % point and the mean of their seconds.

    median: half of the cases take less; p95: 5 % of the cases take more; of weighted cases by weight. They are of the
    outputs' column `duration_s`. Median and p95 lead because a few extreme cases neither move them nor widen their
    intervals; the mean times the number of cases is the total.

    95 % intervals of median and p95: two of the values themselves (order statistics), exact whatever the distribution;
    where cases have groups or weights, at as many independent cases as they are worth (Woodruff's, with the CR2
    variance). p95 has no upper end with fewer than 59 cases, the median no interval with fewer than 6. Of the mean: the
    bootstrap, without an upper end where few cases make the variance, which the reason says. Two models are tested on
    the same resamples of the cases, p95 from 59 cases on.

    A case whose output does not say it is unscored. The score of a case is its own number (mean).
    """
    return describe_usage(suite, outputs, parameters, "duration_s", METRICS)
