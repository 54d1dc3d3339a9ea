"""Stable sorts of rows by code and by score."""

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Int32s
from metrics.vision.compiled.jit import compiled

DIGIT = 11  # bits a radix pass sorts by


@compiled
def sort_by_code(order: Int32s, codes: Int32s, size: int) -> Int32s:
    """Return `order` rearranged by ascending codes[row] (0 … size−1), keeping the order of equals."""
    starts = np.zeros(size + 1, np.int64)
    for row in order:
        starts[codes[row] + 1] += 1
    for code in range(size):
        starts[code + 1] += starts[code]
    result = np.empty_like(order)
    for row in order:
        code = codes[row]
        result[starts[code]] = row
        starts[code] += 1
    return result


@compiled
def sort_by_bits(order: Int32s, bits: NDArray[np.uint64]) -> Int32s:
    """Return `order` by descending floats of which bits[row] are the bits, keeping the order of equals. A radix sort.

    The floats are finite, and none is −0.
    """
    count = len(order)
    keys = np.empty(count, np.uint64)
    top = np.uint64(1) << np.uint64(63)
    for i in range(count):
        own = bits[order[i]]
        keys[i] = own if own & top else ~(own | top)
    source, target = order.copy(), np.empty_like(order)
    source_keys, target_keys = keys, np.empty_like(keys)
    mask = np.uint64((1 << DIGIT) - 1)
    starts = np.empty((1 << DIGIT) + 1, np.int64)
    for low in range(0, 64, DIGIT):
        shift = np.uint64(low)
        starts[:] = 0
        for i in range(count):
            starts[np.int64((source_keys[i] >> shift) & mask) + 1] += 1
        most = np.int64(0)
        for digit in range(1 << DIGIT):
            most = max(most, starts[digit + 1])
        if most == count:
            continue
        for digit in range(1 << DIGIT):
            starts[digit + 1] += starts[digit]
        for i in range(count):
            here = np.int64((source_keys[i] >> shift) & mask)
            place = starts[here]
            target[place] = source[i]
            target_keys[place] = source_keys[i]
            starts[here] = place + 1
        source, target = target, source
        source_keys, target_keys = target_keys, source_keys
    return source


def sort_by_score(order: Int32s, scores: Floats) -> Int32s:
    """Return `order` by descending scores[row], which are finite, keeping the order of equals."""
    return sort_by_bits(order, (scores + 0.0).view(np.uint64))  # −0 equals 0


@compiled
def ranks(order: Int32s, images: Int32s, classes: Int32s) -> Int32s:
    """Return, by row, how many rows of its image and class come before it in `order` (which keeps them together)."""
    result = np.empty_like(order)
    rank = 0
    for i in range(len(order)):
        row = order[i]
        rank = rank + 1 if i and images[row] == images[order[i - 1]] and classes[row] == classes[order[i - 1]] else 0
        result[row] = rank
    return result
