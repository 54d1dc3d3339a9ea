"""How a monitor stands: current pass rates, and the scores of the latest window."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Direction, Evaluator, Metric, Parameters, Status
from metrics.monitoring.current_rate import CurrentRate
from metrics.monitoring.health import Health
from metrics.monitoring.windows import Window
from metrics.stats.intervals import wilson
from metrics.stats.student_t import student

MAX_WINDOW_SAMPLES = 100_000  # samples that a window of time is judged by, at most
PASSED, FAILED, UNSCORED = 1, 0, -1
ALONE = -1  # the session of a line without one: their numbers are not negative

Key = tuple[str, str]  # evaluator and metric; OVERALL for all
OVERALL: Key = ("", "")
Chosen = Mapping[str, tuple[Evaluator, Parameters]]
Passes = NDArray[np.int8]


class Mean(NamedTuple):
    """A mean score with its 95 % interval; None where there is none."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, mean: float | None, deviation: float, units: int, metric: Metric | None) -> "Mean":
        """Return the mean with Student's t interval mean ± t·s/√n, n the units and s the deviation of one.

        Of a metric that is 0 or 1 for each case Wilson's, with as many cases as have that standard error; within the
        metric's range; no interval of a single unit.
        """
        if mean is None or metric is None:
            return cls()
        if metric.binary:
            variance = deviation * deviation * (units - 1) / units
            n = units if variance <= 0 else mean * (1 - mean) / variance * units
            return cls(mean, *wilson(mean * n, n))
        if units < 2:
            return cls(mean)
        half = student(units - 1) * deviation / math.sqrt(units)
        return cls(mean, max(metric.low, mean - half), min(metric.high, mean + half))

    @classmethod
    def of_units(cls, totals: Floats, lines: Ints, metric: Metric | None) -> "Mean":
        """Return the mean of scores that come in units (sessions, or single lines), from the sums of each unit.

        It is Σ totals / Σ lines, and its deviation that of (total − mean · lines) / mean lines over the units.
        """
        units = len(totals)
        if not units:
            return cls()
        mean = float(totals.sum() / lines.sum())
        apart = (totals - mean * lines) / lines.mean()
        return cls.of(mean, math.sqrt(float((apart * apart).sum()) / max(1, units - 1)), units, metric)


@dataclass(frozen=True, slots=True)
class Standing:
    """How one metric stands, or all together (`evaluator` and `metric` empty; they have no mean).

    passed, judged, unscored, mean: of the latest window. rate: the mean of the `units` (sessions that are over, and
    lines without one) since the pass rate last changed, with the sample `since`; low, high: its confidence sequence,
    which health rests on. An earlier version wrote no `since`: its rate is the latest window's, its interval Wilson's.
    """

    evaluator: str
    metric: str
    passed: int
    judged: int
    unscored: int
    rate: float | None
    low: float | None
    high: float | None
    health: Health
    mean: float | None = None
    mean_low: float | None = None  # 95 % interval, see Mean
    mean_high: float | None = None
    since: int | None = None
    units: int = 0


def judged_metrics(chosen: Chosen) -> dict[Key, tuple[Metric, float]]:
    """Return the metrics with a direction and a threshold, and the threshold in force, but no minor ones."""
    return {
        (entry.id, metric.name): (metric, metric.threshold)
        for entry, _ in chosen.values()
        for metric in entry.metrics
        if (metric.primary or not metric.minor)
        and metric.direction is not Direction.NONE
        and metric.threshold is not None
    }


def passes(chosen: Chosen, scores: pa.Table) -> list[bool | None]:
    """Return whether each value is on its threshold's good side; None without value or threshold."""
    known = judged_metrics(chosen)
    found: list[bool | None] = []
    for row in scores.select(["evaluator", "metric", "value"]).to_pylist():
        held = known.get((row["evaluator"], row["metric"]))
        found.append(None if held is None or row["value"] is None else held[0].passes(row["value"], held[1]))
    return found


def passed_in_all(chosen: Chosen, rows: Sequence[Mapping[str, object]]) -> bool | None:
    """Return whether a case passes: the primary metric of every evaluator that applies to it is on its good side.

    None where none applies, or where one that may apply has no value (error, parse_failure, skipped): to judge the case
    by the others alone would raise the pass rate while a judge is down.
    """
    known = judged_metrics(chosen)
    keyed = ((row, known.get((str(row["evaluator"]), str(row["metric"])))) for row in rows)
    own = [row for row, held in keyed if held and held[0].primary and row["status"] != Status.NOT_APPLICABLE]
    if not own or any(row["passed"] is None for row in own):
        return None
    return all(row["passed"] for row in own)


@dataclass(frozen=True, slots=True)
class Judged:
    """Samples as arrays: verdict and score of each for each key (all together has no score: NaN)."""

    number: Ints
    at: Floats  # seconds since 1970; NaN: no time
    session: Ints  # ALONE: none
    passes: Passes  # [sample, key]
    values: Floats  # [sample, key]

    @classmethod
    def of(cls, keys: Sequence[Key], samples: pa.Table, scores: pa.Table) -> "Judged":
        """Return them from the rows as they are stored."""
        numbers = samples["number"].to_pylist()
        places = {number: place for place, number in enumerate(numbers)}
        columns = {key: column for column, key in enumerate(keys)}
        made = np.full((len(samples), len(keys)), UNSCORED, np.int8)
        made[:, 0] = [_code(passed) for passed in samples["passed"].to_pylist()]
        values = np.full(made.shape, np.nan)
        for row in scores.select(["number", "evaluator", "metric", "passed", "value"]).to_pylist():
            column = columns.get((row["evaluator"], row["metric"]))
            if column is not None:
                made[places[row["number"]], column] = _code(row["passed"])
                values[places[row["number"]], column] = np.nan if row["value"] is None else row["value"]
        at = [np.nan if at is None else at.replace(tzinfo=UTC).timestamp() for at in samples["at"].to_pylist()]
        sessions = samples["session"].fill_null(ALONE).to_numpy()
        return cls(np.array(numbers, np.int64), np.array(at, np.float64), sessions, made, values)

    def followed_by(self, later: "Judged") -> "Judged":
        """Return both."""
        return Judged(*(np.concatenate([getattr(self, name), getattr(later, name)]) for name in self.__slots__))

    def only(self, kept: slice | Bools) -> "Judged":
        """Return some of them."""
        return Judged(*(getattr(self, name)[kept] for name in self.__slots__))


class Recent:
    """The results of the latest samples, as many as the window holds."""

    def __init__(self, metrics: Mapping[Key, Metric], window: Window):
        self.keys: tuple[Key, ...] = (OVERALL, *metrics)
        self._metrics = metrics
        self._window = window
        self._held: Judged | None = None

    def add(self, judged: Judged) -> None:
        """Add samples; drop what is older than the window."""
        held = judged if self._held is None else self._held.followed_by(judged)
        held = held.only(slice(-min(self._window.cases or MAX_WINDOW_SAMPLES, MAX_WINDOW_SAMPLES), None))
        if self._window.seconds is not None and len(held.at):
            held = held.only(held.at > held.at.max() - self._window.seconds)
        self._held = held

    def __len__(self) -> int:
        return 0 if self._held is None else len(self._held.number)

    def standings(self, rates: Mapping[Key, CurrentRate]) -> list[Standing]:
        """Return how all together stand, then each metric."""
        return [self._standing(column, key, rates[key]) for column, key in enumerate(self.keys)]

    def _standing(self, column: int, key: Key, current: CurrentRate) -> Standing:
        passes = np.zeros(0, np.int8) if self._held is None else self._held.passes[:, column]
        judged, (rate, units) = int((passes != UNSCORED).sum()), current.stretch
        low, high = current.bounds if units else (None, None)
        counts = int((passes == PASSED).sum()), judged, len(self) - judged
        return Standing(
            *key, *counts, rate, low, high, current.health, *self._mean(column), since=current.since, units=units
        )

    def _mean(self, column: int) -> Mean:
        if self._held is None:
            return Mean()
        known = ~np.isnan(self._held.values[:, column])
        session, number, value = self._held.session[known], self._held.number[known], self._held.values[known, column]
        _, units = np.unique(np.where(session == ALONE, -1 - number, session), return_inverse=True)
        totals: Floats = np.bincount(units, value).astype(np.float64)
        return Mean.of_units(totals, np.bincount(units).astype(np.int64), self._metrics.get(self.keys[column]))


def _code(passed: bool | None) -> int:
    return UNSCORED if passed is None else PASSED if passed else FAILED
