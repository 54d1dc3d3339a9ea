"""Counts of n-grams and their clipped overlap, which BLEU and ROUGE-N share."""

from collections import Counter
from collections.abc import Sequence
from typing import Any


def ngrams(tokens: Sequence[str], n: int) -> Counter[Any]:
    """Return how often each run of `n` tokens occurs; the keys are tokens for n = 1, tuples beyond."""
    return Counter(tokens if n == 1 else zip(*(tokens[start:] for start in range(n)), strict=False))


def clipped_matches(first: Counter[Any], second: Counter[Any]) -> int:
    """Return how many n-grams both have: each as often as in the one that has it less often."""
    shared = first.keys() & second.keys()
    return sum(map(min, map(first.__getitem__, shared), map(second.__getitem__, shared)))
