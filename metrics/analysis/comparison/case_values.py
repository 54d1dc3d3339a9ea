"""One model's values of a metric case by case, as arrays in the order of the suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metrics.analysis.leaderboard.case_sums import case_sums, open_scores
from metrics.core.array_types import Bools, Floats
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.float_tolerance import ratio
from metrics.store import Run

Key = tuple[str, str]  # evaluator, metric


@dataclass(frozen=True)
class CaseValues:
    """One model's values of one metric [cases inside], NaN where there is none; single: no case is repeated."""

    values: Floats
    single: bool

    @cached_property
    def present(self) -> Bools:
        """Return which cases have a value, as a mask [n]."""
        return ~np.isnan(self.values)

    def minus(self, other: CaseValues) -> Floats:
        """Return the differences case by case, 0 where they differ by rounding alone, NaN where one has no value."""
        apart = self.values - other.values
        return np.where(np.abs(apart) <= EQUAL, 0.0, apart)


def case_values(run: Run, model: str, design: SamplingDesign, keys: Iterable[Key]) -> dict[Key, CaseValues]:
    """Return the values of one model by (evaluator, metric), those of `keys` that have scores, repeats averaged."""
    return dict(values_by_model(run, [model], design, keys))[model]


def values_by_model(
    run: Run, models: Sequence[str], design: SamplingDesign, keys: Iterable[Key]
) -> Iterator[tuple[str, dict[Key, CaseValues]]]:
    """Yield each model with its `case_values`: the scores are opened once for all of them, and held of one."""
    wanted: dict[str, list[str]] = {}
    for evaluator, metric in dict.fromkeys(keys):
        wanted.setdefault(evaluator, []).append(metric)
    with open_scores(run, models) as files:
        for model in models:
            found: dict[Key, CaseValues] = {}
            for evaluator, metrics in wanted.items():
                read = case_sums(files, evaluator, metrics, [model], design.cases)
                for place in np.flatnonzero(read.stored).tolist():
                    means = ratio(read.sums[place, :, 0], read.counts[place, :, 0])
                    single = bool(read.counts[place].max(initial=0) <= 1)
                    found[evaluator, metrics[place]] = CaseValues(means[design.inside], single)
            yield model, found
