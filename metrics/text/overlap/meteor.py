"""METEOR on exact words and stems, equal to nltk's meteor_score without WordNet."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple


class MeteorCounts(NamedTuple):
    """How two texts are aligned: words matched exactly and by stem, and in how many runs of neighbours (chunks)."""

    exact: int
    stems: int
    chunks: int
    length: int  # of the candidate, in words
    reference_length: int

    @property
    def matches(self) -> int:
        """The words of the candidate that have a partner."""
        return self.exact + self.stems


def meteor_counts(reference: Sequence[str], candidate: Sequence[str], use_stemmer: bool = True) -> MeteorCounts:
    """Return how the words of two texts are aligned.

    From the end of the candidate on, each word is paired with the last free equal word of the reference; then the words
    that are left with those that have the same Porter stem. A chunk is a run of pairs that are neighbours in both
    texts.
    """
    pairs: dict[int, int] = {}
    free = set(range(len(reference)))
    _pair(list(candidate), list(reference), pairs, free)
    exact = len(pairs)
    if use_stemmer and exact < min(len(candidate), len(reference)):
        _pair(list(map(stem, candidate)), list(map(stem, reference)), pairs, free)
    placed = sorted(pairs.items())
    following = sum(later == (one + 1, other + 1) for (one, other), later in pairwise(placed))
    chunks = len(placed) - following
    return MeteorCounts(exact, len(pairs) - exact, chunks, len(candidate), len(reference))


def _pair(made: list[str], wanted: list[str], pairs: dict[int, int], free: set[int]) -> None:
    """Add pairs of equal forms among the places that have none yet."""
    places: dict[str, list[int]] = {}
    for place in sorted(free):
        places.setdefault(wanted[place], []).append(place)
    for place in range(len(made) - 1, -1, -1):
        if place not in pairs and (left := places.get(made[place])):
            pairs[place] = left.pop()
            free.discard(pairs[place])


def meteor(counts: MeteorCounts, alpha: float = 0.9, beta: float = 3.0, gamma: float = 0.5) -> float:
    """Return METEOR = (1 − γ·(chunks / matches)^β) · P·R / (α·P + (1 − α)·R), in [0, 1]; 0 without a match.

    P and R are the matches over the words of the candidate and of the reference.
    Source: Banerjee & Lavie 2005; nltk.translate.meteor_score.
    """
    if not counts.matches:
        return 0.0
    precision, recall = counts.matches / counts.length, counts.matches / counts.reference_length
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    penalty = gamma * float(counts.chunks / counts.matches) ** beta
    return float((1 - penalty) * mean)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Porter stem of a word, with nltk's extensions."""
    return str(_stemmer()(word))


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], Any]:
    from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]  # on use: a second

    return PorterStemmer().stem  # type: ignore[no-any-return]
