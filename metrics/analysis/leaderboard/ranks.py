"""Ranks of the models in each metric: paired on cases, corrected for all pairs; and what the suite could reveal.

Two models are told apart where their paired difference is beyond chance, with Holm's correction over all pairs of
models of the metric. Models between which nobody is told better share a rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metrics.core.evaluator import Direction, Metric
from metrics.core.registry import evaluators
from metrics.core.sampling_design import SamplingDesign
from metrics.stats import paired_tests
from metrics.stats.model_ranking import pairwise, rank_bounds
from metrics.store import Run

Floats = NDArray[np.float64]
Key = tuple[str, str]  # evaluator, metric
COLUMNS = ["position", "model", "evaluator", "metric", "value"]
MOST = 40_000_000  # values of one evaluator held at once; beyond, its ranks go by the intervals


@dataclass(frozen=True, slots=True)
class Ranks:
    """One metric's ranks: best and worst rank that each model may have, 1 the best; the ranges hold at once in 95 %.

    cases, units: what a typical pair of models shares, in cases and independent units (groups of cases); error: the
    standard error of its difference (medians over the pairs), None where no two models differ.
    """

    ranges: Mapping[str, tuple[int, int]]
    cases: int
    units: int
    error: float | None

    @property
    def detectable(self) -> float | None:
        """The true difference of two models that such cases reveal four times of five, by a test at 5 %."""
        return None if self.error is None else paired_tests.detectable(self.error, self.units)

    def cases_needed(self, difference: float) -> int:
        """Return how many such cases reveal a true `difference` > 0 four times of five, by a test at 5 %."""
        assert self.error is not None
        units = paired_tests.units_needed(self.error, self.units, difference)
        return math.ceil(units * self.cases / self.units)


def ranks(run: Run, tag: str | None = None) -> Mapping[Key, Ranks]:
    """Return the ranks of every metric that has values per case, a better end, and two models with values to pair."""
    return _ranks(run.folder, tag)


@lru_cache(maxsize=16)
def _ranks(folder: Path, tag: str | None) -> Mapping[Key, Ranks]:
    """As `ranks`, kept: sealed runs never change."""
    run = Run(folder)
    path = run.table_path("scores")
    if path is None or len(run.models) < 2:
        return {}
    design = run.sampling_design(tag)
    found: dict[Key, Ranks] = {}
    with pq.ParquetFile(path, read_dictionary=["model", "evaluator", "metric"]) as file:
        for name in run.evaluators:
            entry = evaluators().get(name)
            if entry is None:
                continue
            metrics = [metric for metric in entry.metrics if metric.direction is not Direction.NONE]
            for metric, values in _values(file, run.models, name, metrics, design):
                own = _of(metric, values, run.models, design)
                if own is not None:
                    found[name, metric.name] = own
    return found


def _of(metric: Metric, values: Floats, models: Sequence[str], design: SamplingDesign) -> Ranks | None:
    """Return the ranks of one metric from values [n, m]; None where fewer than two models have any."""
    sign = -1.0 if metric.direction is Direction.LOWER else 1.0
    held = np.flatnonzero((~np.isnan(values)).any(axis=0))
    if len(held) < 2:
        return None
    pairs = pairwise(sign * values[:, held], design.weights, design.clusters)
    best, worst = rank_bounds(pairs, len(held))
    names = [models[place] for place in held.tolist()]
    ranges = dict(zip(names, zip(best.tolist(), worst.tolist(), strict=True), strict=True))
    known = pairs.error > 0
    if not known.any():
        return Ranks(ranges, 0, 0, None)
    units, cases = (int(np.median(counts[known])) for counts in (pairs.units, pairs.cases))
    return Ranks(ranges, cases, units, float(np.median(pairs.error[known])))


def _values(
    file: pq.ParquetFile, models: Sequence[str], evaluator: str, metrics: Sequence[Metric], design: SamplingDesign
) -> Iterator[tuple[Metric, Floats]]:
    """Yield the values [cases inside, models] of each of an evaluator's metrics that has any, repeats averaged, NaN:
    none.
    """
    shape = (len(metrics), design.cases, len(models))
    groups = _row_groups(file, evaluator)
    if not groups or np.prod(shape) > MOST:
        return
    sums, counts = np.zeros(shape), np.zeros(shape, np.int32)
    names = [metric.name for metric in metrics]
    for group in groups:
        rows = file.read_row_group(group, columns=COLUMNS)
        rows = rows.filter(pc.is_valid(rows["value"]))
        value = _numbers(rows["value"].combine_chunks())
        metric, model = _codes(rows["metric"], names), _codes(rows["model"], models)
        chosen = (_codes(rows["evaluator"], [evaluator]) == 0) & (metric >= 0) & (model >= 0) & ~np.isnan(value)
        place = np.ravel_multi_index(
            (metric[chosen], _numbers(rows["position"].combine_chunks())[chosen], model[chosen]), shape, mode="raise"
        )
        np.add.at(sums.reshape(-1), place, value[chosen])
        np.add.at(counts.reshape(-1), place, 1)
    for index, metric_of in enumerate(metrics):
        own = counts[index][design.inside]
        if own.any():
            means = np.divide(sums[index][design.inside], own, out=np.full(own.shape, np.nan), where=own > 0)
            yield metric_of, means


def _row_groups(file: pq.ParquetFile, evaluator: str) -> list[int]:
    """Return the row groups that may hold an evaluator's scores, by their statistics."""
    column = file.schema_arrow.get_field_index("evaluator")
    found = []
    for group in range(file.num_row_groups):
        statistics: Any = file.metadata.row_group(group).column(column).statistics
        if statistics is None or not statistics.has_min_max or statistics.min <= evaluator <= statistics.max:
            found.append(group)
    return found


def _codes(column: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each value of a dictionary-coded column in `names`; −1 for none."""
    places = {name: place for place, name in enumerate(names)}
    coded = column.combine_chunks()
    own = np.array([places.get(name, -1) for name in coded.dictionary.to_pylist()], np.int64)
    codes: NDArray[np.int64] = own[_numbers(coded.indices)] if len(own) else np.full(len(coded), -1)
    return codes


def _numbers(column: pa.Array) -> NDArray[Any]:
    """Return the numbers of a column without nulls; its own to_numpy would import pandas, and the start page waits."""
    return np.from_dlpack(column) if len(column) else np.zeros(0, np.int64)
