"""The value of every slice of one feature at a time, and the cases of a slice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.slices.slice_conditions import Condition, Slice, write_number
from metrics.analysis.slices.slice_features import Known, Numbers, features, known_of_cases, mask_of, title_of, titled
from metrics.analysis.slices.slice_outcomes import FOUND, RIGHT, Outcomes, outcomes
from metrics.analysis.slices.topics import TOPIC, topics
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import none_if_nan
from metrics.stats import slice_means
from metrics.stats.student_t import Z95
from metrics.store import Run, keep_by_run


@dataclass(frozen=True, slots=True)
class SliceValue:
    """The units of a slice that have a value: how many, of how many cases, their mean with its 95 % interval.

    interval: its method, wilson or bootstrap; rest: mean of the others; difference: value − rest with its interval
    difference_low … difference_high. None where there is none, the interval also where either side has too few units
    for one, see metrics.stats.slice_means. worse: the whole interval of the difference is on the
    worse side (not corrected for the number of slices shown). pooled, pooled_low, pooled_high: the value drawn towards
    the other slices of its feature, see metrics.stats.slice_means; None for fewer than four slices.
    """

    slice: Slice
    label: str
    words: str
    n: int
    cases: int
    value: float | None
    low: float | None
    high: float | None
    interval: str
    rest: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    worse: bool
    pooled: float | None = None
    pooled_low: float | None = None
    pooled_high: float | None = None


@dataclass(frozen=True, slots=True)
class FeatureValues:
    """One feature: its slices in their natural order."""

    name: str
    title: str
    slices: tuple[SliceValue, ...]


@dataclass(frozen=True, slots=True)
class SliceTable:
    """Every feature's slices for a model and a measure; `overall` is of all units. noun: what a unit is called."""

    features: tuple[FeatureValues, ...]
    overall: SliceValue
    noun: str
    unscored: int


SLICED = ("scores", "suite/cases.parquet", "outputs/outputs.parquet")


@keep_by_run(maxsize=16, reads=SLICED)
def slice_values(
    run: Run, model: str, evaluator: str, metric: str, by_topic: bool = False, baseline: str | None = None
) -> SliceTable:
    """Return the values of one model by a measure over the slices of each feature, see `outcomes`."""
    found = outcomes(run, model, evaluator, metric, by_topic, baseline)
    ways = features(found.known)
    masks, where = [np.ones(len(found.values), bool)], list[tuple[Condition, ...]]([()])
    for way in ways:
        masks += [mask_of(found.known, [one]) for one in way.conditions]
        where += [(one,) for one in way.conditions]
    overall, *rows = valued(found, np.array(masks), where)
    if found.computed is None:
        variances = slice_means.sampling_variances(found.values, np.array(masks[1:]), found.weights, found.clusters)
    else:
        reach = [np.nan if row.low is None or row.high is None else row.high - row.low for row in rows]
        variances = (np.array(reach) / (2 * Z95)) ** 2
    table, start = [], 0
    for way in ways:
        part = slice(start, start := start + len(way.conditions))
        table.append(FeatureValues(way.name, way.title, _pooled(rows[part], variances[part], found.measure.ends)))
    return SliceTable(tuple(table), overall, found.noun, found.unscored)


def _pooled(rows: Sequence[SliceValue], variances: Floats, ends: tuple[float, float]) -> tuple[SliceValue, ...]:
    """Return the slices of one feature with the values that partial pooling gives them."""
    made = slice_means.pooled(np.array([np.nan if row.value is None else row.value for row in rows]), variances, ends)
    if made is None:
        return tuple(rows)
    columns = zip(rows, made.means.tolist(), made.low.tolist(), made.high.tolist(), strict=True)
    return tuple(
        row if np.isnan(mean) else replace(row, pooled=mean, pooled_low=low, pooled_high=high)
        for row, mean, low, high in columns
    )


def one_slice(run: Run, evaluator: str, metric: str, chosen: Slice) -> SliceValue:
    """Return the value of one slice by a measure; of objects, the share found or right."""
    found = outcomes(run, chosen.model, evaluator, metric, _asks_topic(chosen.where))
    where = titled(found.known, chosen.where)
    return valued(found, mask_of(found.known, where)[None], [where])[0]


def positions(run: Run, chosen: Slice, evaluator: str) -> Ints:
    """Return the cases of a slice by their position in the suite: of objects or predictions, those that hold any."""
    if chosen.of != "cases":
        metric = FOUND if chosen.of == "objects" else RIGHT
        found = outcomes(run, chosen.model, evaluator, metric, _asks_topic(chosen.where))
        return np.unique(found.position[mask_of(found.known, chosen.where)])
    known = dict(known_of_cases(run, chosen.model))
    if _asks_topic(chosen.where):
        known[TOPIC] = topics(run)
    return np.flatnonzero(mask_of(known, chosen.where))


def in_words(run: Run, chosen: Slice) -> str:
    """Return the slice as a phrase: Cases tagged ‘table’ with more than 3 contexts."""
    known = {TOPIC: topics(run)} if _asks_topic(chosen.where) else {}
    where = titled(known, chosen.where)
    of = {"cases": "cases", "objects": "cases with objects", "predictions": "cases with predictions"}[chosen.of]
    return Slice(chosen.model, where, chosen.of).words(of)


def valued(found: Outcomes, masks: Bools, where: Sequence[tuple[Condition, ...]]) -> list[SliceValue]:
    """Return the values of slices [m, n] with these conditions."""
    design = (found.weights, found.clusters, found.binary)
    if found.computed is None:
        means, method = slice_means.slice_means(found.values, masks, *design, found.measure.ends)
        apart = slice_means.rest_differences(found.values, masks, means, *design, found.measure.ends)
    else:
        means, rest = (np.array([found.computed(mask) for mask in side]).reshape(-1, 3) for side in (masks, ~masks))
        method = "resampled"
        enough = slice_means.has_enough_units(masks, found.weights, found.clusters, found.measure.ends)
        apart = slice_means.apart_from(means, rest, enough)
    sign = -1.0 if found.measure.direction == "lower" else 1.0
    rows = []
    for mask, conditions, mean, difference in zip(masks, where, means.tolist(), apart.tolist(), strict=True):
        value, low, high = map(none_if_nan, mean)
        gap, gap_low, gap_high = map(none_if_nan, difference)
        worst_end = None if gap_low is None or gap_high is None else max(sign * gap_low, sign * gap_high)
        part = Slice(found.model, conditions, "cases" if found.computed else found.measure.of)
        labels = [condition_label(found.known, one) for one in conditions]
        if len(conditions) > 1:
            labels = [f"{title_of(one.feature)} {own}" for one, own in zip(conditions, labels, strict=True)]
        named = " · ".join(labels), part.words(found.noun)
        sizes = int(mask.sum()), len(np.unique(found.position[mask]))
        others, worse = None if value is None or gap is None else value - gap, worst_end is not None and worst_end < 0
        rows.append(SliceValue(part, *named, *sizes, value, low, high, method, others, gap, gap_low, gap_high, worse))
    return rows


def condition_label(known: Mapping[str, Known], one: Condition) -> str:
    """Return a condition in short, of a number as the least and the largest that meets it: bins share no end."""
    column = known[one.feature]
    inside = column.values[column.mask(one)] if isinstance(column, Numbers) else np.zeros(0)
    if not len(inside):
        return one.label
    low, high = (write_number(float(end)) for end in (inside.min(), inside.max()))
    return low if low == high else f"{low} – {high}"


def _asks_topic(where: Sequence[Condition]) -> bool:
    return any(one.feature == TOPIC for one in where)
