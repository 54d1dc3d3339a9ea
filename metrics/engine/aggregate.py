"""From scores of cases to aggregates of models: means with intervals and counts, over all cases and per tag."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.arrow import with_nan
from metrics.core.evaluator import MISSING, Evaluator, Metric, Status
from metrics.core.rounding import none_if_nan, same_number
from metrics.core.sampling_design import SamplingDesign
from metrics.core.schema import AGGREGATES
from metrics.stats.float_tolerance import ratio, weighted_mean
from metrics.stats.heavy_tails import describe_unknown_end
from metrics.stats.intervals import mean_intervals

Slices = Mapping[str | None, SamplingDesign]  # by the name of a slice, None for all cases


def aggregate_cases(
    entry: Evaluator, scores: Iterable[pa.Table], models: tuple[str, ...], slices: Slices, seed: int
) -> pa.Table:
    """Return the aggregates (schema AGGREGATES) of one evaluator from its scores (schema SCORES), read piece by piece.

    A repeated case counts once, with the mean of its repeats; means are weighted where the suite has weights.
    Intervals: Wilson for shares of single answers, else the bootstrap over cases, clustered by `group`.
    """
    tallies = [_Tally(metric, models, slices[None].cases) for metric in entry.metrics]
    for piece in scores:
        for tally in tallies:
            tally.add(piece)
    rows = [row for tally in tallies for row in _metric_rows(entry, tally, models, slices, seed)]
    return pa.Table.from_pylist(rows, schema=AGGREGATES)


class _Tally:
    """The scores of one metric, summed by case and model: [cases, models], flat by model."""

    def __init__(self, metric: Metric, models: tuple[str, ...], cases: int):
        self.metric = metric
        self.sums = np.zeros(cases * len(models))
        self.statuses: dict[Status, NDArray[np.int32]] = {}  # rows of each status that occurs
        self.reasons: dict[str, Counter[str]] = {model: Counter() for model in models}
        self._models = pa.array(models, pa.string())
        self._cases = cases

    def add(self, scores: pa.Table) -> None:
        """Add the rows of this metric in a table of scores."""
        wanted = pc.equal(scores["metric"], self.metric.name)
        own = scores if pc.all(wanted).as_py() else scores.filter(wanted)
        place = pc.index_in(own["model"], self._models).to_numpy() * self._cases + own["position"].to_numpy()
        values = own["value"].to_numpy()
        scored = ~np.isnan(values)
        np.add.at(self.sums, place[scored], values[scored])  # in the order of the rows, however they are cut in pieces
        for name in own["status"].unique().to_pylist():
            status = Status(name)
            counts = self.statuses.setdefault(status, np.zeros(len(self.sums), np.int32))
            found = place[pc.equal(own["status"], name).to_numpy()]
            np.add.at(counts, found, np.ones(len(found), np.int32))  # adding a plain 1 takes numpy twenty times as long
        given = own.filter(pc.is_valid(own["reason"]))
        reasons = given.group_by(["model", "reason"]).aggregate([([], "count_all")]) if len(given) else given
        for row in reasons.to_pylist():
            self.reasons[row["model"]][row["reason"]] += row["count_all"]

    def by_case(self, flat: NDArray[Any]) -> Floats:
        """Return flat numbers as [cases, models]."""
        return flat.astype(np.float64, copy=False).reshape(-1, self._cases).T


def _metric_rows(
    entry: Evaluator, tally: _Tally, models: tuple[str, ...], slices: Slices, seed: int
) -> Iterator[dict[str, Any]]:
    metric = tally.metric
    sums = tally.by_case(tally.sums)
    none = np.zeros(sums.shape)
    statuses = {status: tally.by_case(rows) for status, rows in tally.statuses.items()}
    counts = statuses.get(Status.OK, none)
    means = ratio(sums, counts)
    asked = counts + sum((statuses.get(status, none) for status in MISSING), none)
    # of each case if its missing repeats had the worst, the best value; NaN where that is infinite
    ends = [end if math.isfinite(end) else math.nan for end in metric.ends]
    extremes = [ratio(sums + (asked - counts) * end, asked) for end in ends]
    single = (counts.max(axis=0, initial=0) <= 1) & slices[None].plain
    for slice_name, design in slices.items():
        inside, weights, part = design.inside, design.weights, means[design.inside]
        for column, model in enumerate(models):
            shares = bool(metric.binary and single[column])
            lows, highs, method = mean_intervals(
                part[:, [column]], weights, design.clusters, seed, metric.low, metric.high, shares=shares
            )
            occurred = {status.value: int(statuses.get(status, none)[inside, column].sum()) for status in Status}
            n = occurred.pop(Status.OK.value)
            value = _mean(part[:, column], weights)
            unscored = sum(occurred.values())
            missing = sum(occurred[status.value] for status in MISSING)
            bounds = [_mean(extreme[inside, column], weights) if missing and n else None for extreme in extremes]
            low, high = (_bounded(bound[0], metric) for bound in (lows, highs))
            why = None if value is not None else _why(tally.reasons[model], n + unscored)
            if (low is None) != (high is None):
                why = describe_unknown_end(part[:, column], weights, design.clusters, upper=high is None)
            yield {
                "model": model, "run": None, "evaluator": entry.id, "metric": metric.name, "label": None,
                "slice": slice_name, "value": value, "low": low, "high": high,
                "interval": None if low is None and high is None else method,
                "n": n, "unscored": unscored, **occurred, "columns": json.dumps({}),
                "reason": why,
                "if_worst": bounds[0], "if_best": bounds[1],
            }  # fmt: skip


def bounds_of_missing(entry: Evaluator, aggregates: pa.Table, scores: pa.Table, design: SamplingDesign) -> pa.Table:
    """Return the aggregates of a unit of a data-set evaluator with the counts and bounds that its scores of cases give.

    A number without scores of its own takes the missing cases of the evaluator's first metric that has some. Bounds: of
    numbers over all labels that are the weighted mean of their cases' values.
    """
    found = scores["metric"].unique().to_pylist()
    rows = []
    for row in aggregates.to_pylist():
        name = row["metric"] if row["metric"] in found else found[0]
        own = scores.filter(pc.equal(scores["metric"], name))
        statuses = Counter(own["status"].to_pylist())
        missing = {status.value: statuses[status.value] for status in MISSING}
        if row["label"] is None and sum(missing.values()) <= row["unscored"]:
            row |= missing | {Status.NOT_APPLICABLE.value: row["unscored"] - sum(missing.values())}
            if name == row["metric"] and any(missing.values()):
                metric = next(metric for metric in entry.metrics if metric.name == name)
                row["if_worst"], row["if_best"] = _bounds(metric, row["value"], own, design)
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=AGGREGATES)


def _bounds(
    metric: Metric, value: float | None, scores: pa.Table, design: SamplingDesign
) -> tuple[float | None, float | None]:
    """Return the mean of a metric's scores if missing ones were the worst or best; None where `value` is no mean."""
    values = np.full(design.cases, np.nan)
    values[scores["position"].to_numpy()] = with_nan(scores["value"])
    missing = np.zeros(design.cases, bool)
    is_missing = pc.is_in(scores["status"], pa.array([status.value for status in MISSING]))
    missing[scores["position"].to_numpy()] = is_missing.to_numpy(zero_copy_only=False)
    mean = _mean(values[design.inside], design.weights)
    if value is None or mean is None or not same_number(value, mean):
        return None, None
    worst, best = (
        _mean(np.where(missing, end, values)[design.inside], design.weights) if math.isfinite(end) else None
        for end in metric.ends
    )
    return worst, best


def _mean(values: Floats, weights: Floats | None) -> float | None:
    return none_if_nan(weighted_mean(values, weights))


def _bounded(bound: float, metric: Metric) -> float | None:
    return None if np.isnan(bound) else float(min(max(bound, metric.low), metric.high))


def _why(reasons: Mapping[str, int], rows: int) -> str:
    if rows == 0:
        return "no case in this slice"
    if not reasons:
        return "no case could be scored"
    most, _ = max(reasons.items(), key=lambda entry: (entry[1], entry[0]))
    return f"no case could be scored; most often: {most}"
