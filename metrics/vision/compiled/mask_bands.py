"""The bands of pixels along the contours of masks."""

import numpy as np

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled, int64
from metrics.vision.compiled.mask_runs import _append, _resized


@compiled
def bands(
    edges: Int32s, start: Ints, box: Floats, height: Int32s, distance: Int32s, first: int, last: int
) -> tuple[Int32s, Ints]:
    """Return the runs of the bands of masks first … last−1, and how many edges each of them has.

    A band has the pixels of the mask with one outside it, or outside the image, within `distance` [N] along each axis.
    A column of the mask is eroded downwards as it is read; the erosion across follows `distance` columns later.
    """
    found, count = np.empty(1024, np.int32), 0
    counts = np.zeros(last - first, np.int64)
    for i in range(first, last):
        if start[i] == start[i + 1]:
            continue
        high, reach, before = int64(height[i]), int64(distance[i]), count
        left, wide, top, tall = int64(box[i, 0]), int64(box[i, 2]), int64(box[i, 1]), int64(box[i, 3])
        inside = np.zeros((wide, tall), np.uint8)
        kept = np.zeros((wide, tall), np.uint8)  # what erosion leaves
        row = np.zeros(tall, np.int64)  # columns in a row that downward erosion leaves
        for place in range(start[i], start[i + 1], 2):
            begin, end = int64(edges[place]), int64(edges[place + 1])
            while begin < end:
                x = begin // high
                stop = min(end, (x + 1) * high)
                for y in range(begin - x * high - top, stop - x * high - top):
                    inside[x - left, y] = 1
                begin = stop
        for x in range(wide):
            run = int64(0)
            for y in range(tall + 1):
                if y < tall and inside[x, y]:
                    run += 1
                    continue
                for at in range(y - run, y):
                    row[at] = row[at] + 1 if y - run + reach <= at < y - reach else 0
                if y < tall:
                    row[y] = 0
                run = int64(0)
            if x >= 2 * reach:
                for y in range(tall):
                    kept[x - reach, y] = row[y] > 2 * reach
        if count + 2 * wide * (tall // 2 + 2) > len(found):
            found = _resized(found, count, 2 * len(found) + 2 * wide * (tall // 2 + 2))
        for x in range(wide):
            y = int64(0)
            while y < tall:
                if not inside[x, y] or kept[x, y]:
                    y += 1
                    continue
                begin = y
                while y < tall and inside[x, y] and not kept[x, y]:
                    y += 1
                above = (left + x) * high + top
                count = (
                    _append(found, count, above + begin, above + y)
                    if count > before
                    else _first(found, count, above + begin, above + y)
                )
        counts[i - first] = count - before
    return found[:count].copy(), counts


@compiled
def _first(edges: Int32s, count: int, begin: int, end: int) -> int:
    """Add the first run of a mask; the new length of `edges`."""
    edges[count], edges[count + 1] = begin, end
    return count + 2
