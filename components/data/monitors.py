"""Production monitors: status, windows, latest failures, drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd

    from metrics.core.evaluator import Metric
    from metrics.monitoring import MetricDrift, Standing, State


class MonitoredMetric(NamedTuple):
    """How a metric stands, the title of its evaluator, what it is and its threshold; the last two None for all metrics
    together.
    """

    standing: Standing
    title: str
    metric: Metric | None
    threshold: float | None


class Monitored(NamedTuple):
    """A monitor: its state, each metric's standing (all together first), and what it judges by.

    rate: share of the ids that is judged; minimum: cases below which there is no status; window: the stretch of a
    status, in words; evaluators: id → title; warning, critical: pass rates below which the status changes.
    """

    name: str
    state: State
    metrics: tuple[MonitoredMetric, ...]
    running: bool
    rate: float
    seed: int
    minimum: int
    window: str
    evaluators: Mapping[str, str]
    judge: str | None
    warning: float
    critical: float


def monitors() -> dict[str, str]:
    """Return the status of every monitor, by name."""
    from metrics import monitoring

    return {found.name: found.state.health for found in monitoring.monitors(workspace())}


def monitor_version(name: str) -> str:
    """Return what changes with every commit of a monitor, and with the workspace."""
    from metrics import monitoring

    found = monitoring.monitor(workspace(), name)
    state = found.state
    return f"{found.folder} {state.number} {state.read} {state.updated} {state.reference}"


def monitored(name: str) -> Monitored:
    """Return how a monitor stands and what it judges by."""
    from metrics import monitoring
    from metrics.monitoring.monitor_status import judged_metrics

    found = monitoring.monitor(workspace(), name)
    spec, state = found.spec, found.state
    metrics = judged_metrics(spec.chosen)
    titles = {entry.id: entry.title for entry, _ in spec.chosen.values()}
    standings = []
    for row in state.standings:
        standing = monitoring.Standing(**row)
        metric, threshold = metrics.get((standing.evaluator, standing.metric), (None, None))
        standings.append(MonitoredMetric(standing, titles.get(standing.evaluator, ""), metric, threshold))
    judge = (spec.resources.get("judge") or {}).get("model")
    return Monitored(
        name, state, tuple(standings), found.is_running, spec.rate, spec.seed, spec.minimum, found.window.words, titles,
        judge, monitoring.WARNING, monitoring.CRITICAL,
    )  # fmt: skip


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_trend(name: str, evaluator: str, metric: str, version: str) -> pd.DataFrame:  # noqa: ARG001 - part of the key
    """Return the latest windows of all metrics together ("" and "") or of one; see metrics.monitoring.trend.
    Read-only.
    """
    from metrics import monitoring

    return monitoring.trend(monitoring.monitor(workspace(), name), (evaluator, metric))


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_failures(name: str, window: int | None, version: str) -> pd.DataFrame:  # noqa: ARG001 - part of the key
    """Return the latest failures, or those of a window; see metrics.monitoring.failures. Read-only."""
    from metrics import monitoring

    return monitoring.failures(monitoring.monitor(workspace(), name), window)


@st.cache_resource(max_entries=32, show_spinner=False)
def monitor_drift(name: str, version: str) -> Sequence[MetricDrift]:  # noqa: ARG001 - part of the key
    """Return each metric's recent scores against the reference run. Read-only."""
    from metrics import monitoring

    return monitoring.drifts(monitoring.monitor(workspace(), name))
