"""The leaderboard: models × metrics, each cell with its interval, counts, goodness and rank."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.leaderboard.cells import NOT_EVALUATED, Cell, Column
from metrics.analysis.leaderboard.family import correct_family, count_tests
from metrics.analysis.leaderboard.ranks import MAX_VALUES, Ranks, ranks, resample_ranks
from metrics.analysis.leaderboard.replicates import column_key, no_means, short
from metrics.analysis.leaderboard.resources import resource_ranks
from metrics.analysis.leaderboard.unscored import overtaking
from metrics.core.conventions import CONVENTIONS
from metrics.core.evaluator import Evaluator, Metric, Status
from metrics.core.label_keys import KEY
from metrics.core.rounding import same_number
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.cluster_variance import design_freedom
from metrics.store import Run, cache_by_run
from metrics.store.threshold_profiles import ThresholdProfiles

__all__ = ["NOT_EVALUATED", "Cell", "Column", "Leaderboard", "column_of", "leaderboard", "relative_goodness"]

UNSCORED = tuple(status.value for status in Status if status is not Status.OK)
UNTESTED = "no significance claimed: neither values per case nor resamples are stored to pair the models on"
UNDER_WAY = "not ranked until every case is scored"
TO_COME = "not scored yet"
TOO_MANY = f"no significance claimed: more than {MAX_VALUES:,} values; a comparison tests any two models"
MIN_FREEDOM = 4.0  # degrees of freedom, below which Satterthwaite's approximation is not reliable (Tipton 2015)


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Models × columns: `cells` by (model, column key), `ranks` by column key, `tags` the slices there are.

    spent: the ranks in what the answers took, by quantity; their p and those of `ranks` are corrected together, as one
    family of `tests`. cautions: why its intervals and tests are not to be relied on, a sentence each; see few_groups.
    overtaking: by (model, column key) the worse models that may be as good if missing cases count, see
    leaderboard.unscored. decisive: the keys of the columns that the user chooses a model of this suite by. made_of:
    what of the data is evaluated, and what of another system's conventions the run has, a sentence each.
    """

    models: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, str], Cell]
    tags: tuple[str, ...]
    ranks: Mapping[str, Ranks]
    cautions: tuple[str, ...] = ()
    spent: Mapping[str, Ranks] = field(default_factory=dict)
    tests: int = 0
    overtaking: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    decisive: tuple[str, ...] = ()
    made_of: tuple[str, ...] = ()

    @property
    def label_keys(self) -> tuple[str, ...]:
        """The keys of labels that columns count, in their order; none where labels have no keys."""
        return tuple(dict.fromkeys(column.label_key for column in self.columns if column.label_key is not None))


class _Group(NamedTuple):
    """The rows of a column, one of each model, with what the column is of.

    label_key: of the labels that it counts; alike: whether other columns have the same metric and label key, so that
    its title also names the values of its own; leads: whether it is the first of these.
    """

    entry: Evaluator
    metric: Metric
    label_key: str | None
    rows: list[dict[str, Any]]
    alike: bool
    leads: bool

    @property
    def own(self) -> Mapping[str, Any]:
        """The values that its title names."""
        return json.loads(self.rows[0]["columns"]) if self.alike else {KEY: self.label_key}


def leaderboard(run: Run, tag: str | None = None) -> Leaderboard:
    """Return the leaderboard of a sealed run or of a snapshot, over all cases or those with one tag.

    An evaluator that is not done has values so far, but neither ranks nor problems.
    """
    run.stored("aggregates")  # a damaged one is told although it is not read again
    found = _leaderboard(run, tag)
    return replace(found, decisive=_decisive(run, found.columns))


@cache_by_run(maxsize=8)
def _leaderboard(run: Run, tag: str | None) -> Leaderboard:
    """Return the same without what people choose a model by, which may change."""
    rows = run.stored_table("aggregates")
    tags = [name.removeprefix("tag=") for name in rows["slice"].unique().drop_null().to_pylist()]
    groups = _groups(run, rows, tag)
    columns = _columns(run, groups)
    tested = _tests(run, groups, tag) | dict(resource_ranks(run, tag))
    corrected = correct_family(columns, tested)
    tests, spent = ({key: own for key, own in corrected.items() if (key in groups) is kind} for kind in (True, False))
    suite, caution = run.spec.suite, few_groups(run, tag)
    large = suite.cases * len(run.models) > MAX_VALUES
    cells: dict[tuple[str, str], Cell] = {}
    for key, group in groups.items():
        if group.entry.id in run.partly:
            made = _cells_so_far(group.metric, group.rows)
        else:
            made = _cells(group.metric, group.rows, tests.get(key), TOO_MANY if large else UNTESTED)
        for row, cell in zip(group.rows, made, strict=True):
            cells[row["model"], key] = cell if cell.interval is None else replace(cell, caution=caution)
    cells |= _cells_apart(run, columns, tag)
    notes, count = () if caution is None else (caution,), count_tests(columns, corrected)
    ahead = overtaking(run, columns, cells, tag)
    return Leaderboard(run.models, columns, cells, tuple(tags), tests, notes, spent, count, ahead, made_of=run.made_of)


def _decisive(run: Run, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the keys of the columns that decide; a metric that is named without its own columns is its first."""
    first = {f"{column.evaluator}/{column.metric}": column.key for column in reversed(columns)}
    marks = ThresholdProfiles(run.workspace.path).decisive(run.spec.suite.fingerprint)
    return tuple(dict.fromkeys(first.get(mark, mark) for mark in marks))


def _groups(run: Run, rows: pa.Table, tag: str | None) -> dict[str, _Group]:
    """Return the columns of the leaderboard by key, those of metrics that this version declares, in their order."""
    shown = rows.filter(pc.and_(pc.is_null(rows["label"]), pc.is_null(rows["run"])))
    in_slice = pc.is_null(shown["slice"]) if tag is None else pc.equal(shown["slice"], f"tag={tag}")
    known = {name: entry for name in run.evaluators if (entry := run.evaluator(name)) is not None}
    declared = {(name, metric.name): metric for name, entry in known.items() for metric in entry.metrics}
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in shown.filter(in_slice).to_pylist():
        if (row["evaluator"], row["metric"]) in declared:  # not of a later version, or one that is gone
            grouped.setdefault(column_key(row["evaluator"], row["metric"], row["columns"]), []).append(row)
    names = {
        key: (same[0]["evaluator"], same[0]["metric"], json.loads(same[0]["columns"]).get(KEY))
        for key, same in grouped.items()
    }
    alike = Counter(names.values())
    first = {name: key for key, name in reversed(names.items())}
    order = sorted(declared, key=lambda name: known[name[0]].place)
    places = {name: place for place, name in enumerate(order)}
    return {
        key: _Group(known[id], declared[id, metric], label_key, grouped[key], alike[name] > 1, first[name] == key)
        for key, name in sorted(names.items(), key=lambda one: places[one[1][:2]])
        for id, metric, label_key in [name]
    }


def _tests(run: Run, groups: Mapping[str, _Group], tag: str | None) -> dict[str, Ranks]:
    """Return the ranks of columns by key, each alone: by values per case whose mean a column is, else by resamples.

    The first column of a metric without label keys is the one that the values of cases are of.
    """
    by_case = {name: found for name, found in ranks(run, tag).items() if name[0] not in run.partly}
    of_cases, whole_numbers = dict[str, Ranks](), no_means(run)
    whole: dict[str, Metric] = {}
    for key, group in groups.items():
        name = group.entry.id, group.metric.name
        resampled = not group.leads or name not in by_case or group.label_key is not None or name in whole_numbers
        if resampled and group.entry.id not in run.partly:
            whole[key] = group.metric
        elif name in by_case:
            of_cases[key] = by_case[name]
    return of_cases | dict(resample_ranks(run, whole, tag))


def _columns(run: Run, groups: Mapping[str, _Group]) -> tuple[Column, ...]:
    """Return the columns with what the run says of their evaluators, and the twins among them."""
    entries = {group.entry.id: group.entry for group in groups.values()}
    wordings = {id: run.wording(id) for id in entries}
    calibrations = {id: run.calibrations(id) for id in entries}
    local = {id: bool(entry.local_models(entry.parameters(**run.evaluators[id]))) for id, entry in entries.items()}
    system = CONVENTIONS.get(run.spec.as_in or "")
    by_model = {key: {row["model"]: row for row in group.rows} for key, group in groups.items()}
    scored = {key for key, rows in by_model.items() if any(row["value"] is not None for row in rows.values())}
    usual = {group.entry.id for group in groups.values() if group.entry.stand != "aside"}
    columns = []
    for key, group in groups.items():
        entry, metric = group.entry, group.metric
        twin = _twin(key, metric, by_model)
        folded = twin is not None or (usual and entry.id not in usual) or (key not in scored and not metric.primary)
        minor = metric.minor or not group.leads or (folded and not _has_own_threshold(run, entry, metric))
        columns.append(
            replace(
                column_of(key, entry, metric, group.own, bool(minor)),
                wording=wordings[entry.id],
                label_key=group.label_key,
                by_model=local[entry.id]
                and metric.direction.value != "none"
                and not (system and system.sets_none(entry.id, metric.name)),
                calibration=calibrations[entry.id].get(metric.name),
                partly=run.partly.get(entry.id),
                threshold_of=run.threshold_of(entry.id, metric),
                twin=twin,
            )
        )
    return tuple(columns)


def _has_own_threshold(run: Run, entry: Evaluator, metric: Metric) -> bool:
    """Return whether somebody set a threshold for a metric, so that it is shown and can be missed."""
    given = {**run.evaluators[entry.id].get("thresholds", {}), **run.given_thresholds.get(entry.id, {})}
    return metric.name in given or (metric.primary and run.evaluators[entry.id].get("threshold") is not None)


def _twin(key: str, metric: Metric, shown: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str | None:
    """Return the key of the column whose number this one repeats; `shown`: the rows of each column's key by model.

    The metric declares it, the two share the values of the own columns that both have, and no model's values differ.
    """
    for other, rows in shown.items():
        one = next(iter(rows.values()))
        if f"{one['evaluator']}.{one['metric']}" not in metric.twin_of or rows.keys() != shown[key].keys():
            continue
        own, others = (json.loads(each["columns"]) for each in (next(iter(shown[key].values())), one))
        if all(value == others.get(name, value) for name, value in own.items()) and all(
            _equal(shown[key][model]["value"], row["value"]) for model, row in rows.items()
        ):
            return other
    return None


def _equal(one: float | None, other: float | None) -> bool:
    return one == other if one is None or other is None else bool(same_number(one, other))


def column_of(key: str, entry: Evaluator, metric: Metric, own: Mapping[str, Any], minor: bool) -> Column:
    """Return the column of a metric; of several that differ in the metric's own columns the first is the headline.

    Where labels have keys, each key has its own.
    """
    named = [
        str(value) if isinstance(value, str) else f"{name} {short(value)}"
        for name, value in own.items()
        if value is not None
    ]
    return Column(
        key=key,
        evaluator=entry.id,
        evaluator_title=entry.title,
        family=entry.family,
        metric=metric.name,
        title=" ".join([metric.name, *named]),
        description=metric.description,
        direction=metric.direction.value,
        low=metric.low,
        high=metric.high,
        threshold=metric.threshold,
        unit=metric.unit,
        primary=metric.primary,
        minor=minor,
        binary=metric.binary,
        quantile=metric.quantile > 0,
        first=entry.stand == "first",
    )


def _cells(metric: Metric, rows: Sequence[Mapping[str, Any]], tested: Ranks | None, untested: str) -> list[Cell]:
    goodness = relative_goodness(metric, [row["value"] for row in rows])
    directed = metric.direction.value != "none"
    scored = [row["model"] for row in rows if row["value"] is not None and directed]
    ranges = dict.fromkeys(scored, (1, 1)) if len(scored) == 1 else {} if tested is None else tested.ranges
    cells = []
    for row, good in zip(rows, goodness, strict=True):
        places = None if row["value"] is None else ranges.get(row["model"])
        wrong = metric.verdict(row["value"]) is False
        cells.append(
            Cell(
                value=row["value"],
                low=row["low"],
                high=row["high"],
                interval=row["interval"],
                n=row["n"],
                unscored=row["unscored"],
                counts={name: row[name] for name in UNSCORED if row[name]},
                goodness=good,
                rank=None if places is None else places[0],
                best=places is not None and places[0] == 1 and len(rows) > 1,
                problem=wrong and directed,
                reason=row["reason"],
                last_rank=None if places is None else places[1],
                ranked=len(ranges),
                paired=tested is not None,
                untested=untested if places is None and row["model"] in scored else None,
                if_worst=row["if_worst"],
                if_best=row["if_best"],
            )
        )
    return cells


def _cells_apart(run: Run, columns: Sequence[Column], tag: str | None) -> Iterator[tuple[tuple[str, str], Cell]]:
    """Yield the cells that a board does not rank, by (model, column key): they are those of their own run."""
    for (model, evaluator), one in run.apart.items():
        theirs = leaderboard(one.source.run, tag).cells
        for column in columns:
            own = theirs.get((one.source.model, column.key)) if column.evaluator == evaluator else None
            if own is not None:
                untested, wrong = f"not ranked: {'; '.join(one.why)}", column.verdict(own.value) is False
                unranked = replace(own, rank=None, last_rank=None, best=False, ranked=0, paired=False)
                yield (model, column.key), replace(unranked, untested=untested, problem=wrong)


def _cells_so_far(metric: Metric, rows: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Return the cells of an evaluator that is not done: the first cases' values, which no model is judged by."""
    cells = []
    for cell in _cells(metric, rows, None, UNDER_WAY):
        reason = cell.reason if cell.n + cell.unscored else TO_COME
        cells.append(replace(cell, problem=False, rank=None, last_rank=None, best=False, ranked=0, reason=reason))
    return cells


def relative_goodness(metric: Metric, values: Sequence[float | None]) -> list[float | None]:
    """Return the goodness of each value by the metric's range, or where that is open by the values' own."""
    present = [value for value in values if value is not None]
    worst = min(present, default=0.0)
    most = max(present, default=0.0)
    alike, spread = bool(same_number(worst, most)), most - worst
    found: list[float | None] = []
    for value in values:
        good = None if value is None else metric.goodness(value)
        if value is not None and good is None and metric.direction.value != "none" and not alike:
            good = (value - worst) / spread
            good = good if metric.direction.value == "higher" else 1.0 - good
        found.append(good)
    return found


@cache_by_run(maxsize=64)
def few_groups(run: Run, tag: str | None = None) -> str | None:
    """Return the warning of a run's design, over all its cases or those with a tag; see `design_warning`."""
    return design_warning(run.sampling_design(tag))


def design_warning(design: SamplingDesign) -> str | None:
    """Return a sentence where the design is worth fewer than MIN_FREEDOM + 1 groups of equal size; None for other
    designs.

    Of ungrouped cases with weights each is a group; of plain cases n says as much. Source of MIN_FREEDOM: Tipton,
    Psychological Methods 20:375, 2015.
    """
    if design.plain or not len(design):
        return None
    masses = np.bincount(design.units, design.weights)
    worth = design_freedom(design.units, design.weights) + 1
    if worth >= MIN_FREEDOM + 1:
        return None
    count = np.count_nonzero(masses)
    groups = f"{count:,} {'weighted case' if design.clusters is None else 'group'}{'' if count == 1 else 's'}"
    of = "cases" if design.weights is None else "weight"
    largest = f", the largest with {100 * masses.max() / masses.sum():.0f} % of the {of}" if count > 1 else ""
    return (
        f"Too few or too unequal groups: {groups}{largest}, worth {worth:.1f} equal ones. Intervals and tests may be "
        f"too narrow or too wide: use {MIN_FREEDOM + 1:g} equal groups or more."
    )
