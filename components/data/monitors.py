"""Production monitors: status, windows, latest failures, drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.visitors import action
from components.data.workspace_runs import workspace
from metrics import monitoring
from metrics.core.errors import InputError
from metrics.core.files import scratch_folder
from metrics.monitoring.health import next_health
from metrics.monitoring.monitor_status import judged_metrics
from metrics.stats.sequential import Bounds
from metrics.suites import demo_data

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Column
    from metrics.core.evaluator import Metric
    from metrics.monitoring import Limits, MetricDrift, Monitor, Recalibrated, SerialDependence, Standing, State

DEMO = "demo"


class MonitoredMetric(NamedTuple):
    """How a metric stands, the title of its evaluator, what it is, its threshold and where that comes from.

    For all metrics together the last three are None.
    """

    standing: Standing
    title: str
    metric: Metric | None
    threshold: float | None
    column: Column | None


class Monitored(NamedTuple):
    """A monitor: its state, each metric's standing (all together first), and what it judges by.

    since: sample number → time of its line, for those with which a current pass rate begins; rate: share of the ids
    that is judged; minimum: cases below which there is no status; window: what a point of the trend covers, in words;
    evaluators: id → title; warning, critical: pass rates below which the status changes; own: whether these are the
    monitor's; columns: the metrics and their thresholds; recalibrated: thresholds that a monitor created today would
    have otherwise; dependence: how neighbouring units depend on each other, where they do.
    """

    name: str
    state: State
    metrics: tuple[MonitoredMetric, ...]
    since: Mapping[int, str | None]
    running: bool
    rate: float
    seed: int
    minimum: int
    window: str
    evaluators: Mapping[str, str]
    judge: str | None
    warning: float
    critical: float
    own: bool
    columns: tuple[Column, ...]
    recalibrated: tuple[Recalibrated, ...]
    dependence: SerialDependence | None


def monitors() -> dict[str, str]:
    """Return the status of every monitor, by name; `damaged` where its files cannot be read, which hides no other."""
    return {found.name: _health(found) for found in monitoring.monitors(workspace())}


def _health(found: Monitor) -> str:
    try:
        return found.state.health if found.spec else ""
    except InputError:
        return "damaged"


def monitor_version(name: str) -> str:
    """Return what changes with every commit of a monitor, and with the workspace."""
    found = monitoring.monitor(workspace(), name)
    state = found.state
    return f"{found.folder} {state.number} {state.read} {state.updated} {state.reference}"


def monitored(name: str, warning: float | None = None, critical: float | None = None) -> Monitored:
    """Return how a monitor stands and what it judges by; with other pass rates below which a status changes."""
    found = monitoring.monitor(workspace(), name)
    spec, state = found.spec, found.state
    limits = limits_of(spec.limits, warning, critical)
    metrics = judged_metrics(spec.chosen_evaluators)
    columns = {(column.evaluator, column.metric): column for column in monitoring.columns(spec)}
    titles = {entry.id: entry.title for entry, _ in spec.chosen_evaluators.values()}
    standings = []
    for row in state.standings:
        standing = monitoring.Standing(**row)
        if limits != spec.limits and standing.low is not None and standing.high is not None:
            known = Bounds(standing.low, standing.high)
            standing = replace(standing, health=next_health(monitoring.Health.INSUFFICIENT_DATA, known, limits))
        key = (standing.evaluator, standing.metric)
        metric, threshold = metrics.get(key, (None, None))
        standings.append(
            MonitoredMetric(standing, titles.get(standing.evaluator, ""), metric, threshold, columns.get(key))
        )
    judge = (spec.resources.get("judge") or {}).get("model")
    return Monitored(
        name, state, tuple(standings), _times(found, standings), found.is_running, spec.rate, spec.seed, spec.minimum,
        found.window.words, titles, judge, limits.warning, limits.critical, limits == spec.limits,
        tuple(columns.values()), tuple(monitoring.recalibrated(found)), monitoring.serial_dependence(found),
    )  # fmt: skip


def _times(found: Monitor, standings: Sequence[MonitoredMetric]) -> dict[int, str | None]:
    """Return the time of the samples with which the current pass rates begin, by number; None where it is unknown."""
    numbers = sorted({shown.standing.since for shown in standings if shown.standing.since})
    if not numbers:
        return {}
    rows = found.query('SELECT number, "at" FROM samples WHERE list_contains(?, number)', [numbers])
    return {
        int(number): None if at is None or at != at else f"{at.isoformat()}+00:00"
        for number, at in zip(rows["number"], rows["at"], strict=True)
    }


def limits_of(own: Limits, warning: float | None, critical: float | None) -> Limits:
    """Return a monitor's limits, with others in their place where they are given; critical is at most warning."""
    warning = own.warning if warning is None else warning
    return own._replace(warning=warning, critical=min(warning, own.critical if critical is None else critical))


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_trend(
    name: str, evaluator: str, metric: str, warning: float, critical: float, version: str,  # noqa: ARG001 - of the key
) -> pd.DataFrame:  # fmt: skip
    """Return the latest windows of all metrics together ("" and "") or of one; read-only. See monitoring.trend."""
    found = monitoring.monitor(workspace(), name)
    return monitoring.trend(found, (evaluator, metric), limits=limits_of(found.spec.limits, warning, critical))


@st.cache_resource(max_entries=32, show_spinner=False)
def plain_metrics(name: str, warning: float, critical: float, version: str) -> Mapping[str, Any]:  # noqa: ARG001 - key
    """Return how a monitor stands by plain thresholds; see metrics.monitoring.get_metrics. Read-only."""
    found = monitoring.monitor(workspace(), name)
    return monitoring.get_metrics(found, plain=True, limits=limits_of(found.spec.limits, warning, critical))


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_failures(name: str, window: int | None, version: str) -> pd.DataFrame:  # noqa: ARG001 - part of the key
    """Return the latest failures, or those of a window; see metrics.monitoring.failures. Read-only."""
    return monitoring.failures(monitoring.monitor(workspace(), name), window)


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_failure_count(name: str, window: int | None, version: str) -> int:  # noqa: ARG001 - part of the key
    """Return how many samples, or those of a window, did not pass."""
    return monitoring.failure_count(monitoring.monitor(workspace(), name), window)


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_sample_scores(name: str, number: int, version: str) -> pd.DataFrame:  # noqa: ARG001 - part of the key
    """Return every score of a sample; see metrics.monitoring.sample_scores. Read-only."""
    return monitoring.sample_scores(monitoring.monitor(workspace(), name), number)


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_drift(name: str, version: str) -> Sequence[MetricDrift]:  # noqa: ARG001 - part of the key
    """Return each metric's recent scores against the reference run. Read-only."""
    return monitoring.drifts(monitoring.monitor(workspace(), name))


@action("editor", "start the monitor of the demo")
def start_demo() -> str:
    """Create a monitor of the bundled week of production, judge it, and return the monitor's name."""
    spec = monitoring.Spec(
        evaluators={id: {} for id in demo_data.EVALUATORS}, rate=1.0, window="1d", warning=demo_data.WARNING,
        critical=demo_data.CRITICAL,
    )  # fmt: skip
    with scratch_folder("demo") as folder:
        log = folder / "demo.jsonl"
        log.write_bytes(b"".join(line + b"\n" for line in demo_data.demo_lines(datetime.now(UTC))))
        monitoring.feed(monitoring.create(workspace(), DEMO, spec), log)
    return DEMO
