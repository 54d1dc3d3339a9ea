"""Production monitors: how each stands, its windows, its latest failures, its drift."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace

if TYPE_CHECKING:
    import pandas as pd


def monitors() -> list[dict[str, Any]]:
    """Return the monitors by name: name, health."""
    from metrics import monitoring

    return [{"name": found.name, "health": found.state.health} for found in monitoring.monitors(workspace())]


def monitor_version(name: str) -> str:
    """Return what changes with every commit of a monitor, and with the workspace."""
    from metrics import monitoring

    found = monitoring.monitor(workspace(), name)
    state = found.state
    return f"{found.folder} {state.number} {state.read} {state.updated} {state.reference}"


def monitored(name: str) -> dict[str, Any]:
    """Return a monitor's state (see metrics.monitoring.State) and health, what it judges by, and the limits of its
    status.

    Each of `standings` also has title, description, direction, threshold and primary; that of all together is the first
    and has none of these.
    """
    from metrics import monitoring
    from metrics.monitoring.monitor_status import judged_metrics

    found = monitoring.monitor(workspace(), name)
    spec, state = found.spec, found.state
    metrics = judged_metrics(spec.chosen)
    titles = {entry.id: entry.title for entry, _ in spec.chosen.values()}
    standings = []
    for standing in state.standings:
        declared = metrics.get((standing["evaluator"], standing["metric"]))
        more: dict[str, Any] = {}
        if declared is not None:
            metric, threshold = declared
            more = {
                "title": titles[standing["evaluator"]], "description": metric.description, "primary": metric.primary,
                "direction": metric.direction.value, "threshold": threshold,
            }  # fmt: skip
        standings.append(standing | more)
    return asdict(state) | {
        "name": name, "health": state.health, "standings": standings, "running": found.is_running,
        "rate": spec.rate, "seed": spec.seed, "minimum": spec.minimum, "window": found.window.words,
        "evaluators": titles, "judge": (spec.resources.get("judge") or {}).get("model"),
        "warning": monitoring.WARNING, "critical": monitoring.CRITICAL,
    }  # fmt: skip


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
def monitor_drift(name: str, version: str) -> list[dict[str, Any]]:  # noqa: ARG001 - part of the key
    """Return the drift of each metric from the reference run; see metrics.monitoring.MetricDrift. Read-only."""
    from metrics import monitoring

    rows = monitoring.drifts(monitoring.monitor(workspace(), name))
    return [asdict(row) | {"drifted": row.drifted} for row in rows]
