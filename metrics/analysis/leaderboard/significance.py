"""What a tested difference of two models comes to, in a word."""

from typing import Literal

from metrics.analysis.leaderboard.leaderboard import Column

Verdict = Literal["better", "worse", "higher", "lower", "leaning", "open", "equal", "none"]
LEVEL = 0.05
VERDICTS: dict[Verdict, str] = {
    "better": "B is better",
    "worse": "A is better",
    "higher": "B is higher",
    "lower": "A is higher",
    "open": "cannot be told apart at this n",
    "equal": "equal on every case",
    "none": "no case has a value of both",
}


def turned(column: Column, difference: float | None) -> float | None:
    """Return the difference turned so that above 0 b is better; None where neither end is."""
    if difference is None or column.direction == "none":
        return None
    return -difference if column.direction == "lower" else difference


def judge(column: Column, difference: float | None, p: float | None, adjusted: float | None) -> Verdict:
    """Return the verdict of a difference b − a by its p and the p adjusted for the other tests; None where none was
    needed.
    """
    better = turned(column, difference)
    verdict: Verdict = "open"
    if difference is None:
        verdict = "none"
    elif p is None or adjusted is None:
        verdict = "equal"
    elif adjusted <= LEVEL:
        ends: tuple[Verdict, Verdict] = ("better", "worse") if better is not None else ("higher", "lower")
        verdict = ends[0] if (difference if better is None else better) > 0 else ends[1]
    elif p <= LEVEL:
        verdict = "leaning"
    return verdict


def in_words(verdict: Verdict, column: Column, difference: float | None) -> str:
    """Return the verdict in words."""
    if verdict == "leaning":
        better = turned(column, difference)
        leader = "B" if (better or difference or 0.0) > 0 else "A"
        return f"{leader} may be {'higher' if better is None else 'better'} (uncorrected)"
    return VERDICTS[verdict]
