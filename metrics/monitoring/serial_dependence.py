"""Whether neighbouring units of a monitor resemble each other, so that its intervals are too narrow."""

import math
from typing import NamedTuple

from metrics.core.array_types import Bools
from metrics.monitoring.monitor_status import MAX_WINDOW_SAMPLES
from metrics.monitoring.monitor_store import Monitor
from metrics.stats.sequential import NEEDED, dependence_evidence, lag_correlation


class SerialDependence(NamedTuple):
    """The correlation of each unit's result with the one before, among so many `units`; sessions: some are sessions.

    Where units do not depend on each other, the chance that a monitor ever has one is at most 5 %.
    """

    correlation: float
    units: int
    sessions: bool

    @property
    def stretch(self) -> float:
        """By how much wider intervals should be if the correlation fades by itself (AR(1)): √((1 + r) / (1 − r))."""
        return math.sqrt((1 + self.correlation) / max(1 - self.correlation, 1 / self.units))


def serial_dependence(monitor: Monitor) -> SerialDependence | None:
    """Return how neighbouring units depend on each other since the pass rate last changed; None if it is not shown.

    A unit is a session, which passes if all its lines do, or a line without one, in the order of their last lines.
    """
    standings = monitor.state.standings
    if not standings:
        return None
    first = max(standings[0].get("since") or 0, monitor.state.sampled - MAX_WINDOW_SAMPLES)
    units = monitor.query(
        """SELECT bool_and(passed) AS passed, count(session) > 0 AS named FROM samples
           WHERE number >= ? AND passed IS NOT NULL GROUP BY coalesce(session, -1 - number) ORDER BY max(number)""",
        [first],
    )
    passed: Bools = units["passed"].to_numpy(bool)
    correlation = lag_correlation(passed)
    if correlation <= 0 or dependence_evidence(passed) < NEEDED:
        return None
    return SerialDependence(correlation, len(passed), bool(units["named"].any()))
