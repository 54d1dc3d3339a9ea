"""The stored replicates of a run: each model's numbers of the whole data set in every resample of its cases."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from metrics.analysis.comparison.case_values import values_by_model
from metrics.core.array_types import Floats
from metrics.core.arrow import numbers, row_groups
from metrics.core.rounding import same_number
from metrics.stats.float_tolerance import weighted_mean
from metrics.store import Run, cache_by_run, keep_by_run


@lru_cache(maxsize=4096)
def column_key(evaluator: str, metric: str, own: str) -> str:
    """Return the key of a metric's column; `own` is its own columns as stored, in JSON."""
    suffix = "&".join(f"{name}={short(value)}" for name, value in json.loads(own).items() if value is not None)
    return f"{evaluator}/{metric}" + (f"?{suffix}" if suffix else "")


def short(value: object) -> str:
    """Return a value of a metric's own column as text, a float without needless digits."""
    return f"{value:g}" if isinstance(value, float) else str(value)


class Replicated(NamedTuple):
    """A value, what it rests on, and the value in each resample [B]; of repeats the means."""

    value: float
    n: int
    samples: Floats


@keep_by_run(maxsize=32)
def no_means(run: Run) -> frozenset[tuple[str, str]]:
    """Return the metrics, as (evaluator, metric), whose number of the whole data set has replicates and is not the mean
    of their values per case, such as a corpus error rate: models differ in that number, not in the mean.
    """
    numbers_of: dict[tuple[str, str], dict[str, list[float]]] = {}
    for (model, key), one in (replicates(run) or {}).items():
        evaluator, _, column = key.partition("/")
        numbers_of.setdefault((evaluator, column.partition("?")[0]), {}).setdefault(model, []).append(one.value)
    found, design = set[tuple[str, str]](), run.sampling_design()
    for model, values in values_by_model(run, run.models, design, numbers_of):
        for metric, own in values.items():
            mean = weighted_mean(own.values, design.weights)
            if not any(same_number(value, mean) for value in numbers_of[metric].get(model, [mean])):
                found.add(metric)
    return frozenset(found)


@cache_by_run(maxsize=16)
def replicates(run: Run, tag: str | None = None) -> Mapping[tuple[str, str], Replicated] | None:
    """Return the numbers that have replicates by (model, column key); None where the run stores none."""
    stored = run.stored("replicates")
    if stored is None:
        return None
    wanted = None if tag is None else f"tag={tag}"
    found: dict[tuple[str, str], Replicated] = {}
    with stored.opened() as files:
        for parquet, file, group in ((*one, group) for one in files for group in row_groups(one[0], "slice", wanted)):
            table = file.read_groups(parquet, [group], parquet.schema_arrow.names)
            samples = table["replicates"].combine_chunks()
            flat, ends = numbers(samples.values), numbers(samples.offsets)
            for index, row in enumerate(table.drop_columns(["replicates"]).to_pylist()):
                if row["slice"] == wanted:
                    key = row["model"], column_key(row["evaluator"], row["metric"], row["columns"])
                    found[key] = Replicated(row["value"], row["n"], flat[ends[index] : ends[index + 1]])
    return found
