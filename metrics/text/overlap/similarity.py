"""Cosines between sets of vectors, and how evaluators summarise them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats


def cosines(left: NDArray[np.floating], right: NDArray[np.floating]) -> Floats:
    """Return the cosine of every vector of `left` [n, d] with every one of `right` [m, d]: [n, m], in [−1, 1].

        cos(a, b) = a·b / (|a|·|b|)

    Computed in double precision and clipped to the range, which rounding can exceed by 1e-16. The cosine of a zero
    vector with anything is 0.
    """
    if not len(left) or not len(right):
        return np.zeros((len(left), len(right)))
    return np.clip(_unit(left) @ _unit(right).T, -1.0, 1.0)


def _unit(vectors: NDArray[np.floating]) -> Floats:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Floats = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return unit


def best_matches(table: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the highest cosine of each row of `table` [n, m] and its column, the first of equals: two arrays [n].

    Without columns: cosine 0, column −1.
    """
    if not table.shape[1]:
        return np.zeros(len(table)), np.full(len(table), -1, np.intp)
    columns = table.argmax(axis=1)
    return table[np.arange(len(table)), columns], columns


def best_of_groups(row: Floats, sizes: Sequence[int]) -> list[tuple[float, int | None]]:
    """Return the highest of `row` within each of consecutive groups of the given sizes, and its place in `row`.

    An empty group has 0 and None. The sizes sum to the length of `row`.
    """
    best: list[tuple[float, int | None]] = []
    start = 0
    for size in sizes:
        if size:
            place = start + int(row[start : start + size].argmax())
            best.append((float(row[place]), place))
        else:
            best.append((0.0, None))
        start += size
    return best


def reciprocal_rank(best: Sequence[float], threshold: float, furthest: int) -> tuple[float, int | None]:
    """Return 1 / rank of the first of `best` (in ranked order) at or above `threshold`, and that rank, from 1.

    0 and None if none up to rank `furthest` reaches it.

    >>> reciprocal_rank([0.55, 0.69, 0.71, 0.9], 0.7, 10)
    (0.3333333333333333, 3)
    """
    for rank, value in enumerate(best[:furthest], 1):
        if value >= threshold:
            return 1 / rank, rank
    return 0.0, None
