"""Metrics of a whole data set paired between two models: both are computed on the same resamples of its cases.

A mAP has no value per case, but a resample has one of each model, and how the two differ varies far less than either of
them: an image that is hard is hard for both. A run stores the numbers over all labels in every resample; those of
labels, and of runs that store none, are computed by running the evaluator again on first demand.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.comparison.shared_cases import paired_designs, shared_cases
from metrics.analysis.comparison.significance import PairedTest, largest_difference
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.analysis.leaderboard.replicates import Replicated, column_key, replicates
from metrics.core.errors import InputError
from metrics.core.evaluator import Aggregate
from metrics.core.label_keys import find
from metrics.core.registry import evaluators
from metrics.core.suite import Suite
from metrics.stats.float_tolerance import is_apart
from metrics.stats.intervals import percentiles
from metrics.stats.paired_intervals import agreeing, resample_interval
from metrics.stats.paired_tests import resample_tests
from metrics.stats.rare_losses import Side
from metrics.store import Run, cache_by_run

MEAN_OF = "/m"  # a mean over labels may have a name of its own: map is the mean of ap
Key = tuple[str, str | None]  # a column's key, and the label or None for all


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled(PairedTest):
    """One metric of the whole data set, or of one label of it, for two models.

    p: of metrics.stats.paired_tests.resample_tests, None where no resample shows any difference; n: what b's value
    rests on; resamples: those in which both have a value. below, above: the units' own differences are not known, but
    some that were not seen may differ by all.
    """

    equal: ClassVar[str] = "equal in every resample"

    difference: float
    label: str | None
    a: float
    b: float
    n: int
    resamples: int

    @property
    def units(self) -> str:
        """Return the number of resamples in words, such as `2,000 resamples`."""
        return f"{self.resamples:,} resamples"

    @property
    def outcomes(self) -> tuple[int, int, int] | None:
        """Return None: a metric of the whole data set has no wins, losses and ties by case."""
        return None


def resampled_differences(
    run: Run, model_a: str, other: Run, model_b: str, columns: Sequence[Column], tag: str | None = None
) -> dict[str, Resampled]:
    """Return those of `columns` that can be paired, over all labels, by key.

    Where the suite has changed, both are computed again on the cases that it still has, unchanged. Not paired:
    evaluators that use models, give no replicates, or had another seed or number of resamples for b.
    """
    found: dict[str, Resampled] = {}
    shared = shared_cases(run, other) is not None
    stored = [None if shared else replicates(each, tag) for each in (run, other)]
    pair = (run, other) if shared else None
    clusters = _clusters(run, other, tag)
    for name, own in resampled_evaluators(run, other, columns).items():
        a, b = (
            {(key, None): one for (of, key), one in kept.items() if of == model}
            if kept is not None
            else _estimates(each, model, name, tag, pair)
            for kept, each, model in zip(stored, (run, other), (model_a, model_b), strict=True)
        )
        for column in own:
            pair_of = a.get((column.key, None)), b.get((column.key, None))
            row = _difference(column, None, *pair_of, clusters, column.quantile)
            if row is not None:
                found[column.key] = row
    return found


def label_differences(
    run: Run, model_a: str, other: Run, model_b: str, column: Column, tag: str | None = None
) -> list[Resampled]:
    """Return one column label by label; empty where it has no labels or cannot be paired, see resampled_differences."""
    found, clusters = [], _clusters(run, other, tag)
    for name in resampled_evaluators(run, other, [column]):
        a, b = _estimates(run, model_a, name, tag), _estimates(other, model_b, name, tag)
        for (key, label), of_a in a.items():
            if label is not None and column.key in (key, key.replace("/", MEAN_OF, 1)):
                row = _difference(column, label, of_a, b.get((key, label)), clusters)
                found += [] if row is None else [row]
    return found


def resampled_evaluators(run: Run, other: Run, columns: Sequence[Column]) -> dict[str, list[Column]]:
    """Return the columns by evaluator, of those whose resamples can be paired."""
    found: dict[str, list[Column]] = {}
    for column in columns:
        entry = run.evaluator(column.evaluator)
        drawn = [
            [each.evaluators.get(column.evaluator, {}).get(key) for key in ("seed", "resamples")]
            for each in (run, other)
        ]
        if (
            entry is not None
            and "resamples" in entry.parameters.model_fields
            and not entry.resources
            and drawn[0] == drawn[1]
            and drawn[0][1]
        ):
            found.setdefault(column.evaluator, []).append(column)
    return found


def _clusters(run: Run, other: Run, tag: str | None) -> int:
    """Return how many independent units the cases of both runs are."""
    design = paired_designs(run, other, tag)[1]
    return len(design) if design.clusters is None else len(np.unique(design.clusters))


def _difference(
    column: Column, label: str | None, a: Replicated | None, b: Replicated | None, clusters: int, quantile: bool = False
) -> Resampled | None:
    """Return the difference b − a; None where they have no resample in common.

    quantile: it is one of the cases' values, which jumps from one of them to the next: percentiles of the resamples
    then hold, where the basic bootstrap misses up to one truth in nine.
    """
    if a is None or b is None or a.samples.shape != b.samples.shape:
        return None
    samples = b.samples - a.samples
    both = samples[~np.isnan(samples)]
    if not len(both):
        return None
    difference = b.value - a.value
    widest, apart = column.high - column.low, np.array([difference])
    p = resample_tests(apart, samples[None])
    ends = np.array(percentiles(both) if quantile else resample_interval(difference, both)).clip(-widest, widest)
    low, high = agreeing(ends[:, None], apart, p)
    unseen = Side((0.0,), largest_difference(column, a.value), clusters)
    return Resampled(
        column=column,
        label=label,
        a=a.value,
        b=b.value,
        difference=difference,
        low=float(low[0]),
        high=float(high[0]),
        error=float(both.std()),
        clusters=clusters,
        p=float(p[0]) if is_apart(difference, both) else None,
        n=b.n,
        resamples=len(both),
        below=unseen,
        above=unseen,
    )


@cache_by_run(maxsize=32)
def _estimates(
    run: Run, model: str, evaluator: str, tag: str | None, pair: tuple[Run, Run] | None = None
) -> Mapping[Key, Replicated]:
    """Return the numbers of one model that have replicates, from the stored suite and outputs.

    `pair`: of the cases that two runs share, as they are in the suite of the later one.
    """
    suite, cases = run.sampled_suite if pair is None else pair[1].sampled_suite, None
    if tag is not None or pair is not None:
        design = run.sampling_design(tag) if pair is None else paired_designs(*pair, tag)[1]
        cases = suite.cases["case_id"].take(design.inside).combine_chunks()
    return {
        key: Replicated(
            float(np.mean([one.value for one in same])),
            same[-1].n,
            np.mean([np.asarray(one.replicates) for one in same], axis=0),
        )
        for key, same in computed_again(run, model, evaluator, suite, cases).items()
    }


def computed_again(
    run: Run, model: str, evaluator: str, suite: Suite, cases: pa.Array | None, most: int | None = None
) -> dict[Key, list[Aggregate]]:
    """Return the numbers of one model that have replicates over some cases of the suite (None: all), one a repeat.

    most: of resamples, where that is fewer than the run had. Numbers that a repeat lacks are left out.
    """
    entry, outputs = evaluators()[evaluator], run.outputs
    parameters = entry.parameters.model_validate(run.evaluators[evaluator])
    if most is not None:
        parameters = parameters.model_copy(update={"resamples": min(most, run.evaluators[evaluator]["resamples"])})
    if cases is not None:
        suite = suite.restricted(cases)
    repeats = outputs.outputs.filter(pc.equal(outputs.outputs["model"], model))["run"].unique().to_pylist()
    pooled: dict[Key, list[Aggregate]] = {}
    for repeat in repeats:
        try:
            found = find(entry, suite, outputs.restricted(model, repeat, cases), parameters, {})
        except InputError:  # the run says so where it has no value
            continue
        for row in found.aggregates:
            if row.value is not None and row.replicates is not None and len(row.replicates):
                own = json.dumps(dict(row.columns), ensure_ascii=False)
                key = (column_key(evaluator, row.metric, own), row.label)
                pooled.setdefault(key, []).append(row)
    return {key: same for key, same in pooled.items() if len(same) == len(repeats)}
