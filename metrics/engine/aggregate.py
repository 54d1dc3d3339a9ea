"""From scores of cases to aggregates of models: means with intervals and counts, over all cases and per tag."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Direction, Evaluator, Metric, Status
from metrics.core.sampling_design import SamplingDesign
from metrics.core.schema import AGGREGATES
from metrics.core.suite import Suite
from metrics.stats.intervals import mean_intervals
from metrics.stats.ratios import ratio

Slices = Mapping[str | None, SamplingDesign]  # by the name of a slice, None for all cases


def designs(suite: Suite, tags: Sequence[str]) -> Slices:
    """Return the sampling design of a suite (None) and of its part with each of `tags` ("tag=NAME")."""
    return {None: SamplingDesign.of(suite.cases)} | {f"tag={tag}": SamplingDesign.of(suite.cases, tag) for tag in tags}


def aggregate_cases(entry: Evaluator, scores: pa.Table, models: tuple[str, ...], slices: Slices, seed: int) -> pa.Table:
    """Return the aggregates (schema AGGREGATES) of one evaluator from its scores (schema SCORES).

    A repeated case counts once, with the mean of its repeats; means are weighted where the suite has weights.
    Intervals: Wilson for shares of single answers, else the bootstrap over cases, clustered by `group`.
    """
    rows = [row for metric in entry.metrics for row in _metric_rows(entry, metric, scores, models, slices, seed)]
    return pa.Table.from_pylist(rows, schema=AGGREGATES)


def _metric_rows(
    entry: Evaluator, metric: Metric, scores: pa.Table, models: tuple[str, ...], slices: Slices, seed: int
) -> Iterator[dict[str, Any]]:
    own = scores.filter(pc.equal(scores["metric"], metric.name))
    size = slices[None].cases
    place = pc.index_in(own["model"], pa.array(models)).to_numpy() * size + own["position"].to_numpy()
    values = own["value"].to_numpy()
    scored = ~np.isnan(values)

    def per_case(rows: Bools, held: Floats | None = None) -> Floats:
        """Return the number of `rows`, or the sum of `held`, per case: [cases, models]."""
        found = np.bincount(place[rows], None if held is None else held[rows], len(models) * size)
        return found.astype(np.float64).reshape(len(models), size).T

    counts, sums = per_case(scored), per_case(scored, values)
    means = ratio(sums, counts)
    statuses = {status: per_case(pc.equal(own["status"], status.value).to_numpy()) for status in Status}
    asked = np.sum(list(statuses.values()), axis=0)
    extremes = [_with_unscored(sums, counts, asked, end) for end in _ends(metric)]
    single = counts.max(initial=0) <= 1 and slices[None].plain
    for slice_name, design in slices.items():
        inside, weights, part = design.inside, design.weights, means[design.inside]
        lows, highs, method = mean_intervals(
            part, weights, design.clusters, seed, metric.low, metric.high, shares=metric.binary and single
        )
        for column, model in enumerate(models):
            tally = {status.value: int(array[inside, column].sum()) for status, array in statuses.items()}
            n = tally.pop(Status.OK.value)
            value = _mean(part[:, column], weights)
            unscored = sum(tally.values())
            bounds = [_mean(extreme[inside, column], weights) if unscored and n else None for extreme in extremes]
            low, high = (_bounded(bound[column], metric) for bound in (lows, highs))
            yield {
                "model": model, "run": None, "evaluator": entry.id, "metric": metric.name, "label": None,
                "slice": slice_name, "value": value, "low": low, "high": high,
                "interval": None if low is None else method,
                "n": n, "unscored": unscored, **tally, "columns": json.dumps({}),
                "reason": None if value is not None else _why(own, model, n + unscored),
                "if_worst": bounds[0], "if_best": bounds[1],
            }  # fmt: skip


def _ends(metric: Metric) -> tuple[float, float]:
    """Return the worst and the best end of the metric's range; of one without a better end, the low and the high."""
    return (metric.high, metric.low) if metric.direction is Direction.LOWER else (metric.low, metric.high)


def _with_unscored(sums: Floats, counts: Floats, asked: Floats, end: float) -> Floats:
    """Return the mean of each case [n, models] if its unscored repeats had the value `end`; NaN if that is infinite."""
    if not math.isfinite(end):
        return np.full(sums.shape, np.nan)
    return ratio(sums + (asked - counts) * end, asked)


def _mean(values: Floats, weights: Floats | None) -> float | None:
    present = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    total = weight[present].sum()
    return float((values[present] * weight[present]).sum() / total) if total > 0 else None


def _bounded(bound: float, metric: Metric) -> float | None:
    return None if np.isnan(bound) else float(min(max(bound, metric.low), metric.high))


def _why(own: pa.Table, model: str, rows: int) -> str:
    """Return the most frequent reason of a model's unscored cases."""
    if rows == 0:
        return "no case in this slice"
    reasons = own.filter(pc.equal(own["model"], model))["reason"].drop_null().value_counts().to_pylist()
    if not reasons:
        return "no case could be scored"
    most = max(reasons, key=lambda entry: (entry["counts"], entry["values"]))
    return f"no case could be scored; most often: {most['values']}"
