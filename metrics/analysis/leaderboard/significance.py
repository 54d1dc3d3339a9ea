"""What a tested difference of two models comes to: which one is better, or that none is shown to be."""

from typing import Literal

from metrics.analysis.leaderboard.leaderboard import Column
from metrics.stats.corrections import LEVEL

Significance = Literal["better", "worse", "higher", "lower", "leaning", "open", "equal", "none"]
WORDS: dict[Significance, str] = {
    "better": "B is better",
    "worse": "A is better",
    "higher": "B is higher",
    "lower": "A is higher",
    "open": "no significant difference",
    "equal": "equal on every case",
    "none": "no case has values of both",
}


def improvement(column: Column, difference: float | None) -> float | None:
    """Return a difference b − a with the sign that makes b better above 0; None where neither end is better."""
    if difference is None or column.direction == "none":
        return None
    return -difference if column.direction == "lower" else difference


def significance(column: Column, difference: float | None, p: float | None, adjusted: float | None) -> Significance:
    """Return what a difference b − a comes to by its p and the adjusted p, both None where nothing differed.

    better, worse (higher, lower where neither end of the metric is better): the adjusted p is at most LEVEL; leaning:
    only the unadjusted p is; open: neither is; equal: no case differs; none: there is no pair.
    """
    better = improvement(column, difference)
    found: Significance = "open"
    if difference is None:
        found = "none"
    elif p is None or adjusted is None:
        found = "equal"
    elif adjusted <= LEVEL:
        ends: tuple[Significance, Significance] = ("better", "worse") if better is not None else ("higher", "lower")
        found = ends[0] if (difference if better is None else better) > 0 else ends[1]
    elif p <= LEVEL:
        found = "leaning"
    return found


def in_words(found: Significance, column: Column, difference: float | None) -> str:
    """Return the significance in words."""
    if found == "leaning":
        better = improvement(column, difference)
        leader = "B" if (better or difference or 0.0) > 0 else "A"
        return f"{leader} may be {'higher' if better is None else 'better'} (uncorrected)"
    return WORDS[found]
