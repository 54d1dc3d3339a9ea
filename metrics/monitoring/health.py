"""Status: what the interval of a pass rate says about the two limits."""

from enum import StrEnum
from typing import NamedTuple

from metrics.stats.sequential import Bounds

WARNING, CRITICAL = 0.85, 0.70  # pass rates below which, unless the monitor has others
MINIMUM = 20  # judged units below which there is no status


class Health(StrEnum):
    """The status of a pass rate: what is known of it."""

    HEALTHY = "healthy"
    WARNING = "warning"
    CRITICAL = "critical"
    INSUFFICIENT_DATA = "insufficient_data"


class Limits(NamedTuple):
    """What a status rests on: judged units below which there is none, pass rates below which it changes."""

    minimum: int = MINIMUM
    warning: float = WARNING
    critical: float = CRITICAL


USUAL = Limits()


def next_health(before: Health, known: Bounds, limits: Limits = USUAL) -> Health:
    """Return the status after `before` where the pass rate is known to be within `known`: it changes only if it must.

    Below both ends of a limit's side nothing is certain: an interval that contains a limit leaves the status as it is.

    >>> [next_health(Health.HEALTHY, Bounds(low, high)).value for low, high in ((.8, .9), (.6, .84), (.6, .69))]
    ['healthy', 'warning', 'critical']
    """
    if known.high < limits.critical:
        return Health.CRITICAL
    if known.low >= limits.warning:
        return Health.HEALTHY
    if before is Health.CRITICAL:
        return Health.WARNING if known.low >= limits.critical else before
    return Health.WARNING if known.high < limits.warning else before


def plain_health(rate: float | None, limits: Limits = USUAL) -> Health:
    """Return the status of a pass rate as it is, however few samples it is of: no risk of a false alarm is bounded.

    >>> [plain_health(rate).value for rate in (None, 0.69, 0.7, 0.85)]
    ['insufficient_data', 'critical', 'warning', 'healthy']
    """
    if rate is None:
        return Health.INSUFFICIENT_DATA
    return Health.CRITICAL if rate < limits.critical else Health.WARNING if rate < limits.warning else Health.HEALTHY


def unrefuted(health: Health, limits: Limits = USUAL) -> Bounds:
    """Return the pass rates at which the status stays; without one, the limit whose either side would give one."""
    return {
        Health.HEALTHY: Bounds(limits.warning, 1.0),
        Health.WARNING: Bounds(limits.critical, limits.warning),
        Health.CRITICAL: Bounds(0.0, limits.critical),
        Health.INSUFFICIENT_DATA: Bounds(limits.warning, limits.warning),
    }[health]
