"""What the models' answers took: seconds, dollars and tokens a case."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.leaderboard.ranks import Ranks, ranks_of_resamples
from metrics.core.array_types import Floats, Ints
from metrics.core.arrow import numbers, stored_rows
from metrics.core.evaluator import Metric
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.bootstrap_draws import Draws
from metrics.stats.heavy_tails import describe_unknown_end
from metrics.stats.quantiles import describe_missing_end, quantile_interval, resampled_quantiles, weighted_quantile
from metrics.stats.ratios import ratio, weighted_mean
from metrics.store import Run, cache_by_run

QUANTITIES = {"duration_s": "s", "cost_usd": "USD", "tokens": "tokens"}  # column of the outputs: its unit
RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class Usage:
    """A number of what cases took, with its 95 % interval; `reason`: why that lacks an end."""

    value: float
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Resource:
    """One quantity over the `n` cases of a model that say it, repeats averaged: median, 95 % point and mean.

    The median leads: a few extreme cases make a mean and the end of its interval.
    """

    model: str
    quantity: str
    unit: str
    median: Usage
    p95: Usage
    mean: Usage
    n: int


def measured_outputs(run: Run) -> pa.Table:
    """Return case_id, model and QUANTITIES of the outputs that say any of these; the other rows are not read."""
    said = reduce(or_, (pc.field(name).is_valid() for name in QUANTITIES))
    return stored_rows(run.input_path("outputs/outputs.parquet"), ["case_id", "model", *QUANTITIES], said)


def resource_values(run: Run, quantities: Collection[str]) -> dict[str, Floats]:
    """Return what each case took, by quantity [cases, models]: repeats averaged, NaN where no output says it."""
    if not quantities:
        return {}
    outputs = measured_outputs(run)
    ids = run.case_columns(["case_id"])["case_id"].combine_chunks()
    models = pa.array(run.models, pa.string())
    shape = len(ids), len(models)
    outputs = outputs.filter(pc.is_in(outputs["model"], models))
    places = numbers(pc.index_in(outputs["case_id"], ids)).astype(np.int64) * shape[1]
    places += numbers(pc.index_in(outputs["model"], models))
    values = {}
    for quantity in quantities:
        said = np.asarray(outputs[quantity].is_valid())
        sums = np.bincount(places[said], numbers(outputs[quantity].drop_null()), shape[0] * shape[1])
        values[quantity] = ratio(sums, np.bincount(places[said], minlength=len(sums))).reshape(shape)
    return values


@cache_by_run(maxsize=32)
def resources(run: Run, tag: str | None = None) -> tuple[Resource, ...]:
    """Return each model's QUANTITIES that the outputs of a run have, over all cases or those with a tag.

    Weighted where the suite has weights. Intervals: of median and p95 order statistics (metrics.stats.quantiles), of
    means the bootstrap (metrics.stats.bootstrap), by case or by group.
    """
    design = run.sampling_design(tag)
    ids = run.case_columns(["case_id"])["case_id"].take(pa.array(design.inside))
    by_id = numbers(pc.sort_indices(ids)).astype(np.int64)  # the same intervals whatever the order of the suite
    found = []
    every = resource_values(run, QUANTITIES)
    for quantity, unit in QUANTITIES.items():
        values = every[quantity][design.inside]
        for place, model in enumerate(run.models):
            kept = by_id[~np.isnan(values[by_id, place])]
            own, (weights, clusters) = values[kept, place], design.of_part(kept)
            if len(own) and (weights is None or weights.sum() > 0):
                median, p95 = (_quantile(own, share, weights, clusters) for share in (0.5, 0.95))
                mean = _mean(own, weights, clusters)
                found.append(Resource(model, quantity, unit, median, p95, mean, len(own)))
    return tuple(found)


def resampled_medians(run: Run, quantity: str, tag: str | None = None) -> dict[str, Floats]:
    """Return the median of a quantity by model, of those that say it: of all cases, and of RESAMPLES of them or of
    their groups, the same for every model: [1 + RESAMPLES].
    """
    design = run.sampling_design(tag)
    values = resource_values(run, [quantity])[quantity][design.inside]
    draws = Draws.of(design.units, RESAMPLES, weights=design.weights)
    found = {}
    for place, model in enumerate(run.models):
        kept = np.flatnonzero(~np.isnan(values[:, place]))
        if len(kept):
            found[model] = resampled_quantiles(values[kept, place], 0.5, draws.of_cases(kept))
    return found


def _quantile(values: Floats, share: float, weights: Floats | None, clusters: Ints | None) -> Usage:
    ends = quantile_interval(values, share, weights, clusters)
    why = describe_missing_end(ends, values, share, weights, clusters)
    return Usage(weighted_quantile(values, share, weights), *ends, why)


def _mean(values: Floats, weights: Floats | None, clusters: Ints | None) -> Usage:
    low, high = (
        None if np.isnan(end[0]) else float(end[0])
        for end in bootstrap_means(values[:, None], weights, clusters, low=0.0)
    )
    one_end = (low is None) != (high is None)
    why = describe_unknown_end(values, weights, clusters, high is None) if one_end else None
    return Usage(weighted_mean(values, weights), low, high, why)


@cache_by_run(maxsize=32)
def resource_ranks(run: Run, tag: str | None = None) -> Mapping[str, Ranks]:
    """Return the ranks in the median of each of QUANTITIES, less is better, of those that outputs of two models say."""
    found = {}
    for quantity in QUANTITIES if len(run.models) > 1 else ():
        medians = resampled_medians(run, quantity, tag)
        if len(medians) > 1:
            drawn = np.array([*medians.values()])
            metric = Metric.lower(quantity, "", high=math.inf)
            found[quantity] = ranks_of_resamples(metric, drawn[:, 0], drawn[:, 1:], list(medians))
    return found
