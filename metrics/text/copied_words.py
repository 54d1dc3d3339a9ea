"""Stretches of words that two texts have in common: what of one was copied into the other."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from metrics.core.unicode_forms import normalized

WORD = re.compile(r"\w+")
MOST_PLACES = 50  # of a sequence of words in the source that are followed


class Stretch(NamedTuple):
    """A stretch of words: its characters from–to in the text, its number of words, and its first word in the source.

    `source` counts the source's words from 0.
    """

    start: int
    end: int
    words: int
    source: int


def common_stretches(text: str, source: str, least: int, known: str = "") -> list[Stretch]:
    """Return the stretches of at least `least` words that `text` shares with `source`, in the text's order.

    Words are runs of letters and digits, compared without case and in Unicode's form NFKC; what stands between them
    does not count. Each stretch is as long as it can be, and none lies within another of the text. A sequence of
    `least` words that `known` holds too is no copy of the source. Time is linear; of a sequence that recurs in the
    source MOST_PLACES places are followed.
    """
    places = [found.span() for found in WORD.finditer(text)]
    own = _folded(text[start:end] for start, end in places)
    excused = set(_sequences(_folded(WORD.findall(known)), least))
    found_at: dict[tuple[str, ...], list[int]] = {}
    for at, words in enumerate(_sequences(_folded(WORD.findall(source)), least)):
        if words not in excused and len(held := found_at.setdefault(words, [])) < MOST_PLACES:
            held.append(at)
    longest: list[tuple[int, int]] = []  # of the stretches that begin at a word, from the last: words, place
    after: dict[int, int] = {}  # place in the source → words of the stretch that begins there and at the next word
    for words in reversed(list(_sequences(own, least))):
        after = {at: after.get(at + 1, least - 1) + 1 for at in found_at.get(words, ())}
        longest.append(max(((length, at) for at, length in after.items()), default=(0, 0)))
    stretches, reached = [], 0
    for first, (length, at) in enumerate(reversed(longest)):
        if length and first + length > reached:
            reached = first + length
            stretches.append(Stretch(places[first][0], places[reached - 1][1], length, at))
    return stretches


def covered(stretches: Sequence[Stretch], source: str) -> float:
    """Return the share of the source's words that stand in a stretch, 0 … 1; 0 for a source without words."""
    words = len(WORD.findall(source))
    return len({stretch.source + at for stretch in stretches for at in range(stretch.words)}) / words if words else 0.0


def _folded(words: Iterable[str]) -> list[str]:
    return [normalized("NFKC", word).casefold() for word in words]


def _sequences(words: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))
