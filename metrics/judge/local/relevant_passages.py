"""The passages of a text that a claim is about: a small model judges a claim better, and faster, by these alone."""

from collections.abc import Sequence

from metrics.text.relevance import likeness
from metrics.text.sentences import sentences

WORDS_READ = 50  # words of a text that are read for a claim; a text of at most as many is read whole
LONG_LINE = 50  # words; a longer line is divided into its sentences
GAP = "…"


def relevant_passages(text: str, claim: str) -> str:
    """Return the passages of a text that are most alike to a claim by their words, in order; a short text whole.

    Passages are two neighbouring lines or sentences (a turn of a dialogue with the next), the most alike first, until
    WORDS_READ words are chosen; where no passage shares a word, the beginning. Places where something is left out are
    marked by "…".
    """
    if len(text.split()) <= WORDS_READ:
        return text
    parts = [part for line in text.splitlines() if line.strip() for part in _divided(line)]
    pairs = [f"{one}\n{after}" for one, after in zip(parts, [*parts[1:], ""], strict=True)]
    scores = likeness(pairs, [claim])
    chosen: set[int] = set()
    left = WORDS_READ
    for place in sorted((place for place, score in enumerate(scores) if score > 0), key=lambda place: -scores[place]):
        added = {place, min(place + 1, len(parts) - 1)} - chosen
        words = sum(len(parts[one].split()) for one in added)
        if words <= left:
            chosen |= added
            left -= words
    if not chosen:
        return " ".join(text.split()[:WORDS_READ])
    return _joined(parts, sorted(chosen))


def _divided(line: str) -> list[str]:
    return sentences(line) if len(line.split()) > LONG_LINE else [line.strip()]


def _joined(parts: Sequence[str], places: Sequence[int]) -> str:
    """Return the parts at these places, with a mark where some are left out."""
    shown: list[str] = []
    before = -1
    for place in places:
        shown += [GAP] if place != before + 1 else []
        shown.append(parts[place])
        before = place
    return "\n".join([*shown, GAP] if before != len(parts) - 1 else shown)
