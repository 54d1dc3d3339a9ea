"""Levenshtein's distance by the definition, and the texts that are too long."""

from functools import cache
from random import Random

import pytest

from metrics.text.overlap import edits as module
from metrics.text.overlap.edits import Edits, edits


def by_definition(reference: str, candidate: str) -> int:
    """Return the distance by its recursion, of short texts."""

    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        replaced = distance(i - 1, j - 1) + (reference[i - 1] != candidate[j - 1])
        return min(replaced, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(reference), len(candidate))


def test_it_is_the_definition() -> None:
    chance = Random(2)
    for _ in range(300):
        one, other = ("".join(chance.choice("abc ü") for _ in range(chance.randrange(9))) for _ in range(2))
        found, words = edits(one, other), edits(list(one), list(other))
        assert found.distance == words.distance == by_definition(one, other)
        assert found.distance == sum(found[1:])  # type: ignore[arg-type]
        assert (found.insertions or 0) - (found.deletions or 0) == len(other) - len(one)


def test_of_long_texts_the_kinds_are_not_found_and_of_longer_ones_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EDITED", 3)
    assert edits("abc", "abd") == Edits(1)
    monkeypatch.setattr(module, "MOST_CELLS", 8)
    assert edits("abc", "abd") is None
