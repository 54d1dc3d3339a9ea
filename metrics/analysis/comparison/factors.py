"""Models and prompts as two factors of a run whose entries are models with prompts: what each of them changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues, values_by_model
from metrics.analysis.comparison.significance import PairedTest
from metrics.analysis.leaderboard.headline import primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.analysis.leaderboard.replicates import Replicated, no_means, replicates
from metrics.core.array_types import Floats
from metrics.core.rounding import none_if_nan
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.corrections import holm
from metrics.stats.intervals import mean_intervals, percentiles
from metrics.stats.paired_intervals import resample_interval
from metrics.stats.two_factors import (
    Contrast,
    Effects,
    complete_grid,
    effects_of_cases,
    effects_of_resamples,
    grid_contrasts,
)
from metrics.store import Run, cache_by_run

T = TypeVar("T")
Factor = Literal["model", "prompt", "interaction"]
FACTORS: Mapping[str, Factor] = {"row": "model", "column": "prompt", "interaction": "interaction"}
ALL = ""  # in place of a model or a prompt: the mean over all of them, each with equal weight
NO_PAIRS = "neither values per case nor the same resamples are stored of every model with every prompt"
NO_CASE = "no case has a value of every model with every prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(PairedTest):
    """A difference between two levels of a factor, b − a, as the mean over the other one; or a part of the interaction.

    Of an interaction a is a model and b a prompt: how much more the prompt gains with this model than the other prompt
    does, less the same of the other model, where there are two of each; else by how much the two together are above
    what each has by itself.
    """

    equal: ClassVar[str] = "equal on every case"

    factor: Factor
    a: str
    b: str

    @property
    def is_clear(self) -> bool:
        """Whether it is significant after correction."""
        return self.significance in ("better", "worse", "higher", "lower")


class Names(NamedTuple):
    """The models and the prompts of a grid."""

    models: tuple[str, ...]
    prompts: tuple[str, ...]


class Mean(NamedTuple):
    """A mean with its 95 % interval; None where there is none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MetricFactors:
    """One metric by model and prompt on the `n` cases that have a value in every cell (of a data-set number: all).

    means: by (model, prompt), ALL for either; effects: each pair of models, each pair of prompts, the interaction;
    reason: why there are none.
    """

    column: Column
    means: Mapping[tuple[str, str], Mean] = field(default_factory=dict)
    effects: tuple[Effect, ...] = ()
    n: int = 0
    reason: str = ""

    def of(self, factor: Factor) -> list[Effect]:
        """Return the effects of a factor, the surest first."""
        own = [one for one in self.effects if one.factor == factor]
        return sorted(own, key=lambda one: (one.adjusted is None, one.adjusted, -abs(one.difference or 0.0)))

    @property
    def interaction(self) -> Effect | None:
        """The part of the interaction that is shown: if it is not significant after correction, none is."""
        return next(iter(self.of("interaction")), None)


@dataclass(frozen=True, slots=True)
class TwoFactors:
    """The metrics of a run by `models` and `prompts`, a complete grid; both are empty where there is none.

    left_out: entries that are declared but outside the grid; cases: of the run; clustered: whether intervals and tests
    take the suite's groups as units; tested: how many tests the correction is over, all effects of all these metrics.
    """

    models: tuple[str, ...]
    prompts: tuple[str, ...]
    left_out: tuple[str, ...]
    metrics: tuple[MetricFactors, ...]
    cases: int
    clustered: bool
    tested: int


def factor_effects(run: Run, factors: Mapping[str, tuple[str, str]]) -> TwoFactors:
    """Return what models and prompts change in a run, in its main metrics.

    factors: (model, prompt) by entry, the name of a model of the run, no pair twice. Where some pair is missing, the
    largest complete grid counts: a mean over other prompts would be of another thing. Of metrics with values per case
    only the cases count that have one in every cell; the others are compared on stored resamples. Adjusted p are by
    Holm over all effects of all these metrics.
    """
    return _effects(run, tuple((pair, entry) for entry, pair in factors.items()))


@cache_by_run(maxsize=8)
def _effects(run: Run, cells: tuple[tuple[tuple[str, str], str], ...]) -> TwoFactors:
    entry_of, design = dict(cells), run.sampling_design()
    names = Names(*complete_grid(entry_of))
    grid = [[entry_of[model, prompt] for prompt in names.prompts] for model in names.models]
    left_out = [entry for (model, prompt), entry in cells if model not in names.models or prompt not in names.prompts]
    found = list[MetricFactors]()
    if grid:
        columns = primary_columns(leaderboard(run))
        asked = [(column.evaluator, column.metric) for column in columns if column.label_key is None]
        values = dict(values_by_model(run, [entry for own in grid for entry in own], design, asked))
        resampled, whole = replicates(run) or {}, no_means(run)
        for column in columns:
            key = (column.evaluator, column.metric)
            by_case = [[values[entry].get(key) for entry in own] for own in grid]
            stored = [[resampled.get((entry, column.key)) for entry in own] for own in grid]
            if column.label_key is None and key not in whole and (all_there := _whole(by_case)):
                found.append(_of_cases(column, names, all_there, design))
            elif all_stored := _whole(stored):
                found.append(_of_resamples(column, names, all_stored, design))
            else:
                found.append(MetricFactors(column, reason=NO_PAIRS))
    tested = sum(one.p is not None for metric in found for one in metric.effects)
    grouped = design.clusters is not None
    return TwoFactors(*names, tuple(left_out), tuple(_adjusted(found)), len(design), grouped, tested)


def _whole(cells: Sequence[Sequence[T | None]]) -> list[list[T]]:
    """Return the cells of a grid; none where one is missing."""
    rows = [[one for one in own if one is not None] for own in cells]
    return rows if all(len(row) == len(own) for row, own in zip(rows, cells, strict=True)) else []


def _of_cases(column: Column, names: Names, cells: list[list[CaseValues]], design: SamplingDesign) -> MetricFactors:
    values = np.moveaxis(np.array([[one.values for one in own] for own in cells]), 2, 0)
    there = ~np.isnan(values).any(axis=(1, 2))
    weights, clusters = design.of_part(there)
    values, n = values[there], int(there.sum())
    if not n or (weights is not None and not weights.any()):
        return MetricFactors(column, reason=NO_CASE)
    whole = _with_margins(values)
    flat = whole.reshape(n, -1)
    low, high, _ = mean_intervals(flat, weights, clusters, low=column.low, high=column.high)
    ends = np.stack([low, high]).reshape(2, *whole.shape[1:])
    if column.binary and weights is None and clusters is None and all(one.single for own in cells for one in own):
        low, high, _ = mean_intervals(values.reshape(n, -1), shares=True)
        ends[:, :-1, :-1] = np.stack([low, high]).reshape(2, *values.shape[1:])
    contrasts = grid_contrasts(*values.shape[1:])
    found = effects_of_cases(values, contrasts, weights, clusters, column.high - column.low)
    units = n if clusters is None else len(np.unique(clusters))
    means = _means(names, np.average(whole, axis=0, weights=weights), ends)
    return MetricFactors(column, means, _named(column, names, contrasts, found, units), n)


def _of_resamples(column: Column, names: Names, cells: list[list[Replicated]], design: SamplingDesign) -> MetricFactors:
    if len({one.samples.shape for own in cells for one in own}) > 1:
        return MetricFactors(column, reason=NO_PAIRS)
    values = np.array([[one.value for one in own] for own in cells])
    samples = np.array([[one.samples for one in own] for own in cells])
    contrasts = grid_contrasts(*values.shape)
    found = effects_of_resamples(values, samples, contrasts, column.high - column.low, column.quantile)
    whole, ends = _with_margins(values), np.full((2, len(names.models) + 1, len(names.prompts) + 1), np.nan)
    moved = np.moveaxis(_with_margins(np.moveaxis(samples, 2, 0)), 0, 2)
    for place, value in np.ndenumerate(whole):
        if len(known := moved[place][~np.isnan(moved[place])]):
            ends[:, *place] = percentiles(known) if column.quantile else resample_interval(float(value), known)
    units, n = len(np.unique(design.units)), min(one.n for own in cells for one in own)
    means = _means(names, whole, np.clip(ends, column.low, column.high))
    return MetricFactors(column, means, _named(column, names, contrasts, found, units), n)


def _with_margins(grid: Floats) -> Floats:
    """Return a grid [..., a, b] with the means of its rows, of its columns and of all: [..., a + 1, b + 1]."""
    rows = np.concatenate([grid, grid.mean(axis=-1, keepdims=True)], axis=-1)
    return np.concatenate([rows, rows.mean(axis=-2, keepdims=True)], axis=-2)


def _means(names: Names, values: Floats, ends: Floats) -> dict[tuple[str, str], Mean]:
    """Return the means of a grid with margins, `values` [a + 1, b + 1] and their `ends` [2, a + 1, b + 1]."""
    return {
        (model, prompt): Mean(float(values[j, k]), *(none_if_nan(end) for end in ends[:, j, k].tolist()))
        for j, model in enumerate((*names.models, ALL))
        for k, prompt in enumerate((*names.prompts, ALL))
    }


def _named(
    column: Column, names: Names, contrasts: Sequence[Contrast], found: Effects, units: int
) -> tuple[Effect, ...]:
    """Return contrasts that were `found` as effects of models and prompts; p not adjusted."""
    levels = {
        "row": (names.models, names.models),
        "column": (names.prompts, names.prompts),
        "interaction": (names.models, names.prompts),
    }
    return tuple(
        Effect(
            column=column,
            factor=FACTORS[one.kind],
            a=levels[one.kind][0][one.one],
            b=levels[one.kind][1][one.other],
            difference=float(found.value[k]),
            low=none_if_nan(found.low[k]),
            high=none_if_nan(found.high[k]),
            error=float(found.error[k]),
            clusters=units,
            p=float(found.p[k]) if found.differs[k] else None,
        )
        for k, one in enumerate(contrasts)
    )


def _adjusted(metrics: Sequence[MetricFactors]) -> Iterator[MetricFactors]:
    """Yield the metrics with p adjusted over all of their effects together."""
    tested = [one.p for metric in metrics for one in metric.effects if one.p is not None]
    adjusted = iter(holm(np.array(tested, np.float64)).tolist())
    for metric in metrics:
        effects = (one.with_adjusted(None if one.p is None else next(adjusted)) for one in metric.effects)
        yield replace(metric, effects=tuple(effects))
