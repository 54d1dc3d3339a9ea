"""Edits between two sequences: Levenshtein's distance by rapidfuzz, alignment with the fewest edits, and longest common
subsequences, with a row of the dynamic program as one integer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.errors import MissingResource

MOST_CELLS = 10**11  # of a table of two sequences: some ten seconds
MOST_EDITED = 10**8  # and of one whose edits are found as well


class Edits(NamedTuple):
    """The fewest edits that make the candidate of the reference: their number, and how many are of each kind.

    The kinds are None where the sequences are too long to find them.
    """

    distance: int
    substitutions: int | None = None
    insertions: int | None = None
    deletions: int | None = None


def edits(reference: Sequence[str], candidate: Sequence[str]) -> Edits | None:
    """Return the edits from one text, or list of tokens, to another; None where they are too long to compare.

    An edit replaces, inserts or deletes one item. Of several ways with as few edits the one that rapidfuzz finds is
    counted. Raises MissingResource where rapidfuzz is not installed.
    """
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        raise MissingResource("edit distances are computed by the package rapidfuzz: pip install rapidfuzz") from None
    cells = len(reference) * len(candidate)
    if cells > MOST_CELLS:
        return None
    if cells > MOST_EDITED:
        return Edits(Levenshtein.distance(reference, candidate))
    kinds = [edit.tag for edit in Levenshtein.editops(reference, candidate)]
    return Edits(len(kinds), kinds.count("replace"), kinds.count("insert"), kinds.count("delete"))


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


BLOCK = 256  # rows kept at once while walking back
NARROW = 4096  # columns up to which every token's mask is kept
FREQUENT = 64  # wider: only the masks of tokens this frequent are kept, or they would take O(m²) bits
MASKS = 28  # and of more frequent ones only as many as 2 to this power bytes hold
MOST_WORK = 10**9  # words of 64 bits that are computed: some ten seconds
ROW, BEGIN = 100, 3  # words that take the time of beginning a row, and rows that take that of beginning two sequences


class TooLong(ValueError):
    """Sequences whose comparison takes more than the work that is allowed."""


@dataclass(slots=True)
class Work:
    """The work that may still be done, in words of 64 bits."""

    left: int = MOST_WORK

    def begin(self, rows: int, columns: int) -> None:
        """Count a table of so many rows and columns. Raises TooLong where that is more than what is left."""
        self.left -= (rows + BEGIN) * (columns // 64 + ROW)
        if self.left < 0:
            raise TooLong


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, in O(n·m / 64); TooLong where that exceeds MOST_WORK.

    Row i of the dynamic program is one integer: bit j is 0 where L[i][j+1] = L[i][j] + 1, so its zeros are the length.
    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited.
    """
    rows, columns = (first, second) if len(first) <= len(second) else (second, first)
    begun = common_start(rows, columns)  # as they begin and end alike, that belongs to a longest one
    rows, columns = rows[begun:], columns[begun:]
    ended = common_start(rows[::-1], columns[::-1])
    rows, columns = rows[: len(rows) - ended], columns[: len(columns) - ended]
    if not rows:
        return begun + ended
    known = set(rows)
    columns = [token for token in columns if token in known]  # what matches nothing adds nothing
    Work().begin(len(rows), len(columns))
    wide = _Columns.of(columns)
    return begun + ended + wide.full.bit_count() - wide.below(wide.full, rows).bit_count()


def common_start(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many items two sequences begin with alike."""
    apart = (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(apart, min(len(first), len(second)))


def lcs_positions(references: Sequence[Sequence[str]], candidate: Sequence[str], work: Work) -> list[list[int]]:
    """Return for each reference the positions in it of one longest common subsequence with `candidate`, ascending.

    Among several, the one that `rouge_score` takes: walking back from the ends, a match is taken, else the longer
    neighbour, the reference's on a tie. Time O(n·m / 64), memory O((n / 256 + 256)·m / 8) bytes. TooLong where it takes
    more than the `work` that is left.
    """
    columns = _Columns.of(candidate)
    return [_positions(reference, candidate, columns, work) for reference in references]


def _positions(whole: Sequence[str], candidate: Sequence[str], columns: "_Columns", work: Work) -> list[int]:
    places = [place for place, token in enumerate(whole) if token in columns]  # the others' rows repeat those above
    reference = [whole[place] for place in places]
    work.begin(len(reference), len(candidate))
    starts = [columns.full]  # the row above every BLOCK of rows
    for start in range(0, len(reference) - BLOCK, BLOCK):
        starts.append(columns.below(starts[-1], reference[start : start + BLOCK]))
    positions: list[int] = []
    j = len(candidate)
    for first in range((len(starts) - 1) * BLOCK, -1, -BLOCK):
        tokens = reference[first : first + BLOCK]
        rows = [starts[first // BLOCK]]
        for token in tokens:
            rows.append(columns.below(rows[-1], (token,)))
        i = len(tokens)
        while i > 0 and j > 0:
            if tokens[i - 1] == candidate[j - 1]:
                positions.append(places[first + i - 1])
                i -= 1
                j -= 1
                continue
            prefix = (1 << j) - 1
            if (rows[i] & prefix).bit_count() == (rows[i - 1] & prefix).bit_count():  # L[i][j] = L[i−1][j]
                i -= 1
            else:  # L[i][j−1] = L[i][j] > L[i−1][j] all the way to this row's match
                j = (columns.mask(tokens[i - 1]) & prefix).bit_length()
    return positions[::-1]


@dataclass(frozen=True, slots=True)
class _Columns:
    """One of the two sequences as bit masks; `full` has a bit for each of its tokens."""

    full: int
    masks: dict[str, int]  # token → the bits where it stands
    rare: dict[str, list[int]]  # token → the positions of those bits, where a kept mask would cost more than it saves

    @classmethod
    def of(cls, tokens: Sequence[str]) -> "_Columns":
        masks: dict[str, int] = {}
        rare: dict[str, list[int]] = {}
        if len(tokens) <= NARROW:
            bit = 1
            for token in tokens:
                masks[token] = masks.get(token, 0) | bit
                bit <<= 1
        else:
            for index, token in enumerate(tokens):
                rare.setdefault(token, []).append(index)
            frequent = max(FREQUENT, len(tokens) ** 2 >> (MASKS + 3))
            for token in [token for token, places in rare.items() if len(places) > frequent]:
                masks[token] = _mask(rare.pop(token))
        return cls((1 << len(tokens)) - 1, masks, rare)

    def __contains__(self, token: str) -> bool:
        """Return whether the token stands anywhere."""
        return token in self.masks or token in self.rare

    def mask(self, token: str) -> int:
        """Return the bits at the positions of `token`."""
        return self.masks.get(token) or _mask(self.rare.get(token, []))

    def below(self, row: int, tokens: Sequence[str]) -> int:
        """Return the row of the dynamic program below `row` after `tokens`."""
        masks, rare, full = self.masks, self.rare, self.full
        for token in tokens:
            mask = masks.get(token)
            if mask is None:
                if token not in rare:
                    continue
                mask = _mask(rare[token])
            matches = row & mask
            row = ((row + matches) | (row - matches)) & full
        return row


def _mask(places: list[int]) -> int:
    bits = bytearray(places[-1] // 8 + 1 if places else 0)
    for index in places:
        bits[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(bits, "little")
