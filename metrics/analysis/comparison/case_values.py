"""One model's values of a metric case by case, as arrays in the order of the suite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow.parquet as pq

from metrics.core.array_types import Bools, Floats
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.paired_tests import EQUAL
from metrics.stats.ratios import ratio
from metrics.store import Run

Key = tuple[str, str]  # evaluator, metric


@dataclass(frozen=True)
class CaseValues:
    """One model's values of one metric [cases inside], NaN where there is none; single: no case is repeated."""

    values: Floats
    single: bool

    @cached_property
    def present(self) -> Bools:
        """Which cases have a value."""
        return ~np.isnan(self.values)

    def minus(self, other: CaseValues) -> Floats:
        """Return the differences case by case, 0 where they differ by rounding alone, NaN where one has no value."""
        apart = self.values - other.values
        return np.where(np.abs(apart) <= EQUAL, 0.0, apart)


def case_values(run: Run, model: str, design: SamplingDesign, only: Key | None = None) -> dict[Key, CaseValues]:
    """Return the values of one model by (evaluator, metric), all or `only` that one, repeats averaged."""
    wanted = [("model", "==", model)]
    if only is not None:
        wanted += [("evaluator", "==", only[0]), ("metric", "==", only[1])]
    table = pq.read_table(
        run.table_path("scores"),
        columns=["position", "evaluator", "metric", "value"],
        filters=wanted,
        read_dictionary=["evaluator", "metric"],
    ).unify_dictionaries()
    if not len(table):
        return {}
    coded = [table[name].combine_chunks() for name in ("evaluator", "metric")]
    names = [entry.dictionary.to_pylist() for entry in coded]
    metric = coded[0].indices.to_numpy().astype(np.int64) * len(names[1]) + coded[1].indices.to_numpy()
    value, position = table["value"].to_numpy(), table["position"].to_numpy()
    found: dict[Key, CaseValues] = {}
    for code in np.unique(metric).tolist():
        own = np.flatnonzero(metric == code)
        own = own[~np.isnan(value[own])]
        counts = np.bincount(position[own], minlength=design.cases)
        sums = np.bincount(position[own], value[own], design.cases)
        means = ratio(sums, counts)
        key = (names[0][code // len(names[1])], names[1][code % len(names[1])])
        found[key] = CaseValues(means[design.inside], bool(counts.max(initial=0) <= 1))
    return found
