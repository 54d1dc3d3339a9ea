"""What a monitor has found, in sentences: why it has its status, and what has drifted."""

from collections.abc import Mapping
from typing import Any

from metrics.monitoring import Health, MetricDrift, SerialDependence, Standing
from metrics.presentation.format import count, number, plural
from metrics.presentation.phrases import with_interval

RISK = "at most 5 % risk of a false alarm, however often you look"


def reason(standing: Standing, warning: float, critical: float) -> str:
    """Return in one sentence why a pass rate has its status, by the limits below which it is one."""
    health, low, high = standing.health, standing.low, standing.high
    if standing.since is None and standing.judged:
        return "An earlier version judged the latest window alone; the next lines bring the status up to date."
    if low is None or high is None or health == Health.INSUFFICIENT_DATA:
        return f"Not yet sure: the pass rate may be on either side of {warning:g}."
    if health in (Health.CRITICAL, Health.WARNING):
        limit = critical if health == Health.CRITICAL else warning
        if high < limit:
            return f"The pass rate is below {limit:g}, with {RISK}."
        return f"The pass rate was below {limit:g}, and is not yet known to be above it."
    if low >= warning:
        return f"The pass rate is {warning:g} or more, with {RISK}."
    return f"The pass rate was {warning:g} or more, and is not known to be below it."


def plain_words(metrics: Mapping[str, Any]) -> str:
    """Return the status by plain thresholds, as `get_metrics(monitor, plain=True)` returns it, in a sentence."""
    status = str(metrics["status"]).replace("_", " ")
    if metrics["pass_rate"] is None:
        return f"By {metrics['status_by']}: {status}, no sample judged."
    mean = "" if metrics["average_score"] is None else f", average score {number(metrics['average_score'])}"
    share = f"{number(metrics['pass_rate'])} of all {plural(metrics['sample_count'], 'judged sample')} pass{mean}"
    return f"By {metrics['status_by']}: {status}, {share}; each look may be a false alarm."


def drift_words(row: MetricDrift) -> str:
    """Return what has drifted: the share of scores up to a cut, in production and in the reference; else ""."""
    shift = row.shift
    if shift is None:
        return ""
    side = "at most" if shift.cut.inside else "below"
    share = with_interval(shift.share, shift.low, shift.high)
    before = with_interval(shift.reference, shift.reference_low, shift.reference_high)
    return (
        f"{share} of scores {side} {number(shift.cut.value)}, reference {before}; since sample {count(shift.since + 1)}"
    )


def dependence_words(found: SerialDependence) -> str:
    """Return that neighbouring answers or sessions resemble each other, what follows, and what helps."""
    units = "sessions" if found.sessions else "answers"
    advice = "of a wider unit, such as the user" if found.sessions else "of the conversation"
    return (
        f"Neighbouring {units} resemble each other (correlation {number(found.correlation)}, n {count(found.units)}): "
        f"intervals may be too narrow, about {number(found.stretch)} times. Name the field {advice} with --session."
    )
