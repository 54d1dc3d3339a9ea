"""Watching production from within it: a call at a time, in Python, instead of from a log."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.suite import Case
from metrics.monitoring.health import Limits, plain_health
from metrics.monitoring.monitor_status import ALONE, OVERALL, Mean, judged_metrics
from metrics.monitoring.monitor_store import Monitor
from metrics.monitoring.runner import Feeder
from metrics.monitoring.sessions import UNIT_COLUMNS, units_of

SOURCE = "calls"


@dataclass(frozen=True, slots=True)
class Sample:
    """One judged call. Texts are cut at 200 characters, secrets redacted; `timestamp` is ISO 8601, UTC.

    score: of the primary metric of the monitor's first evaluator; passed: by every evaluator that applies. None where
    there is none.
    """

    id: str
    query: str | None
    output_preview: str | None
    score: float | None
    passed: bool | None
    timestamp: str


class Watch:
    """A monitor that is fed from the calling program; a context manager, which holds the monitor meanwhile.

        with Watch(monitor) as watch:
            watch.sample_and_evaluate({"id": "r-1", "question": "…", "answer": "…"})
            watch.get_metrics()

    It judges in a thread of its own, so it can be used in a running event loop and by several threads; a call waits
    until it is judged. RunBusy where another process holds the monitor.
    """

    def __init__(self, monitor: Monitor):
        self.monitor = monitor
        self._held = ExitStack()
        self._thread = ThreadPoolExecutor(1, "watch")

    def __enter__(self) -> Self:
        self._feeder: Feeder = self._thread.submit(self._open).result()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.submit(self._held.close).result()
        self._thread.shutdown()

    def _open(self) -> Feeder:
        with ExitStack() as held:  # let go where it cannot be fed
            held.enter_context(self.monitor.hold())
            feeder = Feeder(self.monitor, None, name=SOURCE)
            held.enter_context(feeder.scorer)
            self._held = held.pop_all()
        return feeder

    def sample_and_evaluate(self, call: Case | Mapping[str, Any]) -> Sample | None:
        """Judge a call, if its id is sampled, and store it in the monitor; None where it is not, or was before.

        Which calls are sampled follows from the id, the monitor's rate and its seed alone. Raises InputError where the
        call has no id and text that can be judged.
        """
        fields = dict(call) if isinstance(call, Mapping) else _fields(call)
        return self._thread.submit(self._take, json.dumps(fields, default=str).encode()).result()

    def _take(self, line: bytes) -> Sample | None:
        made = self._feeder.take(line)
        if made is None:
            return None
        (sample,), scores = made[0].to_pylist(), made[1].to_pylist()
        values = {(row["evaluator"], row["metric"]): row["value"] for row in scores}
        at = sample["at"] or datetime.now(UTC).replace(tzinfo=None)
        value, moment = values.get(_scored(self.monitor)), at.replace(tzinfo=UTC).isoformat(timespec="seconds")
        return Sample(sample["id"], sample["question"], sample["answer"], value, sample["passed"], moment)

    def get_metrics(self, plain: bool = False) -> dict[str, Any]:
        """Return how the monitor stands: status, sample_count, pass_rate, average_score; see `get_metrics`."""
        return get_metrics(self.monitor, plain)


def get_metrics(monitor: Monitor, plain: bool = False, limits: Limits | None = None) -> dict[str, Any]:
    """Return how a monitor stands: status, sample_count, pass_rate and average_score of the same samples.

    By its confidence sequence: the judged samples since the pass rate last changed, without sessions that are still
    open; a session counts once, by the mean of its lines. pass_rate_interval is that sequence, which the status rests
    on. `plain`: every judged sample, each counted by itself, and the status of the pass rate as it is: critical below
    .70, warning below .85 (`limits`: others than the monitor's), else healthy; it has no pass_rate_interval.
    status_by says which. average_score is of the primary metric of the first evaluator, with its 95 % interval
    (average_score_interval). Without a sample the status is insufficient_data, and numbers are None.
    """
    spec, state, key = monitor.spec, monitor.state, _scored(monitor)
    overall = next((row for row in state.standings if (row["evaluator"], row["metric"]) == OVERALL), {})
    samples = monitor.query(
        f"""SELECT {UNIT_COLUMNS}, samples.passed::DOUBLE AS passed, value FROM samples LEFT JOIN
            (SELECT number, value FROM scores WHERE evaluator = ? AND metric = ?) USING (number) ORDER BY number""",
        [*key],
    )
    results: Floats = samples[["passed", "value"]].to_numpy(np.float64)
    known = ~np.isnan(results) & ~np.isnan(results[:, :1])
    since = 0 if plain else overall.get("since") or 0
    found = units_of(samples.assign(session=ALONE) if plain else samples, np.where(known, results, 0.0), known)
    counted = [unit for unit in found if unit.number >= since and unit.known[0]]
    shares = np.array([unit.values for unit in counted]).reshape(-1, 2)
    rate = float(shares[:, 0].mean()) if counted else None
    scores = shares[~np.isnan(shares[:, 1]), 1]
    metric, _ = judged_metrics(spec.chosen_evaluators)[key]
    average = Mean.of_units(scores, np.ones(len(scores), np.int64), metric)
    return {
        "status": plain_health(rate, limits or spec.limits) if plain else state.health,
        "status_by": "plain thresholds" if plain else "confidence sequence",
        "sample_count": int(sum(unit.known[0] for unit in counted)),
        "pass_rate": rate,
        "pass_rate_interval": (None, None) if plain else (overall.get("low"), overall.get("high")),
        "average_score": average.mean,
        "average_score_interval": (average.low, average.high),
    }


def _scored(monitor: Monitor) -> tuple[str, str]:
    known = judged_metrics(monitor.spec.chosen_evaluators)
    return next(key for key, (metric, _) in known.items() if metric.primary)


def _fields(case: Case) -> dict[str, Any]:
    held = {name: value for name, value in case._asdict().items() if value not in (None, "", (), {}, 0)}
    return {"id": held.pop("case_id", None), **held}
