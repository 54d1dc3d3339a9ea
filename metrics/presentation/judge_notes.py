"""How a judge read the texts of a case, in words: what was divided, and which of its quotes are not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metrics.presentation.format import count, duration, plural

if TYPE_CHECKING:
    from metrics.engine.estimate import JudgeTime

NOT_FOUND = "the judge's quote is not in the context"
WORDS = {  # by the names that the judge's steps note; {} is the count
    "text_parts": "listed in {} parts",
    "duplicates": "{} repeated items counted once",
    "context_batches": "contexts asked about in {} batches",
    "context_passages": "contexts read in {} passages",
    "steps_left_out": "{} steps in the middle of the trace not read",
    "turns_left_out": "the first {} turns not read",
    "characters_left_out": "the last {} characters not read",
}


def reading_text(judge: Mapping[str, Any]) -> str:
    """Return how long texts were read: `Long texts: listed in 35 parts · …`; empty where nothing was divided."""
    notes = judge.get("notes") or {}
    parts = [words.format(count(notes[name])) for name, words in WORDS.items() if notes.get(name)]
    return f"Long texts: {' · '.join(parts)}" if parts else ""


def quotes_text(given: int, not_found: int) -> str:
    """Return how many quotes of the judge are not in their contexts: `2 of 15 quotes not found`; empty without any."""
    return f"{count(not_found)} of {plural(given, 'quote')} not found" if not_found else ""


def time_text(time: JudgeTime, judge: str = "the local judge") -> str:
    """Return the time of a judge with the runs that it was measured in, or that it is unknown."""
    if not time.runs:
        return f"{judge}'s time is unknown: no run in this workspace has measured it"
    least = "at least " if time.unmeasured else ""
    text = f"{least}about {duration(time.seconds)} with {judge}, at the speed of run {', '.join(time.runs)}"
    rest = plural(time.unmeasured, "call is", "calls are")
    return f"{text}; {rest} of a kind that no run has measured" if time.unmeasured else text
