"""Precision along a ranked list, and its mean over the relevant ranks."""

from collections.abc import Sequence


def average_precision(relevant: Sequence[bool]) -> float:
    """Return how early the relevant ones of a ranked list come: the mean of precision@k over the ranks k that are
    relevant.

        precision@k = relevant among the first k / k
        average precision = Σ precision@k · v_k / Σ v_k,  v_k = 1 where rank k is relevant, else 0

    From 0 (none is relevant) to 1 (all relevant ones before all others).

    >>> average_precision([True, False, False, True])
    0.75
    """
    found = 0
    total = 0.0
    for rank, hit in enumerate(relevant, 1):
        if hit:
            found += 1
            total += found / rank
    return total / found if found else 0.0
