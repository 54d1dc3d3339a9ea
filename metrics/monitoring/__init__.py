"""Monitoring production: a seeded share of a system's answers is judged, and the pass rate is watched.

from metrics.monitoring import Spec, create, feed

monitor = create(Workspace(), "chat", Spec(evaluators={"pii_leakage": {}}, rate=0.01))
feed(monitor, Path("log.jsonl"))      # again later: continues where it stopped
monitor.state.health                  # healthy, warning, critical, insufficient_data
"""

from metrics.monitoring.drift_checks import MetricDrift, drifts, reference_of
from metrics.monitoring.monitor_status import CRITICAL, WARNING, Health, Standing
from metrics.monitoring.monitor_store import Monitor, Spec, State, create, monitor, monitors
from metrics.monitoring.monitor_tables import failures, trend
from metrics.monitoring.runner import check, feed, fitting
from metrics.monitoring.windows import Window

__all__ = [
    "CRITICAL",
    "WARNING",
    "Health",
    "MetricDrift",
    "Monitor",
    "Spec",
    "Standing",
    "State",
    "Window",
    "check",
    "create",
    "drifts",
    "failures",
    "feed",
    "fitting",
    "monitor",
    "monitors",
    "reference_of",
    "trend",
]
