"""The laws: each says in what an evaluator's findings in one run differ from what those in another ask of them."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metrics.core.evaluator import Evaluator, Metric
from tests.laws.running import NEW_NAMES, Found, Key, parameters_of
from tests.laws.scenes import Scene

CASE, MODEL, METRIC = 0, 1, 3  # places in the key of a score
OWN_MODEL, OWN_METRIC, LABEL, SLICE, COLUMNS = range(5)  # and in that of an aggregate
STATUSES = ("not_applicable", "parse_failure", "error", "skipped")
COUNTED = ("objects", "cases")  # units of metrics that count what there is
ROUNDING = 1e-12  # what a sum may differ by in another order
SUMS = 1e-8  # and a resample, or a product of matrices
Law = Callable[[Evaluator, Scene, Found, Found], Iterator[str]]


def scores_something(entry: Evaluator, scene: Scene, base: Found, _: Found) -> Iterator[str]:
    """Say whether there is nothing on which the other laws could be broken."""
    del entry, scene
    if not any(row["value"] is not None for row in base.aggregates.values()):
        yield "no aggregate has a value"


def counts_add_up(entry: Evaluator, scene: Scene, _: Found, found: Found) -> Iterator[str]:
    """Say which counts do not add up, to the cases where an aggregate is a mean of their scores."""
    for key, row in found.aggregates.items():
        if row["unscored"] != sum(row[status] for status in STATUSES) and entry.shape != "dataset":
            yield f"{key}: unscored {row['unscored']} is not the sum of the statuses"
        if row["n"] < 0 or row["unscored"] < 0:
            yield f"{key}: counts below 0"
        if entry.shape != "dataset" and row["slice"] is None:
            asked = sum(one["model"] == row["model"] for one in scene.outputs)
            if row["n"] + row["unscored"] != asked:
                yield f"{key}: {row['n']} + {row['unscored']} of {asked} outputs"


def has_value_or_reason(entry: Evaluator, _: Scene, __: Found, found: Found) -> Iterator[str]:
    """Say which numbers are missing without a reason, outside their range, or failed."""
    metrics = {metric.name: metric for metric in measured(entry)}
    for key, (value, status, reason) in found.scores.items():
        if status == "error":
            yield f"{key}: {reason}"
        elif (value is None) == (status == "ok"):
            yield f"{key}: {value} with status {status}"
        elif value is None and not reason:
            yield f"{key}: neither value nor reason"
        elif value is not None and not within(metrics[key[METRIC]], value):
            yield f"{key}: {value} is outside its range"
    for key, row in found.aggregates.items():
        if row["value"] is None and not row["reason"]:
            yield f"{key}: neither value nor reason"
        if row["value"] is not None and not within(metrics[key[OWN_METRIC]], row["value"]):
            yield f"{key}: {row['value']} is outside its range"


def interval_is_about_value(entry: Evaluator, _: Scene, __: Found, found: Found) -> Iterator[str]:
    """Say which intervals do not contain their value, leave its range, or are of nothing."""
    metrics = {metric.name: metric for metric in measured(entry)}
    for key, row in found.aggregates.items():
        value, metric = row["value"], metrics[key[OWN_METRIC]]
        ends = [end for end in (row["low"], row["high"]) if end is not None]
        low, high = ends_of(row)
        withheld = (row["low"] is None and math.isinf(metric.low)) or (row["high"] is None and math.isinf(metric.high))
        if ends and (value is None or (len(ends) == 1 and not (withheld and row["reason"]))):
            yield f"{key}: an interval {low} … {high} of {value}"
        elif ends:
            if not low - 1e-9 <= value <= high + 1e-9:
                yield f"{key}: {value} is not in {low} … {high}"
            if not all(within(metric, end) for end in ends):
                yield f"{key}: {low} … {high} leaves the range"


def is_the_same_doubled(entry: Evaluator, __: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say which scores of a copy differ, and which aggregates; counts are twice what they were, also as values.

    Bootstrap intervals are left out: a resample draws places of cases.
    """
    for mark in ("", "'"):
        own = {key: value for key, value in found.scores.items() if key[CASE].endswith("'") == bool(mark)}
        yield from differences(base.scores, {(key[CASE].removesuffix(mark), *key[1:]): own[key] for key in own})
    counted = {metric.name for metric in measured(entry) if metric.unit in COUNTED}
    twice = {
        key: (value * 2 if key[OWN_METRIC] in counted else value, 2 * n, 2 * rest)
        for key, (value, n, rest) in numbers(base.aggregates).items()
    }
    yield from differences(twice, numbers(found.aggregates))


def is_the_same_beside_others(_: Evaluator, __: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say what differs for those models, or cases, that the other run has too."""
    models = {key[OWN_MODEL] for key in found.aggregates}
    yield from differences({key: row for key, row in base.scores.items() if key[MODEL] in models}, found.scores)
    own = {key: row for key, row in base.aggregates.items() if key[OWN_MODEL] in models}
    yield from differences(own, found.aggregates)


def case_is_the_same_alone(_: Evaluator, __: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say which scores of a case depend on its neighbours."""
    cases = {key[CASE] for key in found.scores}
    yield from differences({key: row for key, row in base.scores.items() if key[CASE] in cases}, found.scores)


def has_no_number(entry: Evaluator, _: Scene, __: Found, found: Found) -> Iterator[str]:
    """Say which scores and aggregates there are though nothing could be scored."""
    for key, (value, status, reason) in found.scores.items():
        if value is not None or not reason:
            yield f"{key}: {value} ({status}, {reason})"
    for key, row in found.aggregates.items():
        if row["value"] is not None or row["n"] or row["low"] is not None or not row["reason"]:
            yield f"{key}: {row['value']}, n {row['n']}, {row['low']} … {row['high']}, {row['reason']}"
    if entry.shape != "dataset" and not found.aggregates:
        yield "no aggregate tells why"


def has_the_same_values(entry: Evaluator, _: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say which aggregates have another value, counts of what there is apart; scores are those of their cases."""
    counted = {metric.name for metric in measured(entry) if metric.unit in COUNTED}
    one, other = (
        {key: (row["value"], 0) for key, row in run.aggregates.items() if key[OWN_METRIC] not in counted}
        for run in (base, found)
    )
    yield from differences(one, other, SUMS)


def has_the_same_numbers(_: Evaluator, __: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say which scores, and which numbers of aggregates, intervals too, are others."""
    yield from differences(base.scores, found.scores)
    for part in ("value", "low", "high"):
        one, other = (
            {(*key, part): (row[part], row["n"], row["unscored"]) for key, row in run.aggregates.items()}
            for run in (base, found)
        )
        yield from differences(one, other, SUMS)


def has_the_same_numbers_renamed(entry: Evaluator, scene: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say what differs in a scene whose classes have NEW_NAMES."""

    def renamed(key: Key) -> Key:
        columns = json.loads(key[COLUMNS])
        own = {name: NEW_NAMES.get(str(value), value) for name, value in columns.items()}
        return (*key[:LABEL], NEW_NAMES.get(key[LABEL], key[LABEL]), key[SLICE], json.dumps(own, ensure_ascii=False))

    aggregates = {renamed(key): row for key, row in base.aggregates.items()}
    yield from has_the_same_numbers(entry, scene, Found(base.scores, aggregates), found)


def is_not_surer(entry: Evaluator, _: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say which intervals are narrower by more than rounding, or there though the other run has none."""
    for key, row in base.aggregates.items():
        other = found.aggregates[key]
        (low, high), (least, most) = ends_of(row), ends_of(other)
        if row["value"] is not None and most - least < (high - low) * (1 - SUMS) - SUMS:
            yield f"{json.dumps(key)}: {other['low']} … {other['high']}, not {row['low']} … {row['high']}"


def leaves_out_what_has_none(entry: Evaluator, scene: Scene, base: Found, found: Found) -> Iterator[str]:
    """Say what differs from a run without the case c1, which here has no value, but for the counts of what is unscored.

    Intervals are left out: units are drawn from the whole suite, so that models with other missing values still pair.
    """
    mine = {key: row for key, row in found.scores.items() if key[CASE] == "c1"}
    yield from (f"{key}: {row}" for key, row in mine.items() if row[0] is not None or not row[2])
    yield from differences(base.scores, {key: row for key, row in found.scores.items() if key[CASE] != "c1"})
    one, other = (
        {key: (row["value"], row["n"]) for key, row in run.aggregates.items() if row["n"] or row["value"] is not None}
        for run in (base, found)
    )
    yield from differences(one, other, SUMS)


def measured(entry: Evaluator) -> tuple[Metric, ...]:
    return entry.parameters.model_validate(parameters_of(entry)).measured(entry.metrics)


def ends_of(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of an interval, infinite where there is none."""
    return -math.inf if row["low"] is None else row["low"], math.inf if row["high"] is None else row["high"]


def within(metric: Metric, value: float) -> bool:
    return math.isfinite(value) and metric.low - 1e-9 <= value <= metric.high + 1e-9


def numbers(aggregates: Mapping[Key, Mapping[str, Any]]) -> dict[Key, tuple[Any, ...]]:
    """Return of each aggregate value, n and unscored."""
    return {key: (row["value"], row["n"], row["unscored"]) for key, row in aggregates.items()}


def differences(expected: Mapping[Key, Any], found: Mapping[Key, Any], tolerance: float = ROUNDING) -> Iterator[str]:
    """Say which entries differ; of aggregates by more than rounding."""
    for key in expected.keys() | found.keys():
        one, other = expected.get(key), found.get(key)
        if one != other and not near(one, other, tolerance):
            yield f"{json.dumps(key)}: {other}, not {one}"


def near(one: Any, other: Any, tolerance: float) -> bool:
    if not isinstance(one, tuple) or not isinstance(other, tuple) or one[1:] != other[1:] or isinstance(one[1], str):
        return False
    return None not in (one[0], other[0]) and math.isclose(one[0], other[0], rel_tol=tolerance, abs_tol=tolerance)
