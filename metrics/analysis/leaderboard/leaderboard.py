"""The leaderboard: models × metrics, each cell with its interval, counts, goodness and rank."""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow.compute as pc

from metrics.analysis.leaderboard.ranks import Ranks, ranks
from metrics.core.evaluator import Evaluator, Metric, Status
from metrics.core.registry import evaluators
from metrics.store import Run

UNSCORED = tuple(status.value for status in Status if status is not Status.OK)


@dataclass(frozen=True, slots=True)
class Column:
    """One metric on the leaderboard; `key` is evaluator/metric, and ?name=value for a metric's own columns."""

    key: str
    evaluator: str
    evaluator_title: str
    family: str
    metric: str
    title: str
    description: str
    direction: str
    low: float
    high: float
    threshold: float | None
    unit: str
    primary: bool
    minor: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of one model.

    `goodness` is 0 (worst) … 1 (best) of the metric's range, or of the models shown where the range is open; `problem`:
    on the wrong side of the threshold. `counts`: the unscored cases by status. `if_worst`, `if_best`: the value if
    every unscored case were the worst or the best of the metric's range, None where none is or the range is open.

    `rank` counts the models that are better beyond chance, plus one, so models that cannot be told apart share it;
    `last_rank` is the worst rank that the model may truly have among the `ranked`; `best`: nobody is better beyond
    chance. `paired`: by paired tests on the same cases, see ranks; else by intervals that do not meet.
    """

    value: float | None
    low: float | None
    high: float | None
    interval: str | None
    n: int
    unscored: int
    counts: Mapping[str, int]
    goodness: float | None
    rank: int | None
    best: bool
    problem: bool
    reason: str | None
    last_rank: int | None = None
    ranked: int = 0
    paired: bool = False
    if_worst: float | None = None
    if_best: float | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Models × columns; `cells` by (model, column key). `tags` are the slices there are."""

    models: tuple[str, ...]
    columns: tuple[Column, ...]
    cells: Mapping[tuple[str, str], Cell]
    tags: tuple[str, ...]


def leaderboard(run: Run, tag: str | None = None) -> Leaderboard:
    """Return the leaderboard of a sealed run, over all cases or those with one tag."""
    rows = run.stored_table("aggregates")
    tags = [name.removeprefix("tag=") for name in rows["slice"].unique().drop_null().to_pylist()]
    shown = rows.filter(pc.and_(pc.is_null(rows["label"]), pc.is_null(rows["run"])))
    in_slice = pc.is_null(shown["slice"]) if tag is None else pc.equal(shown["slice"], f"tag={tag}")
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in shown.filter(in_slice).to_pylist():
        grouped.setdefault(column_key(row["evaluator"], row["metric"], row["columns"]), []).append(row)
    alike = Counter((same[0]["evaluator"], same[0]["metric"]) for same in grouped.values())
    thresholds, paired = _thresholds(run), ranks(run, tag)
    columns: list[Column] = []
    cells: dict[tuple[str, str], Cell] = {}
    for key, same in grouped.items():
        entry = evaluators().get(same[0]["evaluator"])
        if entry is None:  # written by a later version, or by an evaluator that is gone
            continue
        metric = entry.metric(same[0]["metric"])
        threshold = thresholds[entry.id, metric.name]
        again = any((column.evaluator, column.metric) == (entry.id, metric.name) for column in columns)
        own = json.loads(same[0]["columns"]) if alike[entry.id, metric.name] > 1 else {}
        columns.append(_column(key, entry, metric, threshold, own, metric.minor or again))
        tested = None if again else paired.get((entry.id, metric.name))
        found = _cells(metric, threshold, same, tested)
        cells |= {(row["model"], key): cell for row, cell in zip(same, found, strict=True)}
    return Leaderboard(run.models, tuple(columns), cells, tuple(tags))


def _thresholds(run: Run) -> dict[tuple[str, str], float | None]:
    found: dict[tuple[str, str], float | None] = {}
    for name, values in run.evaluators.items():
        entry = evaluators().get(name)
        if entry is not None:
            parameters = entry.parameters.model_validate(values)
            found |= {(name, metric.name): entry.threshold(metric, parameters) for metric in entry.metrics}
    return found


@lru_cache(maxsize=4096)
def column_key(evaluator: str, metric: str, own: str) -> str:
    """Return the key of a metric's column; `own` is its own columns as stored, in JSON."""
    suffix = "&".join(f"{name}={_short(value)}" for name, value in json.loads(own).items() if value is not None)
    return f"{evaluator}/{metric}" + (f"?{suffix}" if suffix else "")


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _column(
    key: str, entry: Evaluator, metric: Metric, threshold: float | None, own: Mapping[str, Any], minor: bool
) -> Column:
    """Return the column of a metric; of several that differ in the metric's own columns the first is the headline."""
    named = [
        str(value) if isinstance(value, str) else f"{name} {_short(value)}"
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
        threshold=threshold,
        unit=metric.unit,
        primary=metric.primary,
        minor=minor,
    )


def _cells(
    metric: Metric, threshold: float | None, rows: Sequence[Mapping[str, Any]], tested: Ranks | None
) -> list[Cell]:
    goodness = relative_goodness(metric, [row["value"] for row in rows])
    ranges = _by_intervals(metric, rows) if tested is None else [tested.ranges.get(row["model"]) for row in rows]
    ranked = sum(places is not None for places in ranges)
    cells = []
    for row, good, places in zip(rows, goodness, ranges, strict=True):
        wrong = row["value"] is not None and threshold is not None and not metric.passes(row["value"], threshold)
        cells.append(
            Cell(
                row["value"],
                row["low"],
                row["high"],
                row["interval"],
                row["n"],
                row["unscored"],
                {name: row[name] for name in UNSCORED if row[name]},
                good,
                None if places is None else places[0],
                places is not None and places[0] == 1 and len(rows) > 1,
                wrong and metric.direction.value != "none",
                row["reason"],
                None if places is None else places[1],
                ranked,
                tested is not None,
                row["if_worst"],
                row.get("if_best"),
            )
        )
    return cells


def _by_intervals(metric: Metric, rows: Sequence[Mapping[str, Any]]) -> list[tuple[int, int] | None]:
    """Best and worst rank of each row's model: 1 + how many intervals lie wholly on its better side, and likewise."""
    sign = -1.0 if metric.direction.value == "lower" else 1.0
    # on a scale where more is better: (worst, best) end of each interval, the value itself where there is no interval
    ends: list[tuple[float, float] | None] = []
    for row in rows:
        if row["value"] is None or metric.direction.value == "none":
            ends.append(None)
        else:
            bounds = [row["value"] if row[name] is None else row[name] for name in ("low", "high")]
            ends.append((min(sign * bound for bound in bounds), max(sign * bound for bound in bounds)))
    worst_ends = sorted(end[0] for end in ends if end is not None)
    best_ends = sorted(end[1] for end in ends if end is not None)
    count = len(worst_ends)
    return [
        None if end is None else (1 + count - bisect_right(worst_ends, end[1]), count - bisect_left(best_ends, end[0]))
        for end in ends
    ]


def relative_goodness(metric: Metric, values: Sequence[float | None]) -> list[float | None]:
    """Goodness of each value: by the metric's range, or where that is open by the worst and best of these values."""
    present = [value for value in values if value is not None]
    worst = min(present, default=0.0)
    spread = max(present, default=0.0) - worst
    found: list[float | None] = []
    for value in values:
        good = None if value is None else metric.goodness(value)
        if value is not None and good is None and metric.direction.value != "none" and spread > 0:
            good = (value - worst) / spread
            good = good if metric.direction.value == "higher" else 1.0 - good
        found.append(good)
    return found
