"""How much a text repeats itself: its longest repeated substring and its compressed size."""

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Int32s

LEVEL = 9  # zlib's best


class Repeat(NamedTuple):
    """A substring of `length` characters from `start`, and how many `times` it occurs without overlap."""

    start: int
    length: int
    times: int


NO_REPEAT = Repeat(0, 0, 0)


class _Repeated(NamedTuple):
    """The substrings of one length that occur twice without overlap: where they start, and which are equal."""

    positions: Int32s  # ascending
    names: Int32s  # equal substrings have equal names, 0 … k−1
    kinds: int


def longest_repeat(text: str) -> Repeat:
    """Return the longest substring of `text` that occurs at least twice without overlap; NO_REPEAT if there is none.

    Among several, the one with the most occurrences (counted from the left, without overlap), then the first. If one of
    length L exists, so does one of L − 1; the length is therefore found in two passes over powers of two, each a sort
    of the remaining positions (prefix doubling). Time O(n log² n), memory O(n log n) numbers.

    >>> longest_repeat("I am stuck. I am stuck. I am stuck. ")
    Repeat(start=0, length=12, times=3)
    """
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    size = len(characters)
    best = _repeated(np.arange(size, dtype=np.int32), characters, 1)
    if best is None:
        return NO_REPEAT
    length = 1
    strides = [best]
    while (longer := _joined(strides[-1], strides[-1], length, length, size)) is not None:
        strides.append(longer)
        length *= 2
    best = strides[-1]
    for power in range(len(strides) - 2, -1, -1):
        longer = _joined(best, strides[power], length, 1 << power, size)
        if longer is not None:
            best = longer
            length += 1 << power
    return _most_frequent(best, length)


def compression_ratio(text: str) -> float:
    """Return bytes of the UTF-8 text after zlib at level 9 over bytes before; above 1 for short texts.

    ValueError for an empty text.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        raise ValueError("an empty text has no compression ratio")
    return len(zlib.compress(data, LEVEL)) / len(data)


def _joined(left: _Repeated, right: _Repeated, left_length: int, right_length: int, size: int) -> _Repeated | None:
    """Return the repeated substrings of the summed length: those of `left` directly followed by one of `right`."""
    following = np.full(size + 1, -1, dtype=np.int32)
    following[right.positions] = right.names
    tails = following[np.minimum(left.positions + left_length, size)]
    kept = tails >= 0
    return _repeated(
        left.positions[kept], left.names[kept].astype(np.int64) * right.kinds + tails[kept], left_length + right_length
    )


def _repeated(positions: Int32s, keys: NDArray[Any], length: int) -> _Repeated | None:
    """Return the positions whose key occurs again at least `length` away, renumbered; None if there are none."""
    if not len(positions):
        return None
    unique, names = np.unique(keys, return_inverse=True)
    first = np.empty(len(unique), dtype=np.int32)
    last = np.empty_like(first)
    first[names[::-1]] = positions[::-1]  # of equal indices the last assignment stays
    last[names] = positions
    apart = last - first >= length
    if not apart.any():
        return None
    kept = apart[names]
    return _Repeated(positions[kept], (np.cumsum(apart, dtype=np.int32) - 1)[names[kept]], int(apart.sum()))


def _most_frequent(repeated: _Repeated, length: int) -> Repeat:
    free = [0] * repeated.kinds  # where the next occurrence of each kind may start
    counts = [0] * repeated.kinds
    starts = [-1] * repeated.kinds
    for position, name in zip(repeated.positions.tolist(), repeated.names.tolist(), strict=True):
        if position >= free[name]:
            free[name] = position + length
            counts[name] += 1
            if starts[name] < 0:
                starts[name] = position
    best = max(range(repeated.kinds), key=lambda name: (counts[name], -starts[name]))
    return Repeat(starts[best], length, counts[best])
