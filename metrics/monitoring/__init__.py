"""Monitoring production: a seeded share of a system's answers is judged, and the pass rate is watched.

from metrics.monitoring import Spec, create, feed

monitor = create(Workspace(), "chat", Spec(evaluators={"pii_leakage": {}}, rate=0.01))
feed(monitor, Path("log.jsonl"))      # again later: continues where it stopped
monitor.state.health                  # healthy, warning, critical, insufficient_data
with Watch(monitor) as watch:         # or call by call, from the program itself
    watch.sample_and_evaluate({"id": "r-1", "question": "…", "answer": "…"})
"""

from metrics.monitoring.drift_checks import MetricDrift, drifts, reference_of
from metrics.monitoring.health import Health, Limits
from metrics.monitoring.monitor_checks import Recalibrated, check, columns, fitting, recalibrated
from metrics.monitoring.monitor_status import Standing
from metrics.monitoring.monitor_store import Monitor, Spec, State, create, monitor, monitors
from metrics.monitoring.monitor_tables import failure_count, failures, sample_scores, trend
from metrics.monitoring.runner import feed
from metrics.monitoring.serial_dependence import SerialDependence, serial_dependence
from metrics.monitoring.watch import Sample, Watch, get_metrics
from metrics.monitoring.windows import Window
