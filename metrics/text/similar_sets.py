"""Texts that are nearly the same: an exact join of sets of shingles by their Jaccard index."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from metrics.text.relevance import words

SHINGLE = 3  # words that stand together
ROUNDING = 1e-9


class Alike(NamedTuple):
    """Two of the sets, by their places, and their likeness."""

    first: int
    second: int
    likeness: float


def shingles(text: str, size: int = SHINGLE) -> frozenset[str]:
    """Return every run of `size` words of a text, in NFKC and case-folded; all its words at once where it has fewer.

    >>> sorted(shingles("The cat sat down"))
    ['cat sat down', 'the cat sat']
    """
    own = words(text)
    if not own:
        return frozenset()
    return frozenset(" ".join(own[place : place + size]) for place in range(max(1, len(own) - size + 1)))


def alike(sets: Sequence[frozenset[str]], least: float) -> Iterator[Alike]:
    """Yield all pairs of sets whose Jaccard index |a ∩ b| / |a ∪ b| is at least `least` (over 0, up to 1).

    Exact: of each set only the rarest elements are looked up, as many as must hold one that a likely partner has too,
    and of partners only those of like size. Sources: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007.

    >>> sets = [frozenset("abcd"), frozenset("abce"), frozenset("xyz")]
    >>> list(alike(sets, 0.6))
    [Alike(first=0, second=1, likeness=0.6)]
    """
    counts = Counter(element for own in sets for element in own)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place in sorted((place for place, own in enumerate(sets) if own), key=lambda place: (len(sets[place]), place)):
        own = sets[place]
        size = len(own)
        partners: dict[int, None] = {}
        for element in _rarest(own, counts, least):
            partners |= dict.fromkeys(holders[element])
            holders[element].append(place)
        for other in partners:
            if len(sets[other]) >= least * size:
                both = len(own & sets[other])
                likeness = both / (size + len(sets[other]) - both)
                if likeness >= least:
                    yield Alike(min(place, other), max(place, other), likeness)


def _rarest(own: frozenset[str], counts: Mapping[str, int], least: float) -> list[str]:
    """Return the rarest elements of a set, so many that each set with the share `least` of it has one of them."""
    few = len(own) - math.ceil(least * len(own) - ROUNDING) + 1
    return sorted(own, key=lambda element: (counts[element], element))[:few]


def held_in(parts: Sequence[frozenset[str]], wholes: Sequence[frozenset[str]], least: float) -> Iterator[Alike]:
    """Yield each part and whole, by their places, where at least the share `least` of the part's elements is.

    >>> list(held_in([frozenset("ab")], [frozenset("abcdef"), frozenset("ax")], 1.0))
    [Alike(first=0, second=0, likeness=1.0)]
    """
    counts = Counter(element for own in wholes for element in own)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(wholes):
        for element in own:
            holders[element].append(place)
    for place, own in enumerate(parts):
        if not own:
            continue
        rarest = _rarest(own, counts, least)
        for other in dict.fromkeys(whole for element in rarest for whole in holders.get(element, ())):
            share = len(own & wholes[other]) / len(own)
            if share >= least:
                yield Alike(place, other, share)
