"""What the models' answers took: seconds, dollars and tokens a case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.arrow import stored_rows
from metrics.stats.bootstrap import bootstrap_means
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


@cache_by_run(maxsize=32)
def resources(run: Run, tag: str | None = None) -> tuple[Resource, ...]:
    """Return each model's QUANTITIES that the outputs of a run have, over all cases or those with a tag.

    Intervals: bootstrap over cases (metrics.stats.bootstrap).
    """
    table = measured_outputs(run)
    if tag is not None:
        held = run.query("SELECT case_id FROM suite_cases WHERE list_contains(tags, ?)", [tag])["case_id"]
        table = table.filter(pc.is_in(table["case_id"], pa.array(held, pa.string())))
    frame = table.to_pandas()
    found = []
    for quantity, unit in QUANTITIES.items():
        means = frame.dropna(subset=[quantity]).groupby(["case_id", "model"], sort=False)[quantity].mean().unstack()
        values = means.to_numpy(dtype=float)
        low, high = bootstrap_means(values, low=0.0) if len(values) else (np.array([]), np.array([]))
        there = means.columns.tolist()
        for model in (model for model in run.models if model in there):
            place = there.index(model)
            own = values[:, place]
            first, last = (None if np.isnan(ends[place]) else float(ends[place]) for ends in (low, high))
            n = int((~np.isnan(own)).sum())
            found.append(Resource(model, quantity, unit, float(np.nanmean(own)), first, last, n))
    return tuple(found)
