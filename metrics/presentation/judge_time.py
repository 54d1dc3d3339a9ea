"""How long a local judge would take, in words."""

from metrics.engine.local_speed import LocalTime
from metrics.presentation.format import duration, plural


def time_text(local: LocalTime) -> str:
    """Return the time of a local judge with the runs that it was measured in, or that it is unknown."""
    if not local.runs:
        return "the local judge's time is unknown: no run in this workspace has measured it"
    least = "at least " if local.unmeasured else ""
    text = f"{least}about {duration(local.seconds)} with the local judge, at the speed of run {', '.join(local.runs)}"
    rest = plural(local.unmeasured, "call is", "calls are")
    return f"{text}; {rest} of a kind that no run has measured" if local.unmeasured else text
