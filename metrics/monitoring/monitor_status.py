"""Status: whether the latest samples pass often enough, overall and by each metric."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.evaluator import Direction, Evaluator, Metric, Parameters, Status
from metrics.monitoring.windows import Window
from metrics.stats.intervals import wilson
from metrics.stats.student_t import student

WARNING, CRITICAL = 0.85, 0.70  # pass rates below which, unless the monitor has others
MINIMUM = 20  # judged cases below which a pass rate says too little
MOST = 100_000  # samples that a window of time is judged by, at most
PASSED, FAILED, UNSCORED = 1, 0, -1

Key = tuple[str, str]  # evaluator and metric; OVERALL for all
OVERALL: Key = ("", "")
Chosen = Mapping[str, tuple[Evaluator, Parameters]]
Passes = NDArray[np.int8]


class Health(StrEnum):
    """The status that a pass rate gives."""

    HEALTHY = "healthy"
    WARNING = "warning"
    CRITICAL = "critical"
    INSUFFICIENT_DATA = "insufficient_data"


class Limits(NamedTuple):
    """What a status rests on: judged cases below which there is none, pass rates below which it changes."""

    minimum: int = MINIMUM
    warning: float = WARNING
    critical: float = CRITICAL


USUAL = Limits()


def health(passed: int, judged: int, limits: Limits = USUAL) -> Health:
    """Return critical or warning below these pass rates, else healthy; insufficient_data below the minimum.

    >>> [health(passed, 100).value for passed in (69, 70, 84, 85)]
    ['critical', 'warning', 'warning', 'healthy']
    """
    if judged < max(1, limits.minimum):
        return Health.INSUFFICIENT_DATA
    rate = passed / judged
    return Health.CRITICAL if rate < limits.critical else Health.WARNING if rate < limits.warning else Health.HEALTHY


class Mean(NamedTuple):
    """A mean score with its 95 % interval; None where there is none."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, mean: float | None, deviation: float | None, n: int, metric: Metric | None) -> "Mean":
        """Return the mean of n scores with this sample standard deviation, and Student's t interval mean ± t·s/√n.

        Of a metric that is 0 or 1 for each case Wilson's; within the metric's range; no interval of a single score.
        """
        if mean is None or not n or metric is None:
            return cls()
        if metric.binary:
            return cls(mean, *wilson(mean * n, n))
        if deviation is None or n < 2:
            return cls(mean)
        half = student(n - 1) * deviation / math.sqrt(n)
        return cls(mean, max(metric.low, mean - half), min(metric.high, mean + half))


NO_MEAN = Mean()


@dataclass(frozen=True, slots=True)
class Standing:
    """The recent pass rate and mean score of one metric; of all together (`evaluator` and `metric` empty) no mean."""

    evaluator: str
    metric: str
    passed: int
    judged: int
    unscored: int
    rate: float | None
    low: float | None  # Wilson's 95 % interval
    high: float | None
    health: Health
    mean: float | None = None
    mean_low: float | None = None  # 95 % interval, see Mean
    mean_high: float | None = None

    @classmethod
    def of(
        cls, key: Key, passed: int, judged: int, unscored: int, limits: Limits = USUAL, mean: Mean = NO_MEAN
    ) -> "Standing":
        """Return the standing with these counts."""
        low, high = wilson(passed, judged)
        rate = passed / judged if judged else None
        return cls(*key, passed, judged, unscored, rate, low, high, health(passed, judged, limits), *mean)


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
    own = [
        row
        for row in rows
        if (key := (str(row["evaluator"]), str(row["metric"]))) in known and known[key][0].primary
        and row["status"] != Status.NOT_APPLICABLE
    ]  # fmt: skip
    if not own or any(row["passed"] is None for row in own):
        return None
    return all(row["passed"] for row in own)


class Recent:
    """The results of the latest samples, as many as the window holds: what the current status rests on."""

    def __init__(self, metrics: Mapping[Key, Metric], window: Window, limits: Limits = USUAL):
        self.keys: tuple[Key, ...] = (OVERALL, *metrics)
        self._metrics = metrics
        self._window = window
        self._limits = limits
        self._values: Floats = np.zeros((0, len(self.keys)))
        self._passes: Passes = np.zeros((0, len(self.keys)), np.int8)
        self._at: Floats = np.zeros(0)

    def add(self, samples: pa.Table, scores: pa.Table) -> None:
        """Add samples and their scores, as they are stored; drop what is older than the window."""
        places = {number: place for place, number in enumerate(samples["number"].to_pylist())}
        columns = {key: column for column, key in enumerate(self.keys)}
        made = np.full((len(samples), len(self.keys)), UNSCORED, np.int8)
        made[:, 0] = [_code(passed) for passed in samples["passed"].to_pylist()]
        values = np.full(made.shape, np.nan)
        for row in scores.select(["number", "evaluator", "metric", "passed", "value"]).to_pylist():
            column = columns.get((row["evaluator"], row["metric"]))
            if column is not None:
                made[places[row["number"]], column] = _code(row["passed"])
                values[places[row["number"]], column] = np.nan if row["value"] is None else row["value"]
        at = np.array([0.0 if at is None else at.replace(tzinfo=UTC).timestamp() for at in samples["at"].to_pylist()])
        self._passes = np.concatenate([self._passes, made])
        self._values = np.concatenate([self._values, values])
        self._at = np.concatenate([self._at, at])
        kept = slice(-min(self._window.cases or MOST, MOST), None)
        self._passes, self._values, self._at = self._passes[kept], self._values[kept], self._at[kept]
        if self._window.seconds is not None and len(self._at):
            late = self._at > self._at.max() - self._window.seconds
            self._passes, self._values, self._at = self._passes[late], self._values[late], self._at[late]

    def __len__(self) -> int:
        return len(self._passes)

    def standings(self) -> list[Standing]:
        """Return the standing of all together, then of each metric."""
        passed = (self._passes == PASSED).sum(axis=0).tolist()
        judged = (self._passes != UNSCORED).sum(axis=0).tolist()
        return [
            Standing.of(key, yes, known, len(self) - known, self._limits, self._mean(column))
            for column, (key, yes, known) in enumerate(zip(self.keys, passed, judged, strict=True))
        ]

    def _mean(self, column: int) -> Mean:
        values = self._values[:, column]
        known = values[~np.isnan(values)]
        deviation = float(known.std(ddof=1)) if len(known) > 1 else None
        return Mean.of(
            float(known.mean()) if len(known) else None, deviation, len(known), self._metrics.get(self.keys[column])
        )


def _code(passed: bool | None) -> int:
    return UNSCORED if passed is None else PASSED if passed else FAILED
