"""Watching production from within it: a call at a time, in Python, instead of from a log."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

from metrics.core.suite import Case
from metrics.monitoring.monitor_status import OVERALL, judged_metrics
from metrics.monitoring.monitor_store import Monitor
from metrics.monitoring.runner import Feeder

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
        return Sample(
            sample["id"],
            sample["question"],
            sample["answer"],
            values.get(_scored(self.monitor)),
            sample["passed"],
            at.replace(tzinfo=UTC).isoformat(timespec="seconds"),
        )

    def get_metrics(self) -> dict[str, Any]:
        """Return how the monitor stands: status, sample_count, pass_rate, average_score; see `get_metrics`."""
        return get_metrics(self.monitor)


def get_metrics(monitor: Monitor) -> dict[str, Any]:
    """Return how a monitor stands.

    status: healthy, warning, critical or insufficient_data; pass_rate: share of the judged cases that pass, of sessions
    the mean of their shares, since it last changed; pass_rate_interval: its confidence sequence, by which the status is
    decided. sample_count: samples of the latest window; average_score: the window's mean of the primary metric of the
    first evaluator, with its 95 % interval (average_score_interval). None where there is none.
    """
    state = monitor.state
    standings = {(row["evaluator"], row["metric"]): row for row in state.standings}
    overall, scored = standings.get(OVERALL, {}), standings.get(_scored(monitor), {})
    return {
        "status": state.health,
        "sample_count": state.lately,
        "pass_rate": overall.get("rate"),
        "pass_rate_interval": (overall.get("low"), overall.get("high")),
        "average_score": scored.get("mean"),
        "average_score_interval": (scored.get("mean_low"), scored.get("mean_high")),
    }


def _scored(monitor: Monitor) -> tuple[str, str]:
    known = judged_metrics(monitor.spec.chosen_evaluators)
    return next(key for key, (metric, _) in known.items() if metric.primary)


def _fields(case: Case) -> dict[str, Any]:
    held = {name: value for name, value in case._asdict().items() if value not in (None, "", (), {}, 0)}
    return {"id": held.pop("case_id", None), **held}
