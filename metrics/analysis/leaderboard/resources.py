"""What the models' answers took: seconds, dollars and tokens a case."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Floats
from metrics.core.arrow import numbers, stored_rows
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.ratios import ratio, weighted_mean
from metrics.store import Run, cache_by_run

QUANTITIES = {"duration_s": "s", "cost_usd": "USD", "tokens": "tokens"}  # column of the outputs: its unit


@dataclass(frozen=True, slots=True)
class Resource:
    """The mean of one quantity over the `n` cases of a model that say it, repeats averaged, with 95 % interval."""

    model: str
    quantity: str
    unit: str
    mean: float
    low: float | None
    high: float | None
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

    Means are weighted where the suite has weights. Intervals: bootstrap over cases, or over their groups
    (metrics.stats.bootstrap).
    """
    design = run.sampling_design(tag)
    ids = run.case_columns(["case_id"])["case_id"].take(pa.array(design.inside))
    by_id = numbers(pc.sort_indices(ids)).astype(np.int64)  # the same intervals whatever the order of the suite
    found = []
    every = resource_values(run, QUANTITIES)
    for quantity, unit in QUANTITIES.items():
        values = every[quantity][design.inside]
        kept = by_id[~np.isnan(values[by_id]).all(axis=1)]
        weights, clusters = design.of_part(kept)
        low, high = bootstrap_means(values[kept], weights, clusters, low=0.0)
        for place, model in enumerate(run.models):
            own = values[kept, place]
            mean, n = weighted_mean(own, weights), int((~np.isnan(own)).sum())
            if n and not np.isnan(mean):
                first, last = (None if np.isnan(ends[place]) else float(ends[place]) for ends in (low, high))
                found.append(Resource(model, quantity, unit, mean, first, last, n))
    return tuple(found)
