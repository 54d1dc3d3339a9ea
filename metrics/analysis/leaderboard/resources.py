"""What the models' answers took: seconds, dollars and tokens a case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.stats.bootstrap import bootstrap_means
from metrics.store import Run

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


def resources(run: Run, tag: str | None = None) -> tuple[Resource, ...]:
    """Return every quantity of QUANTITIES that the outputs of a run have, for each model; over the cases with a tag,
    if given.

    Intervals: bootstrap over cases (metrics.stats.bootstrap).
    """
    return _resources(run.folder, tag)


@lru_cache(maxsize=32)
def _resources(folder: Path, tag: str | None) -> tuple[Resource, ...]:
    run = Run(folder)
    path = run.workspace.path / "outputs" / run.spec["outputs"]["fingerprint"] / "outputs.parquet"
    table = pq.read_table(path, columns=["case_id", "model", *QUANTITIES])
    if tag is not None:
        held = run.query("SELECT case_id FROM suite_cases WHERE list_contains(tags, ?)", [tag])["case_id"]
        table = table.filter(pc.is_in(table["case_id"], held.to_numpy()))
    frame = table.to_pandas()
    found = []
    for quantity, unit in QUANTITIES.items():
        means = frame.dropna(subset=[quantity]).groupby(["case_id", "model"], sort=False)[quantity].mean().unstack()
        values = means.to_numpy(dtype=float)
        low, high = bootstrap_means(values, low=0.0) if len(values) else (np.array([]), np.array([]))
        place = {model: index for index, model in enumerate(means.columns)}
        for model in run.models:
            if model in place:
                own, at = values[:, place[model]], place[model]
                n = int((~np.isnan(own)).sum())
                ends = [None if np.isnan(bound[at]) else float(bound[at]) for bound in (low, high)]
                found.append(Resource(model, quantity, unit, float(np.nanmean(own)), ends[0], ends[1], n))
    return tuple(found)
