"""What the evaluators of usage share: median, 95 % point and mean of a column of the outputs over the cases."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate
from metrics.evaluators._spread_scores import spread_scores
from metrics.stats.bootstrap_draws import Draws
from metrics.stats.prediction_errors import resampled_means
from metrics.stats.quantiles import describe_missing_end, quantile_interval, resampled_quantiles

NOT_SAID = "the output does not say it"
SOURCES = ("Hahn & Meeker 1991: Statistical Intervals", "Woodruff 1952: Confidence intervals for medians")
DIFFERS_FROM_SOURCE = "The sources define the intervals; which numbers are shown is Assay's choice."


def usage_metrics(what: str, unit: str) -> tuple[Metric, ...]:
    """Return the metrics of a quantity: median, p95 and mean, less being better, without a threshold."""
    return tuple(
        Metric.lower(name, f"{words} {what}.", threshold=None, high=math.inf, unit=unit, **more)
        for name, words, more in (
            ("median", "Median", {"primary": True, "quantile": 0.5}),
            ("p95", "95 % point: 5 % of the cases take more", {"quantile": 0.95}),
            ("mean", "Mean", {}),
        )
    )


def describe_usage(
    suite: Suite, outputs: Outputs, parameters: ResamplingParameters, column: str, metrics: Sequence[Metric]
) -> Findings:
    """Return the `metrics` of usage_metrics of a model's column of numbers, and what each case took as its score."""
    case_ids = suite.cases["case_id"].combine_chunks()
    rows = pc.index_in(case_ids, value_set=outputs.outputs["case_id"].combine_chunks())
    taken = outputs.outputs[column].combine_chunks().take(rows).cast(pa.float64())
    whole = taken.to_numpy(zero_copy_only=False)
    place = np.flatnonzero(np.isfinite(whole))
    values, draws = whole[place], parameters.draws(suite).of_cases(place)
    out = len(whole) - len(place)
    found = [_aggregate(metric, values, draws, out) for metric in metrics]
    reasons = pa.array([None if known else NOT_SAID for known in np.isfinite(whole).tolist()], pa.string())
    return Findings(found, spread_scores(case_ids, place, reasons, {"mean": values}, **{column: pa.array(whole)}))


def example_of(column: str, *values: float | None) -> dict[str, Any]:
    """Return the cases 1, 2, … of a worked example, with what the answer to each took."""
    ids = [str(number) for number in range(1, 1 + len(values))]
    return {
        "cases": [{"case_id": name, "question": "?"} for name in ids],
        "outputs": [{"case_id": name, "answer": "!", column: value} for name, value in zip(ids, values, strict=True)],
    }


def _aggregate(metric: Metric, values: Floats, draws: Draws, unscored: int) -> Aggregate:
    n = len(values)
    if not n:
        return aggregate(metric.name, np.nan, n=0, unscored=unscored, reason=NOT_SAID)
    if not metric.quantile:
        samples = resampled_means(values[:, None], draws)[:, 0]
        ends, why = draws.mean_interval(values, 0.0)
        return aggregate(metric.name, samples[0], ends, "bootstrap", n=n, unscored=unscored, reason=why)
    samples = resampled_quantiles(values, metric.quantile, draws)
    interval = quantile_interval(values, metric.quantile, draws.weights, draws.codes)
    why = describe_missing_end(interval, values, metric.quantile, draws.weights, draws.codes)
    return aggregate(
        metric.name, samples[0], interval, "order statistics", n=n, unscored=unscored, reason=why,
        samples=samples[1:] if why is None else samples[:0],
    )  # fmt: skip
