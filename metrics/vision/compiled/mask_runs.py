"""Masks as sorted runs of pixels: read from COCO's text, drawn from polygons, measured, compared.

A position is y + x · height: columns one after another. `edges` holds first and past-the-last position of each run.
"""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled, int64

SCALE = 5  # polygons are drawn on a grid five times finer, as pycocotools does
FARTHEST = 2.0**31  # coordinates on that grid, beyond which pycocotools' overflow
CHARACTER, BITS, MORE, NEGATIVE = 48, 5, 0x20, 0x10  # COCO's text: 5 bits a character from "0" on, the lowest first


@compiled
def _resized(values: Int32s, count: int, size: int) -> Int32s:
    """Return a new array of `size` that begins with the first `count` values."""
    result = np.empty(size, np.int32)
    for i in range(count):
        result[i] = values[i]
    return result


@compiled
def _append(edges: Int32s, count: int, begin: int, end: int) -> int:
    """Add a run that does not begin before the last one ends; the new length of `edges`."""
    if begin >= end:
        return count
    if count and edges[count - 1] == begin:
        edges[count - 1] = end
        return count
    edges[count] = begin
    edges[count + 1] = end
    return count + 2


@compiled
def _decode(text: Bytes, begin: int, end: int, pixels: int, edges: Int32s) -> int:
    """Fill `edges` from a compressed text; the number of edges, −1 where it does not code exactly `pixels` pixels."""
    value = shift = last = last_but_one = position = runs = count = int64(0)
    for place in range(begin, end):
        code = int64(text[place]) - CHARACTER
        if code < 0 or code >= 64 or shift > 50:
            return -1
        value |= (code & 0x1F) << shift
        shift += BITS
        if code & MORE:
            continue
        if code & NEGATIVE:
            value -= 1 << shift
        if runs > 2:
            value += last_but_one
        if value < 0 or position + value > pixels:
            return -1
        if runs & 1:
            count = _append(edges, count, position, position + value)
        position += value
        last_but_one, last = last, value
        value = shift = 0
        runs += 1
    return count if shift == 0 and position == pixels else -1


@compiled
def _scaled(value: float) -> int:
    return int64(min(max(SCALE * value, -FARTHEST), FARTHEST) + 0.5)


@compiled
def _crossings(points: Floats, begin: int, end: int, height: int, width: int, found: Int32s) -> int:
    """Return where the ring points[begin:end] crosses the middle of a pixel column; the number of positions, unsorted.

    The outcome is that of pycocotools' rleFrPoly, which walks along every edge on the finer grid: here only the steps
    between the second and third fifth of a column are computed, since no others leave a trace.
    """
    count = 0
    for place in range(begin, end, 2):
        after = begin if place + 2 >= end else place + 2
        xs, ys = _scaled(points[place]), _scaled(points[place + 1])
        xe, ye = _scaled(points[after]), _scaled(points[after + 1])
        left, right = min(xs, xe), max(xs, xe)
        first, last = max(0, (left + 2) // SCALE), min(width - 1, (right - 3) // SCALE)
        if first > last:
            continue
        dx, dy = abs(xe - xs), abs(ye - ys)
        if (dx >= dy and xs > xe) or (dx < dy and ys > ye):
            xs, xe, ys, ye = xe, xs, ye, ys
        slope = (ye - ys) / dx if dx >= dy else (xe - xs) / dy
        for column in range(first, last + 1):
            low = SCALE * column + 2
            if dx >= dy:
                step = low - xs
                v = min(int64(ys + slope * step + 0.5), int64(ys + slope * (step + 1) + 0.5))
            else:  # the first step past the middle: estimated, then corrected by the exact rule
                step = min(max(int64((low + 0.5 - xs) / slope), 0), dy)
                if slope > 0:
                    while step > 0 and int64(xs + slope * (step - 1) + 0.5) > low:
                        step -= 1
                    while step < dy and int64(xs + slope * step + 0.5) <= low:
                        step += 1
                else:
                    while step > 0 and int64(xs + slope * (step - 1) + 0.5) <= low:
                        step -= 1
                    while step < dy and int64(xs + slope * step + 0.5) > low:
                        step += 1
                v = ys + step - 1
            y = min(max((v + 0.5) / SCALE - 0.5, 0.0), float(height))
            found[count] = column * height + int64(np.ceil(y))
            count += 1
    return count


@compiled
def _sort(values: Int32s, count: int) -> None:
    """Sort the first `count` values in place: Shell's method, since numba takes seconds to compile numpy's."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@compiled
def _union(one: Int32s, ones: int, two: Int32s, twos: int, edges: Int32s) -> int:
    """Fill `edges` with what is in either of two masks; the number of edges."""
    a = b = 0
    count = int64(0)
    begin = end = int64(-1)
    while a < ones or b < twos:
        if b >= twos or (a < ones and one[a] <= two[b]):
            low, high = int64(one[a]), int64(one[a + 1])
            a += 2
        else:
            low, high = int64(two[b]), int64(two[b + 1])
            b += 2
        if low <= end:
            end = max(end, high)
        else:
            count = _append(edges, count, begin, end)
            begin, end = low, high
    return _append(edges, count, begin, end)


@compiled
def _bound(points: Floats, begin: int, end: int, width: int) -> int:
    """Return a number of positions that `_crossings` does not exceed."""
    most = 0
    for place in range(begin, end, 2):
        after = begin if place + 2 >= end else place + 2
        most += min(width, int64(min(abs(points[after] - points[place]), FARTHEST)) + 2)
    return most


@compiled
def draw(
    box: Floats,
    points: Floats,
    ring_start: Ints,
    object_ring: Ints,
    text: Bytes,
    text_start: Ints,
    height: Int32s,
    width: Int32s,
    first: int,
    last: int,
) -> tuple[Int32s, Ints, Bytes]:
    """Return the masks of objects first … last−1: from the text where there is one, else the rings, else the box.

    Returns (edges, how many edges each object has, 1 where the text does not code an image of that size).
    """
    edges = np.empty(1024, np.int32)
    found, ring, merged = np.empty(64, np.int32), np.empty(64, np.int32), np.empty(64, np.int32)
    corners = np.empty(8)
    counts, faulty = np.zeros(last - first, np.int64), np.zeros(last - first, np.uint8)
    size = int64(0)
    for i in range(first, last):
        high, wide = int64(height[i]), int64(width[i])
        begin, end = text_start[i], text_start[i + 1]
        rings = object_ring[i + 1] - object_ring[i]
        most = end - begin + 2
        if end == begin:
            most = 2 * wide + 8
            if rings:
                most = 8
                for r in range(object_ring[i], object_ring[i + 1]):
                    most += _bound(points, ring_start[r], ring_start[r + 1], wide) + 2
        if size + most > len(edges):
            edges = _resized(edges, size, 2 * size + most)
        here = edges[size:]
        if end > begin:
            count = _decode(text, begin, end, high * wide, here)
            faulty[i - first] = count < 0
            counts[i - first] = max(count, 0)
            size += max(count, 0)
            continue
        if most > len(found):
            found, ring, merged = (
                np.empty(2 * most, np.int32),
                np.empty(2 * most, np.int32),
                np.empty(2 * most, np.int32),
            )
        x, y, x2, y2 = box[i, 0], box[i, 1], box[i, 0] + box[i, 2], box[i, 1] + box[i, 3]
        corners[0], corners[1], corners[2], corners[3] = x, y, x, y2
        corners[4], corners[5], corners[6], corners[7] = x2, y2, x2, y
        count = int64(0)
        for r in range(max(1, rings)):
            if rings:
                a, b = ring_start[object_ring[i] + r], ring_start[object_ring[i] + r + 1]
                crossed = _crossings(points, a, b, high, wide, found)
            else:
                crossed = _crossings(corners, int64(0), int64(8), high, wide, found)
            _sort(found, crossed)
            target = ring if r else here
            runs = int64(0)
            for j in range(0, crossed - 1, 2):
                runs = _append(target, runs, int64(found[j]), int64(found[j + 1]))
            if r:
                both = _union(here, count, ring, runs, merged)
                for j in range(both):
                    here[j] = merged[j]
                count = both
            else:
                count = runs
        counts[i - first] = count
        size += count
    return _resized(edges, size, size), counts, faulty


@compiled
def measure(edges: Int32s, start: Ints, height: Int32s) -> tuple[Ints, Floats]:
    """Return area [N] and box x, y, width, height [N, 4] of masks, as pycocotools has them; all 0 for an empty mask."""
    count = len(start) - 1
    area, box = np.zeros(count, np.int64), np.zeros((count, 4))
    for i in range(count):
        if start[i] == start[i + 1]:
            continue
        high = int64(height[i])
        top, bottom = high, 0
        for place in range(start[i], start[i + 1], 2):
            begin, end = int64(edges[place]), int64(edges[place + 1])
            area[i] += end - begin
            y, y2 = begin % high, begin % high + end - begin
            if y2 > high:  # over several columns: from the upper edge to the lower
                y, y2 = 0, high
            top, bottom = min(top, y), max(bottom, y2)
        left, right = edges[start[i]] // high, (edges[start[i + 1] - 1] - 1) // high
        box[i, 0], box[i, 1], box[i, 2], box[i, 3] = left, top, right - left + 1, bottom - top
    return area, box


@compiled
def overlaps(
    prediction: Int32s,
    truth: Int32s,
    first: int,
    last: int,
    prediction_edges: Int32s,
    prediction_start: Ints,
    prediction_area: Ints,
    prediction_box: Floats,
    truth_edges: Int32s,
    truth_start: Ints,
    truth_area: Ints,
    truth_box: Floats,
    crowd: Bytes,
    floor: float,
    iou: Floats,
) -> None:
    """Fill the IoU [P] of pairs first … last−1 of masks; 0 instead of a value below `floor`."""
    for pair in range(first, last):
        d, g = prediction[pair], truth[pair]
        own, other = prediction_area[d], truth_area[g]
        across = min(prediction_box[d, 0] + prediction_box[d, 2], truth_box[g, 0] + truth_box[g, 2]) - max(
            prediction_box[d, 0], truth_box[g, 0]
        )
        down = min(prediction_box[d, 1] + prediction_box[d, 3], truth_box[g, 1] + truth_box[g, 3]) - max(
            prediction_box[d, 1], truth_box[g, 1]
        )
        iou[pair] = 0.0
        if across <= 0 or down <= 0 or own == 0 or other == 0:
            continue
        most = min(int64(across * down), own, other)
        whole = own if crowd[g] else own + other - most
        if most / whole < floor:
            continue
        a, last_a = prediction_start[d], prediction_start[d + 1]
        b, last_b = truth_start[g], truth_start[g + 1]
        shared = 0
        while a < last_a and b < last_b:
            end, other_end = prediction_edges[a + 1], truth_edges[b + 1]
            shared += max(min(end, other_end) - max(prediction_edges[a], truth_edges[b]), 0)
            if end <= other_end:
                a += 2
            if other_end <= end:
                b += 2
        value = shared / (own if crowd[g] else own + other - shared)
        iou[pair] = value if value >= floor else 0.0


@compiled
def encode(edges: Int32s, start: Ints, pixels: Ints) -> tuple[Bytes, Ints]:
    """Return COCO's compressed text of masks: the characters and where each mask's begin [N + 1]."""
    count = len(start) - 1
    text, places = np.empty(7 * (len(edges) + 2 * count), np.uint8), np.zeros(count + 1, np.int64)
    size = 0
    for i in range(count):
        position = last = last_but_one = 0
        for run in range(start[i + 1] - start[i] + 1):
            if run < start[i + 1] - start[i]:
                end = int64(edges[start[i] + run])
            elif position < pixels[i]:
                end = pixels[i]
            else:
                break
            value = end - position - (last_but_one if run > 2 else 0)
            last_but_one, last, position = last, end - position, end
            more = True
            while more:
                code = value & 0x1F
                value >>= BITS
                more = value != (-1 if code & NEGATIVE else 0)
                text[size] = (code | MORE if more else code) + CHARACTER
                size += 1
        places[i + 1] = size
    return text[:size].copy(), places
