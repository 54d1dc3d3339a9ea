"""Label maps: painted from runs, counted against each other, and the bands along the contours of their regions.

A position is y + x · height: columns one after another. A map holds the code of every pixel, −1 where it counts
nowhere.
"""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled, int64

HASHED = int64(2_654_435_761)  # Knuth's multiplier: neighbouring pairs come to lie apart


@compiled
def paint(edges: Int32s, start: Ints, first: int, last: int, code: Int32s, codes: Int32s) -> None:
    """Give the pixels of masks first … last−1 the code of theirs, of a later one where several cover a pixel."""
    for mask in range(first, last):
        for place in range(start[mask], start[mask + 1], 2):
            codes[edges[place] : edges[place + 1]] = code[mask]


@compiled
def band(codes: Int32s, height: int, distance: int) -> Bytes:
    """Return 1 for the pixels whose square of 2 · distance + 1 pixels leaves the image or holds another code, else 0.

    A square is of one code when its columns are, side by side: a column's part is looked for along its runs, then such
    parts are counted from column to column.
    """
    near = np.ones(len(codes), np.uint8)
    width = len(codes) // height
    ahead = np.zeros(height, np.int32)  # how many columns up to this one have, around that row, one and the same code
    for x in range(width):
        begin, column = 0, x * height
        for y in range(1, height + 1):
            if y < height and codes[column + y] == codes[column + begin]:
                continue
            for row in range(begin, y):
                if row - distance < begin or row + distance >= y:
                    ahead[row] = 0
                    continue
                place = column + row
                same = x > 0 and codes[place] == codes[place - height]
                ahead[row] = ahead[row] + 1 if same else 1
                if ahead[row] > 2 * distance:
                    near[place - distance * height] = 0
            begin = y
    return near


@compiled
def tally(truth: Int32s, prediction: Int32s, truth_band: Bytes, band: Bytes, confusion: Ints, bands: Ints) -> None:
    """Add the pixels of two maps to `confusion` [truth, prediction] and those in bands to `bands` [3, label].

    The rows of `bands`: in both maps, in the truth, in the prediction. A pixel whose truth is −1 is left out.
    """
    for pixel in range(len(truth)):
        actual, predicted = truth[pixel], prediction[pixel]
        if actual < 0:
            continue
        confusion[actual, predicted] += 1
        if truth_band[pixel]:
            bands[1, actual] += 1
        if band[pixel]:
            bands[2, predicted] += 1
            if truth_band[pixel] and actual == predicted:
                bands[0, actual] += 1


@compiled
def nearest(points: Ints, others: Ints) -> Floats:
    """Return the distance of each point [n, 2] to the nearest of the others [m, 2], of which there is one or more."""
    found = np.empty(len(points), np.float64)
    for i in range(len(points)):
        best = np.inf
        for j in range(len(others)):
            x, y = points[i, 0] - others[j, 0], points[i, 1] - others[j, 1]
            best = min(best, float(x * x + y * y))
        found[i] = np.sqrt(best)
    return found


@compiled
def shared_runs(
    edges: Int32s, code: Int32s, other_edges: Int32s, other_code: Int32s, width: int, pairs: Ints, pixels: Ints
) -> None:
    """Count the pixels that two maps share, for each pair of codes, in an open hash table.

    edges [R, 2]: the first position of each run and the one past its last, rising and without overlap; code [R].
    pairs, pixels [H]: code · width + other code of each pair, −1 where free, and its pixels, 0 at first; H is a power
    of two above the number of runs of both.
    """
    i = j = 0
    last = len(pairs) - 1
    while i < len(code) and j < len(other_code):
        shared = min(edges[i, 1], other_edges[j, 1]) - max(edges[i, 0], other_edges[j, 0])
        if shared > 0:
            pair = np.int64(code[i]) * width + other_code[j]
            place = (pair * HASHED) & last
            while pairs[place] != pair and pairs[place] >= 0:
                place = (place + 1) & last
            pairs[place] = pair
            pixels[place] += shared
        if edges[i, 1] <= other_edges[j, 1]:
            i += 1
        else:
            j += 1
