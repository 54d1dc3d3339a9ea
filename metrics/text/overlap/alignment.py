"""Alignment of two ordered lists with the fewest edits."""

import numpy as np

from metrics.core.array_types import Floats

TIE = 1e-9
LEFT, DIAGONAL, UP = 0, 1, 2

Aligned = list[tuple[int | None, int | None]]


def align(similarities: Floats, threshold: float) -> Aligned:
    """Return the alignment of n items with m others that has the fewest edits: pairs (row, column) in order.

    `similarities` [n, m] are in [−1, 1]. A pair at or above `threshold` is a match and costs nothing; a pair below it
    is a mismatch, a row without a column a deletion (row, None), a column without a row an insertion (None, column):
    each is one edit, as in Levenshtein's distance, so there are at most max(n, m).

        D[i, j] = min(D[i−1, j−1] + (s[i, j] < threshold),  D[i−1, j] + 1,  D[i, j−1] + 1)

    Among the alignments with the fewest edits, the pairs have the greatest sum of similarities: each pair is credited
    ε·s, where ε is so small that all credits together are less than one edit. Time and memory O(n·m).

    >>> align(np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8]]), 0.5)
    [(0, 0), (None, 1), (1, 2)]
    """
    rows, columns = similarities.shape
    paid = 0.25 / (min(rows, columns) + 1)
    costs = (similarities < threshold - TIE) - paid * similarities
    places = np.arange(columns + 1, dtype=np.float64)
    moves = np.empty((rows, columns + 1), np.int8)
    above = places
    for row in range(rows):
        diagonal = above[:-1] + costs[row]
        up = above + 1
        entered = up.copy()
        entered[1:] = np.minimum(up[1:], diagonal)
        current = np.minimum.accumulate(entered - places) + places  # by any number of insertions from a column before
        moves[row] = np.where(current < entered - TIE, LEFT, UP)
        moves[row, 1:][(moves[row, 1:] == UP) & (diagonal <= up[1:] + TIE)] = DIAGONAL
        above = current
    return _walked_back(moves, rows, columns)


def _walked_back(moves: np.ndarray[tuple[int, int], np.dtype[np.int8]], row: int, column: int) -> Aligned:
    pairs: Aligned = []
    while row or column:
        move = moves[row - 1, column] if row else LEFT
        row -= move != LEFT
        column -= move != UP
        pairs.append((None if move == LEFT else int(row), None if move == UP else int(column)))
    return pairs[::-1]
