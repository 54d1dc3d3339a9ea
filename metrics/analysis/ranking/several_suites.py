"""One metric over several suites, not every model in each: a table, and what can be said of all suites together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from metrics.analysis.comparison.case_values import CaseValues, case_values
from metrics.analysis.comparison.shared_cases import changed_settings, shared_cases
from metrics.analysis.leaderboard.leaderboard import Cell, Column, leaderboard
from metrics.analysis.leaderboard.replicates import replicates
from metrics.analysis.ranking.objectives import objectives
from metrics.core.array_types import Floats, Ints
from metrics.core.errors import InputError
from metrics.core.rounding import EQUAL
from metrics.stats.float_tolerance import falling_order, standard_errors
from metrics.stats.meta_analysis import FEWEST_SUITES, AcrossSuites, Study, mean_of_suites, pooled_means
from metrics.stats.paired_tests import paired_tests
from metrics.store import Run

NOT_THERE = "not evaluated"
MANY = 1e6  # degrees of freedom of what resamples say
MOST_PAIRS = 3  # of suites that are named
UNRANKED = (
    "No ranks: these suites cannot tell how much the differences between models vary from suite to suite, which also "
    f"makes the intervals too narrow. It takes {FEWEST_SUITES} suites, with every model in two or more."
)
FEWEST = 2  # cases that all models of a suite answered


@dataclass(frozen=True, slots=True)
class SuiteColumn:
    """One suite: its fingerprint, name and the runs of it that count, the oldest first; cases: how many it has; paired:
    those that every model of it has a value of, or 0 where its models are paired on resamples.
    """

    fingerprint: str
    name: str
    runs: tuple[str, ...]
    cases: int
    paired: int


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """A model's number in a suite and the run that it is of; None where there is none, `reason` says why."""

    cell: Cell | None
    run: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Overall:
    """A model over all suites.

    mean … mean_high: of its numbers, each suite counting the same, None unless it has one in every suite; value … high:
    what its mean would be had it answered every suite, from the differences between models of one suite; common_low,
    common_high: the interval if these are one in all suites; best_rank … worst_rank, None of too few suites. None where
    no chain of suites connects the models.
    """

    model: str
    suites: int
    mean: float | None = None
    mean_low: float | None = None
    mean_high: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    common_low: float | None = None
    common_high: float | None = None
    best_rank: int | None = None
    worst_rank: int | None = None


@dataclass(frozen=True, slots=True)
class SeveralSuites:
    """One metric of models × suites.

    cells: by (model, suite fingerprint); overall: by the fitted value, the best first; q, freedom, p, i2, tau: how much
    the differences between models vary from suite to suite, see metrics.stats.meta_analysis; None where nothing could
    be fitted. notes: what was left out and why, in sentences.
    """

    column: Column
    suites: tuple[SuiteColumn, ...]
    cells: Mapping[tuple[str, str], SuiteCell]
    overall: tuple[Overall, ...]
    q: float | None
    freedom: int
    p: float | None
    i2: float | None
    tau: float | None
    notes: tuple[str, ...]

    @property
    def leaders(self) -> tuple[str, ...]:
        """The models than which none is significantly better; empty where there are no ranks."""
        return tuple(one.model for one in self.overall if one.best_rank == 1)


@dataclass(frozen=True, slots=True)
class _Suite:
    """The runs of one suite that count; `of`: the newest one with a number of each model."""

    runs: Sequence[Run]
    of: Mapping[str, Run]


def several_suites(runs: Sequence[Run], key: str, models: Sequence[str] = ()) -> SeveralSuites:
    """Return one metric (the key of a leaderboard's column) of the models of finished runs of several suites.

    Metrics of one name are one only where evaluator, its version, parameters, prompts, judge and local models are those
    of the first run; runs with others are left out and told. Of several runs of a suite the newest number of a model
    counts. The models of a suite are paired on the cases (or resamples) of all of them, so that their differences have
    the errors of the leaderboard's paired tests; suites are put together by metrics.stats.meta_analysis. models: of
    these only, default all. InputError where the first run has no such metric with a better end.
    """
    first = objectives(runs[0]).get(key) if runs else None
    if first is None or first.is_resource:
        there = [name for name, one in objectives(runs[0]).items() if not one.is_resource] if runs else []
        raise InputError(f"there is no metric {key!r} with a better end; there are {', '.join(there) or 'none'}")
    notes: list[str] = []
    used = _comparable(runs, key, first.column.evaluator, notes)
    suites = _runs_by_suite(used, key, models, first.by_case)
    named = tuple(dict.fromkeys(model for run in used for model in run.models if not models or model in models))
    studies = {name: _study(suite, key, named, first.by_case) for name, suite in suites.items()}
    columns = []
    for fingerprint, suite in suites.items():
        facts, (study, paired) = suite.runs[-1].spec.suite, studies[fingerprint]
        columns.append(SuiteColumn(fingerprint, facts.name, tuple(run.id for run in suite.runs), facts.cases, paired))
        if study is None and suite.of:
            notes.append(f"{facts.name} is not part of the figures over all suites: too few cases of all its models.")
    notes += _overlaps([suite.runs[-1] for suite in suites.values()])
    cells = {(model, fingerprint): _cell(suite, model, key) for model in named for fingerprint, suite in suites.items()}
    return _overall(first.column, columns, cells, named, [study for study, _ in studies.values()], notes)


def _runs_by_suite(runs: Sequence[Run], key: str, models: Sequence[str], by_case: bool) -> dict[str, _Suite]:
    """Return the runs of each suite by its fingerprint, the oldest first, and each model's newest run."""
    suites: dict[str, _Suite] = {}
    for fingerprint in dict.fromkeys(run.spec.suite.fingerprint for run in runs):
        own = [run for run in runs if run.spec.suite.fingerprint == fingerprint]
        own.sort(key=lambda run: run.began)
        if not by_case:
            own = own[-1:]  # resamples of one run pair, of two they need not
        of = {model: run for run in own for model in objectives(run)[key].numbers if not models or model in models}
        suites[fingerprint] = _Suite(own, of)
    return suites


def _comparable(runs: Sequence[Run], key: str, evaluator: str, notes: list[str]) -> list[Run]:
    """Return the runs that have the metric as the first one computed it; `notes` gets why the others have not."""
    used = []
    for run in runs:
        if evaluator not in run.evaluators or key not in objectives(run):
            notes.append(f"{run.name} is left out: it has no such metric.")
        elif changed := changed_settings(runs[0], run, evaluator):
            notes.append(f"{run.name} is left out: evaluated with {', '.join(changed)}.")
        else:
            used.append(run)
    return used


def _study(suite: _Suite, key: str, named: Sequence[str], by_case: bool) -> tuple[Study | None, int]:
    """Return the means of a suite's models on what all of them have, and how many cases that is (0: resamples)."""
    models = [model for model in named if model in suite.of]
    if not models:
        return None, 0
    places = np.array([named.index(model) for model in models], np.int64)
    if by_case:
        return _study_of_cases(suite, key, models, places)
    return _study_of_resamples(suite.runs[-1], key, models, places), 0


def _study_of_resamples(run: Run, key: str, models: Sequence[str], places: Ints) -> Study | None:
    """Return the means with the covariance of the run's resamples; None where a model has none, or too few."""
    stored = replicates(run) or {}
    if any((model, key) not in stored for model in models):
        return None
    samples = np.array([stored[model, key].samples for model in models])
    samples = samples[:, ~np.isnan(samples).any(axis=0)]
    means = np.array([stored[model, key].value for model in models])
    if samples.shape[1] < FEWEST:
        return None
    covariance = np.atleast_2d(np.cov(samples))
    return Study(places, means, _loosened(covariance, 1.0, stored[models[0], key].n), MANY)


def _study_of_cases(suite: _Suite, key: str, models: Sequence[str], places: Ints) -> tuple[Study | None, int]:
    """Return the means on the cases that all models have, with the errors of paired tests, and how many cases."""
    column = next(one.column for one in objectives(suite.runs[-1]).values() if one.column.key == key)
    design, name = suite.runs[-1].sampling_design(), (column.evaluator, column.metric)
    read: list[CaseValues | None] = [case_values(suite.of[model], model, design, [name]).get(name) for model in models]
    if any(one is None for one in read):
        return None, 0
    values = np.stack([one.values for one in read if one is not None], axis=1)
    values[np.isnan(values).any(axis=1)] = np.nan  # on the cases of all models
    paired = int((~np.isnan(values[:, 0])).sum())
    pairs = list(combinations(range(len(models)), 2))
    apart = np.stack([*values.T, *(values[:, one] - values[:, other] for one, other in pairs)], axis=1)
    found = paired_tests(apart, design.weights, design.clusters)
    if paired < FEWEST or np.isnan(found.error).any():
        return None, paired
    covariance = _covariance(found.error**2, len(models))
    width = column.high - column.low
    if not np.isfinite(width):
        width = float(np.nanmax(values) - np.nanmin(values))
    freedom = float(found.freedom[: len(models)].min())
    covariance = _loosened(covariance, width, int(found.units[0]))
    return Study(places, found.difference[: len(models)], covariance, freedom), paired


def _covariance(squares: Floats, size: int) -> Floats:
    """Return the covariance [m, m] of m means from their squared errors, followed by those of their differences."""
    covariance = np.diag(squares[:size])
    for place, (one, other) in enumerate(combinations(range(size), 2), size):
        shared = (squares[one] + squares[other] - squares[place]) / 2
        covariance[one, other] = covariance[other, one] = shared
    return covariance


def _loosened(covariance: Floats, width: float, units: int) -> Floats:
    """Return the covariance of means, with one unit more in which models differ by `width` where two never differ.

    Without it a suite in which two models are equal on every case would settle their difference for certain.
    """
    variances = np.diag(covariance)
    apart = variances[:, None] + variances - 2 * covariance
    nothing = EQUAL * max(width, EQUAL) ** 2
    same = (apart <= nothing) & ~np.eye(len(apart), dtype=bool)
    level = width**2 / (units + 1) ** 2
    extra = np.where(same.any(axis=1) | (variances <= nothing), level / 2, 0.0)
    return np.asarray(covariance + np.diag(extra), np.float64)


def _overlaps(runs: Sequence[Run]) -> list[str]:
    """Return which suites share cases, in sentences: they are not independent of each other."""
    found = []
    for one, other in combinations(runs, 2):
        shared = shared_cases(one, other)
        if shared is not None and len(shared):
            found.append(f"{one.spec.suite.name} and {other.spec.suite.name} {len(shared):,}")
    if not found:
        return []
    more = f" and {len(found) - MOST_PAIRS} more pairs of suites" if len(found) > MOST_PAIRS else ""
    told = "; ".join(found[:MOST_PAIRS]) + more
    return [f"Suites share cases, which count in each, so that intervals are too narrow: {told}."]


def _cell(suite: _Suite, model: str, key: str) -> SuiteCell:
    if model in suite.of:
        run = suite.of[model]
        return SuiteCell(leaderboard(run).cells[model, key], run.id)
    held = [run for run in suite.runs if model in run.models]
    if not held:
        return SuiteCell(None, None, NOT_THERE)
    cell = leaderboard(held[-1]).cells.get((model, key))
    return SuiteCell(None, held[-1].id, (cell.reason if cell else None) or "no case has a value")


def _overall(
    column: Column,
    columns: Sequence[SuiteColumn],
    cells: Mapping[tuple[str, str], SuiteCell],
    named: Sequence[str],
    studies: Sequence[Study | None],
    notes: list[str],
) -> SeveralSuites:
    known = [study for study in studies if study is not None]
    covered = sorted({int(place) for study in known for place in study.models})
    place_of = {place: at for at, place in enumerate(covered)}
    moved = [study._replace(models=np.array([place_of[int(one)] for one in study.models])) for study in known]
    sign = -1.0 if column.direction == "lower" else 1.0  # makes more better, so that rank 1 is the best
    moved = [study._replace(means=sign * study.means) for study in moved]
    pooled = pooled_means(moved, len(covered)) if len(known) > 1 else None
    if pooled is None and len(known) > 1:
        notes.append("No chain of suites connects all models, so some cannot be compared: leave models or runs out.")
    if pooled is not None and pooled.best is None:
        notes.append(UNRANKED)
    overall = [
        _of_model(column, model, place_of.get(place), known, place, cells, pooled, len(columns))
        for place, model in enumerate(named)
    ]
    overall.sort(key=lambda one: -one.suites)
    order = falling_order([np.nan if one.value is None else sign * one.value for one in overall])
    spread: tuple[float | None, int, float | None, float | None, float | None] = (None, 0, None, None, None)
    if pooled is not None:
        spread = (pooled.q, pooled.freedom, pooled.p, pooled.i2, pooled.tau)
    ranked = tuple(overall[place] for place in order)
    return SeveralSuites(column, tuple(columns), cells, ranked, *spread, tuple(notes))


def _of_model(
    column: Column,
    model: str,
    at: int | None,
    known: Sequence[Study],
    place: int,
    cells: Mapping[tuple[str, str], SuiteCell],
    pooled: AcrossSuites | None,
    suites: int,
) -> Overall:
    count = sum(cell.cell is not None for (name, _), cell in cells.items() if name == model)
    own = [(study, int(np.flatnonzero(study.models == place)[0])) for study in known if place in study.models]
    found = Overall(model, count)
    if len(own) == suites > 1:
        errors = [float(standard_errors(study.covariance)[row]) for study, row in own]
        means, freedom = [float(study.means[row]) for study, row in own], [study.freedom for study, _ in own]
        mean, low, high = _within(column, *mean_of_suites(means, errors, freedom))
        found = replace(found, mean=mean, mean_low=low, mean_high=high)
    if pooled is None or at is None:
        return found
    numbers = [float(of[at]) for of in (pooled.value, pooled.low, pooled.high, pooled.common_low, pooled.common_high)]
    if column.direction == "lower":
        value, low, high, common_low, common_high = (-number for number in numbers)
        numbers = [value, high, low, common_high, common_low]
    value, low, high, common_low, common_high = _within(column, *numbers)
    found = replace(found, value=value, low=low, high=high, common_low=common_low, common_high=common_high)
    if pooled.best is None or pooled.worst is None:
        return found
    return replace(found, best_rank=int(pooled.best[at]), worst_rank=int(pooled.worst[at]))


def _within(column: Column, *numbers: float) -> tuple[float, ...]:
    return tuple(min(column.high, max(column.low, number)) for number in numbers)
