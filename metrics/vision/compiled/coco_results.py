"""A scanner of COCO results in their plain form, into columns.

It never decides that a file is wrong, only that it is not plain: a JSON library then reads the file.

Plain is a record {"image_id": n, "category_id": n, "bbox": [x, y, width, height], "score": s}, its keys in any order,
with JSON's blanks where JSON allows them. Anything else ends the scan.

The bytes end with a 0, which no rule accepts: as every step forward is over a byte that was recognised, no index passes
it.
"""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Ints
from metrics.vision.compiled.jit import compiled, int64

SHORTEST = 57  # bytes of the shortest record
NOT_PLAIN = -1
IMAGE, CATEGORY, BOX, SCORE = 1, 2, 4, 8
WHOLE = 15
KEYS = np.frombuffer(b'image_id"category_id"bbox"score"', np.uint8)
IMAGE_AT, CATEGORY_AT, BOX_AT, SCORE_AT, KEYS_END = 0, 9, 21, 26, 32
EXACT = 1 << 53  # whole numbers up to here are exact in floating point
MOST = 9 * 10**17  # with one more digit it still fits into 63 bits
SMALLEST = 22  # 10²² is the largest power of ten that is exact in floating point
TENS = np.array([10.0**k for k in range(SMALLEST + 1)])
SPLIT = 134217729.0  # 2²⁷ + 1 halves the bits of a float (Veltkamp)
NEAR = 2.0**-48
MINUS, PLUS, POINT, ZERO, NINE = 45, 43, 46, 48, 57


@compiled
def _blank(data: Bytes, i: int) -> int:
    """Return the place of the first byte from i on that is not blank."""
    while data[i] == 32 or data[i] == 10 or data[i] == 13 or data[i] == 9:
        i += 1
    return i


@compiled
def _quotient(whole: np.int64, power: np.int64) -> np.float64:
    """Return whole / 10^power rounded once, for 0 ≤ whole < 2⁶³ and power ≤ 22; NaN where the rounding is uncertain.

    Up to 2⁵³ both are exact, and so is the rounding of their quotient. Beyond, whole = high + low exactly; with the
    quotient q of high, its exact remainder r = high − q · 10^power (the product in two halves, by Dekker) gives
    whole / 10^power = q + (r + low) / 10^power. That correction is within some 2⁻⁵¹ of itself: where q and it, made
    greater and less by 2⁻⁴⁸, have one sum, this is the nearest float.
    """
    divisor: np.float64 = TENS[power]
    if whole <= EXACT:
        return whole / divisor
    high = np.float64(whole)
    low = np.float64(whole - np.int64(high))
    q = high / divisor
    product = q * divisor
    big = SPLIT * q
    q1 = big - (big - q)
    q2 = q - q1
    big = SPLIT * divisor
    d1 = big - (big - divisor)
    d2 = divisor - d1
    lost = ((q1 * d1 - product) + q1 * d2 + q2 * d1) + q2 * d2
    correction = ((high - product) - lost + low) / divisor
    more, less = q + correction * (1 + NEAR), q + correction * (1 - NEAR)
    return more if more == less else np.float64(np.nan)


@compiled
def _number(data: Bytes, i: int, values: Floats, place: int) -> int:
    """Read a JSON number into values[place]; the place behind it, NOT_PLAIN where none is, or none surely exact."""
    negative = data[i] == MINUS
    if negative:
        i += 1
    begin = i
    whole = np.int64(0)
    while ZERO <= data[i] <= NINE:
        if whole >= MOST:
            return NOT_PLAIN
        whole = whole * 10 + np.int64(data[i] - ZERO)
        i += 1
    if i == begin or (data[begin] == ZERO and i > begin + 1):  # no digit, or 01
        return NOT_PLAIN
    power = np.int64(0)
    if data[i] == POINT:
        i += 1
        begin = i
        while ZERO <= data[i] <= NINE:
            if whole >= MOST:
                return NOT_PLAIN
            whole = whole * 10 + np.int64(data[i] - ZERO)
            i += 1
        power = np.int64(i - begin)
        if power == 0:
            return NOT_PLAIN
    if data[i] == 101 or data[i] == 69:  # e, E
        i += 1
        down = data[i] == MINUS
        if down or data[i] == PLUS:
            i += 1
        begin = i
        exponent = np.int64(0)
        while ZERO <= data[i] <= NINE and i < begin + 3:
            exponent = exponent * 10 + np.int64(data[i] - ZERO)
            i += 1
        if i == begin:
            return NOT_PLAIN
        power += exponent if down else -exponent
    if power < 0 or power > SMALLEST:
        return NOT_PLAIN
    size = _quotient(whole, power)
    if np.isnan(size):
        return NOT_PLAIN
    values[place] = -size if negative else size
    return i


@compiled
def _integer(data: Bytes, i: int, values: Ints, place: int) -> int:
    """Read digits into values[place]; the place behind them, NOT_PLAIN where there are none, or more than 18."""
    begin = i
    whole = np.int64(0)
    while ZERO <= data[i] <= NINE and whole < MOST:
        whole = whole * 10 + np.int64(data[i] - ZERO)
        i += 1
    if i == begin or (data[begin] == ZERO and i > begin + 1) or whole >= MOST:
        return NOT_PLAIN
    values[place] = whole
    return i


@compiled
def _box(data: Bytes, i: int, box: Floats, place: int) -> int:
    """Read [x, y, width, height] into box from place on; the place behind it or NOT_PLAIN."""
    if data[i] != 91:  # [
        return NOT_PLAIN
    for side in range(4):
        i = _number(data, _blank(data, i + 1), box, place + side)
        if i < 0:
            return NOT_PLAIN
        i = _blank(data, i)
        if data[i] != (44 if side < 3 else 93):  # , and ]
            return NOT_PLAIN
    return i + 1


@compiled
def scan_results(data: Bytes, image: Ints, category: Ints, box: Floats, score: Floats) -> int:
    """Fill the columns from records separated by commas; how many there are, NOT_PLAIN where something else stands.

    data: the bytes and a 0. The columns have room for a record in each SHORTEST bytes; box is [4 N].
    """
    end = len(data) - 1
    if end < 0 or data[end] != 0:
        return NOT_PLAIN
    count = int64(0)
    i = _blank(data, int64(0))
    while True:
        if data[i] != 123 or count == len(score):  # {
            return NOT_PLAIN
        seen = 0
        while True:
            i = _blank(data, i + 1)
            if data[i] != 34:  # "
                return NOT_PLAIN
            i += 1
            if data[i] == 105:
                key, place, stop = IMAGE, IMAGE_AT, CATEGORY_AT
            elif data[i] == 99:
                key, place, stop = CATEGORY, CATEGORY_AT, BOX_AT
            elif data[i] == 98:
                key, place, stop = BOX, BOX_AT, SCORE_AT
            else:
                key, place, stop = SCORE, SCORE_AT, KEYS_END
            if seen & key:
                return NOT_PLAIN
            seen |= key
            while place < stop:
                if data[i] != KEYS[place]:
                    return NOT_PLAIN
                i += 1
                place += 1
            i = _blank(data, i)
            if data[i] != 58:  # :
                return NOT_PLAIN
            i = _blank(data, i + 1)
            if key == IMAGE:
                i = _integer(data, i, image, count)
            elif key == CATEGORY:
                i = _integer(data, i, category, count)
            elif key == BOX:
                i = _box(data, i, box, 4 * count)
            else:
                i = _number(data, i, score, count)
            if i < 0:
                return NOT_PLAIN
            i = _blank(data, i)
            if data[i] == 125:  # }
                break
            if data[i] != 44:  # ,
                return NOT_PLAIN
        if seen != WHOLE:
            return NOT_PLAIN
        count += 1
        i = _blank(data, i + 1)
        if i == end:
            return count
        if data[i] != 44:
            return NOT_PLAIN
        i = _blank(data, i + 1)
