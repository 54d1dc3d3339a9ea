"""The passages of a long text that claims are about: a small model reads slowly, so it reads only these."""

from collections.abc import Sequence

from metrics.text.relevance import likeness
from metrics.text.sentences import sentences

WHOLE = 160  # words; a text of at most as many is read whole
MIN_WORDS_READ = 120  # words of a longer text that are read for a question's claims, and …
WORDS_READ_PER_CLAIM = 20  # … at least as many for each of them
LONG_LINE = 50  # words; a longer line is divided into its sentences
GAP = "…"


def relevant_passages(text: str, claims: Sequence[str]) -> str:
    """Return the passages of a text that are most alike to the claims by their words, in order; a short text whole.

    Passages are two neighbouring lines or sentences (a turn of a dialogue with the next). The claims take turns: each
    gets its most alike passage, then each its second, until MIN_WORDS_READ words, or WORDS_READ_PER_CLAIM a claim, are
    chosen; where no passage shares a word, the beginning. Places where something is left out are marked by "…".
    """
    if len(text.split()) <= WHOLE:
        return text
    parts = [part for line in text.splitlines() if line.strip() for part in _divided(line)]
    pairs = [f"{one}\n{after}" for one, after in zip(parts, [*parts[1:], ""], strict=True)]
    ranked = []
    for claim in claims:
        scores = likeness(pairs, [claim])
        alike = [place for place, score in enumerate(scores) if score > 0]
        ranked.append(sorted(alike, key=lambda place: -scores[place]))
    chosen: set[int] = set()
    left = max(MIN_WORDS_READ, WORDS_READ_PER_CLAIM * len(claims))
    for place in (order[turn] for turn in range(len(pairs)) for order in ranked if turn < len(order)):
        added = {place, min(place + 1, len(parts) - 1)} - chosen
        words = sum(len(parts[one].split()) for one in added)
        if words <= left:
            chosen |= added
            left -= words
    if not chosen:
        return " ".join(text.split()[:MIN_WORDS_READ])
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
