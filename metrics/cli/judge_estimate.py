"""The estimate of what a judge would cost, in lines."""

from metrics import engine
from metrics.cli.terminal import say
from metrics.presentation.judge_notes import time_text


def print_estimate(found: engine.Estimate | None) -> None:
    """Print how many calls, tokens and dollars the judge would take, and of how many cases that was estimated."""
    if found is None:
        say("no judge calls: no judge is chosen, or no evaluator needs one")
        return
    print_found(found)
    if found.walked < found.cases:
        say(f"estimated from {found.walked} of {found.cases:,} cases")


def print_found(found: engine.Estimate) -> None:
    """Print an estimate, and the time that its judges take."""
    say(found)
    if found.local:
        say(time_text(found.local))
    if found.hosted:
        say(time_text(found.hosted, "the judge"))
