"""Metrics of a whole data set paired between two models: both are computed on the same resamples of its cases.

A mAP has no value per case, but a bootstrap resample has one of each model, and how the two differ varies far less than
either of them: an image that is hard is hard for both. The evaluators are run again for that, on first demand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.analysis.leaderboard.leaderboard import Column, column_key
from metrics.analysis.leaderboard.significance import Verdict, in_words, turned
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.store import Run
from metrics.vision.image_resampling import paired_difference

Floats = NDArray[np.float64]
MEAN_OF = "/m"  # a mean over labels may have a name of its own: map is the mean of ap
Key = tuple[str, str | None]  # a column's key, and the label or None for all


@dataclass(frozen=True, slots=True)
class Resampled:
    """One metric of the whole data set, or of one label of it, for two models.

    difference: b − a with its 95 % interval low … high and p (image_resampling.paired_difference), None where
    no resample shows any difference; n: what b's value rests on; resamples: those in which both have a value.
    """

    column: Column
    label: str | None
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float | None
    n: int
    resamples: int
    adjusted: float | None = None
    verdict: Verdict = "none"

    @property
    def units(self) -> str:
        """What the test rests on: `2,000 resamples`."""
        return f"{self.resamples:,} resamples"

    @property
    def outcomes(self) -> tuple[int, int, int] | None:
        """None: a metric of the whole data set has no wins, losses and ties."""
        return None

    @property
    def better(self) -> float | None:
        """The difference turned so that above 0 b is better; None where neither end is."""
        return turned(self.column, self.difference)

    @property
    def words(self) -> str:
        """The verdict in words."""
        if self.verdict == "equal":
            return "equal in every resample"
        return in_words(self.verdict, self.column, self.difference)


class Estimate(NamedTuple):
    """A value, what it rests on, and the value in each resample [B]; of repeats the means."""

    value: float
    n: int
    samples: Floats


def resampled_differences(
    run: Run, model_a: str, other: Run, model_b: str, columns: Sequence[Column], tag: str | None = None
) -> dict[Key, Resampled]:
    """Return those of `columns` that can be paired, over all labels and for each, by key and label.

    Not paired: evaluators that use models, give no replicates, or had another seed or number of resamples for b.
    """
    found: dict[Key, Resampled] = {}
    for name in dict.fromkeys(column.evaluator for column in columns):
        own = {column.key: column for column in columns if column.evaluator == name}
        entry = evaluators()[name]
        drawn = [[each.evaluators.get(name, {}).get(key) for key in ("seed", "resamples")] for each in (run, other)]
        if "resamples" not in entry.parameters.model_fields or entry.resources or drawn[0] != drawn[1]:
            continue
        a, b = _estimates(run.folder, model_a, name, tag), _estimates(other.folder, model_b, name, tag)
        for (key, label), of_a in a.items():
            column = own.get(key) if label is None else own.get(key) or own.get(key.replace("/", MEAN_OF, 1))
            of_b = b.get((key, label))
            if column is not None and of_b is not None and of_a.samples.shape == of_b.samples.shape:
                apart = of_b.samples - of_a.samples
                both = apart[~np.isnan(apart)]
                if len(both):
                    found[column.key, label] = _difference(column, label, of_a, of_b, both)
    return found


def _difference(column: Column, label: str | None, a: Estimate, b: Estimate, apart: Floats) -> Resampled:
    difference = b.value - a.value
    low, high, p = paired_difference(difference, apart)
    widest = column.high - column.low
    low, high = max(low, -widest), min(high, widest)
    return Resampled(column, label, a.value, b.value, difference, low, high, p, b.n, len(apart))


@lru_cache(maxsize=32)
def _estimates(folder: Path, model: str, evaluator: str, tag: str | None) -> Mapping[Key, Estimate]:
    """Return the numbers of one model that have replicates, from the stored suite and outputs; sealed runs never
    change.
    """
    run = Run(folder)
    entry = evaluators()[evaluator]
    parameters = entry.parameters.model_validate(run.evaluators[evaluator])
    suite, outputs, cases = run.suite, run.outputs, None
    if tag is not None:
        tags = suite.cases["tags"].combine_chunks()
        held = pc.list_parent_indices(tags).filter(pc.equal(pc.list_flatten(tags), tag))
        cases = suite.cases["case_id"].take(held).combine_chunks()
        suite = suite.restricted(cases)
    repeats = outputs.outputs.filter(pc.equal(outputs.outputs["model"], model))["run"].unique().to_pylist()
    pooled: dict[Key, list[Estimate]] = {}
    for repeat in repeats:
        try:
            found = entry(suite, outputs.restricted(model, repeat, cases), parameters)
        except InputError:  # the run says so where it has no value
            continue
        for row in found.aggregates:
            if row.value is not None and row.replicates is not None and len(row.replicates):
                own = json.dumps(dict(row.columns), ensure_ascii=False)
                key = (column_key(evaluator, row.metric, own), row.label)
                pooled.setdefault(key, []).append(Estimate(row.value, row.n, np.array(row.replicates)))
    return {
        key: Estimate(
            float(np.mean([one.value for one in same])), same[-1].n, np.mean([one.samples for one in same], axis=0)
        )
        for key, same in pooled.items()
        if len(same) == len(repeats)
    }
