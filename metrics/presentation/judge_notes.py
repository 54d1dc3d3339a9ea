"""How a judge read the texts of a case, in words: what was divided, and which of its quotes are not there."""

from collections.abc import Mapping
from typing import Any

from metrics.presentation.format import count, plural

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
