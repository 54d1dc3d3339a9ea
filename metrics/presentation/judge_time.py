"""How long judges would take, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.presentation.format import duration, plural

if TYPE_CHECKING:
    from metrics.engine.judge_speed import JudgeTime


def time_text(time: JudgeTime, judge: str = "the local judge") -> str:
    """Return the time of a judge with the runs that it was measured in, or that it is unknown."""
    if not time.runs:
        return f"{judge}'s time is unknown: no run in this workspace has measured it"
    least = "at least " if time.unmeasured else ""
    text = f"{least}about {duration(time.seconds)} with {judge}, at the speed of run {', '.join(time.runs)}"
    rest = plural(time.unmeasured, "call is", "calls are")
    return f"{text}; {rest} of a kind that no run has measured" if time.unmeasured else text
