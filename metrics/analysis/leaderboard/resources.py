"""What the models' answers took: seconds, dollars and tokens a case."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.analysis.leaderboard.case_sums import name_places
from metrics.analysis.leaderboard.ranks import Ranks, ranks_of_resamples
from metrics.core.array_types import Floats, Ints
from metrics.core.arrow import may_hold, numbers, with_nan
from metrics.core.evaluator import Metric
from metrics.stats import quantiles
from metrics.stats.bootstrap import Draws, bootstrap_means
from metrics.stats.float_tolerance import ratio, weighted_mean
from metrics.stats.heavy_tails import describe_unknown_end
from metrics.store import Run, keep_by_run

QUANTITIES = {"duration_s": "s", "cost_usd": "USD", "tokens": "tokens"}  # column of the outputs: its unit
RESAMPLES = 500
MAX_RESAMPLED = 20_000  # cases whose medians are resampled one by one


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
    """Return case_id, model and QUANTITIES of the outputs that say any of these; row groups without any are not read.

    Without a filter of pyarrow's, which would import pandas: the start page needs these numbers.
    """
    with run.needed("outputs/outputs.parquet").opened() as files:
        table = pa.concat_tables(
            file.read_groups(parquet, _groups_said(parquet.metadata), ["case_id", "model", *QUANTITIES])
            for parquet, file in files
        )
    return table.filter(reduce(pc.or_, (table[name].is_valid() for name in QUANTITIES)))


def _groups_said(metadata: pq.FileMetaData) -> list[int]:
    """Return the row groups that may hold any of QUANTITIES, by their statistics."""
    places = [place for place, name in enumerate(metadata.schema.names) if name in QUANTITIES]
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [at for at, group in enumerate(groups) if any(may_hold(group.column(place)) for place in places)]


def resource_values(run: Run, quantities: Collection[str]) -> dict[str, Floats]:
    """Return what each case took, by quantity [cases, models]: repeats averaged, NaN where no output says it."""
    if not quantities:
        return {}
    outputs = measured_outputs(run)
    if not len(outputs):  # of no rows Arrow would import pandas
        return {quantity: np.full((run.spec.suite.cases, len(run.models)), np.nan) for quantity in quantities}
    ids = run.case_columns(["case_id"])["case_id"].combine_chunks()
    shape = len(ids), len(run.models)
    model = name_places(outputs["model"].dictionary_encode(), run.models)
    places = numbers(pc.index_in(outputs["case_id"], ids)).astype(np.int64) * shape[1] + model
    values = {}
    for quantity in quantities:
        own = with_nan(outputs[quantity].cast(pa.float64()))
        said = ~np.isnan(own) & (model >= 0)
        sums = np.bincount(places[said], own[said], shape[0] * shape[1])
        values[quantity] = ratio(sums, np.bincount(places[said], minlength=len(sums))).reshape(shape)
    return values


@keep_by_run(maxsize=32, reads=("outputs/outputs.parquet",))
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


def _quantile(values: Floats, share: float, weights: Floats | None, clusters: Ints | None) -> Usage:
    ends = quantiles.quantile_interval(values, share, weights, clusters)
    why = quantiles.describe_missing_end(ends, values, share, weights, clusters)
    return Usage(quantiles.weighted_quantile(values, share, weights), *ends, why)


def _mean(values: Floats, weights: Floats | None, clusters: Ints | None) -> Usage:
    low, high = (
        None if np.isnan(end[0]) else float(end[0])
        for end in bootstrap_means(values[:, None], weights, clusters, low=0.0)
    )
    one_end = (low is None) != (high is None)
    why = describe_unknown_end(values, weights, clusters, high is None) if one_end else None
    return Usage(weighted_mean(values, weights), low, high, why)


@keep_by_run(maxsize=32, reads=("outputs/outputs.parquet",))
def resource_ranks(run: Run, tag: str | None = None) -> Mapping[str, Ranks]:
    """Return the ranks in the median of each of QUANTITIES, less is better, of those that outputs of two models say.

    All medians are of the same resamples of the cases or groups; of more than MAX_RESAMPLED cases of data sets drawn by
    how their medians vary together.
    """
    if len(run.models) < 2:
        return {}
    design, every, found = run.sampling_design(tag), resource_values(run, QUANTITIES), {}
    for quantity, values in every.items():
        own = values[design.inside]
        said = np.flatnonzero(~np.isnan(own).all(axis=0))
        if len(said) < 2:
            continue
        if len(own) > MAX_RESAMPLED:
            medians = quantiles.varied_quantiles(own[:, said], 0.5, design.units, design.weights, RESAMPLES)
        else:
            draws = Draws.of(design.units, RESAMPLES, weights=design.weights)
            kept = [np.flatnonzero(~np.isnan(own[:, place])) for place in said]
            medians = np.array(
                [
                    quantiles.resampled_quantiles(own[cases, place], 0.5, draws.of_cases(cases))
                    for cases, place in zip(kept, said, strict=True)
                ]
            )
        metric = Metric.lower(quantity, "", high=math.inf)
        found[quantity] = ranks_of_resamples(metric, medians[:, 0], medians[:, 1:], [run.models[at] for at in said])
    return found
