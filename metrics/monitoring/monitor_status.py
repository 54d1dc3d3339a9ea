"""Status: whether the latest samples pass often enough, overall and by each metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.evaluator import Direction, Evaluator, Metric, Parameters, Status
from metrics.monitoring.windows import Window
from metrics.stats.intervals import wilson

WARNING, CRITICAL = 0.85, 0.70  # pass rates below which
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


def health(passed: int, judged: int, minimum: int = MINIMUM) -> Health:
    """Return critical below a pass rate of .70, warning below .85, else healthy; insufficient_data below `minimum`.

    >>> [health(passed, 100).value for passed in (69, 70, 84, 85)]
    ['critical', 'warning', 'warning', 'healthy']
    """
    if judged < max(1, minimum):
        return Health.INSUFFICIENT_DATA
    rate = passed / judged
    return Health.CRITICAL if rate < CRITICAL else Health.WARNING if rate < WARNING else Health.HEALTHY


@dataclass(frozen=True, slots=True)
class Standing:
    """The recent pass rate of one metric, or of all together (`evaluator` and `metric` empty)."""

    evaluator: str
    metric: str
    passed: int
    judged: int
    unscored: int
    rate: float | None
    low: float | None  # Wilson's 95 % interval
    high: float | None
    health: Health

    @classmethod
    def of(cls, key: Key, passed: int, judged: int, unscored: int, minimum: int) -> "Standing":
        """Return the standing with these counts."""
        low, high = wilson(passed, judged)
        rate = passed / judged if judged else None
        return cls(*key, passed, judged, unscored, rate, low, high, health(passed, judged, minimum))


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

    def __init__(self, keys: Sequence[Key], window: Window, minimum: int = MINIMUM):
        self.keys: tuple[Key, ...] = (OVERALL, *keys)
        self._window = window
        self._minimum = minimum
        self._passes: Passes = np.zeros((0, len(self.keys)), np.int8)
        self._at: Floats = np.zeros(0)

    def add(self, samples: pa.Table, scores: pa.Table) -> None:
        """Add samples and their scores, as they are stored; drop what is older than the window."""
        places = {number: place for place, number in enumerate(samples["number"].to_pylist())}
        columns = {key: column for column, key in enumerate(self.keys)}
        made = np.full((len(samples), len(self.keys)), UNSCORED, np.int8)
        made[:, 0] = [_code(passed) for passed in samples["passed"].to_pylist()]
        for row in scores.select(["number", "evaluator", "metric", "passed"]).to_pylist():
            column = columns.get((row["evaluator"], row["metric"]))
            if column is not None:
                made[places[row["number"]], column] = _code(row["passed"])
        at = np.array([0.0 if at is None else at.replace(tzinfo=UTC).timestamp() for at in samples["at"].to_pylist()])
        self._passes = np.concatenate([self._passes, made])
        self._at = np.concatenate([self._at, at])
        kept = slice(-min(self._window.cases or MOST, MOST), None)
        self._passes, self._at = self._passes[kept], self._at[kept]
        if self._window.seconds is not None and len(self._at):
            late = self._at > self._at.max() - self._window.seconds
            self._passes, self._at = self._passes[late], self._at[late]

    def __len__(self) -> int:
        return len(self._passes)

    def standings(self) -> list[Standing]:
        """Return the standing of all together, then of each metric."""
        passed = (self._passes == PASSED).sum(axis=0).tolist()
        judged = (self._passes != UNSCORED).sum(axis=0).tolist()
        return [
            Standing.of(key, yes, known, len(self) - known, self._minimum)
            for key, yes, known in zip(self.keys, passed, judged, strict=True)
        ]


def _code(passed: bool | None) -> int:
    return UNSCORED if passed is None else PASSED if passed else FAILED
