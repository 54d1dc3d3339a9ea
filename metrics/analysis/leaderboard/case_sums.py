"""The values per case of one evaluator, read from the row groups and columns of the scores that they need."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.core.arrow import numbers, only_value, row_groups, with_nan
from metrics.store import Run
from metrics.store.run_tables import OpenFile

TEXTS = ["evaluator", "metric", "model"]
ONE = np.int32(1)  # a Python int would be converted for every element that it is added to


@dataclass(frozen=True, eq=False, slots=True)
class ScoreBlock:
    """Some scores [n]: metric and model as places in what was asked for, position of the case, value or NaN."""

    metric: Ints
    model: Ints
    position: Int32s
    value: Floats


@dataclass(frozen=True, eq=False, slots=True)
class CaseSums:
    """Sums and counts of the values of some metrics [metrics, cases, models]; `stored` [metrics]: which have rows."""

    sums: Floats
    counts: Int32s
    stored: Bools


def open_scores(run: Run, models: Sequence[str] | None = None) -> AbstractContextManager[list[OpenFile]]:
    """Open the scores of a run, all of them or the files with some models', for `score_blocks` and `case_sums`."""
    return run.needed("scores").opened(models, read_dictionary=TEXTS)


def score_blocks(
    files: Sequence[OpenFile], evaluator: str, metrics: Sequence[str], models: Sequence[str]
) -> Iterator[ScoreBlock]:
    """Yield the scores of an evaluator's metrics and of these models, a row group at a time, in their order."""
    for file, of in files:
        stored = of.stored_names(models)
        if of.has(evaluator) and any(stored):
            yield from _blocks_of_file(file, evaluator, metrics, stored)


def _blocks_of_file(
    file: pq.ParquetFile, evaluator: str, metrics: Sequence[str], models: Sequence[str | None]
) -> Iterator[ScoreBlock]:
    groups = row_groups(file, "evaluator", evaluator)
    named = [model for model in models if model is not None]
    if len(named) == 1:
        groups = row_groups(file, "model", named[0], groups)
    for group in groups:
        alone = {name: value for name in TEXTS if (value := only_value(file, group, name)) is not None}
        asked = [name for name in (*TEXTS, "position", "value") if name not in alone]
        # in one thread: a row group is too small to gain from more
        rows = file.read_row_group(group, columns=asked, use_threads=False)
        other, metric, model = (
            name_places(rows[name], names) if name in asked else np.array(_place(names, alone[name]))
            for name, names in zip(TEXTS, ([evaluator], metrics, models), strict=True)
        )
        mine, size = (other >= 0) & (metric >= 0) & (model >= 0), len(rows)
        kept = slice(None) if mine.all() else np.broadcast_to(mine, size)
        metric, model = np.broadcast_to(metric, size)[kept], np.broadcast_to(model, size)[kept]
        yield ScoreBlock(metric, model, numbers(rows["position"])[kept], with_nan(rows["value"])[kept])


def case_sums(
    files: Sequence[OpenFile], evaluator: str, metrics: Sequence[str], models: Sequence[str], cases: int
) -> CaseSums:
    """Return the values of an evaluator's metrics for each of a suite's cases and these models, repeats summed."""
    shape = (len(metrics), cases, len(models))
    found = CaseSums(np.zeros(shape), np.zeros(shape, np.int32), np.zeros(len(metrics), bool))
    for block in score_blocks(files, evaluator, metrics, models):
        found.stored[:] |= np.bincount(block.metric, minlength=len(metrics)) > 0
        scored = ~np.isnan(block.value)
        kept = slice(None) if scored.all() else scored
        place = ((block.metric * cases + block.position) * len(models) + block.model)[kept]
        np.add.at(found.sums.reshape(-1), place, block.value[kept])
        np.add.at(found.counts.reshape(-1), place, ONE)
    return found


def name_places(column: pa.ChunkedArray, names: Sequence[str | None]) -> Ints:
    """Return the place of each value of a dictionary-coded column in `names`; −1 for none."""
    coded = column.combine_chunks()
    own = np.array([_place(names, name) for name in coded.dictionary.to_pylist()], np.int64)
    return own[numbers(coded.indices)] if len(own) else np.full(len(coded), -1)


def _place(names: Sequence[str | None], name: str) -> int:
    return names.index(name) if name in names else -1
