"""A scanner of COCO results and annotations in their plain form, into columns.

It never decides that a file is wrong, only that it is not plain: a JSON library then reads the file.

Plain is a record {"image_id": n, "category_id": n, "bbox": [x, y, width, height], "score": s}, its keys in any order,
with JSON's blanks where JSON allows them; an annotation has "area", "id" and perhaps "iscrowd" instead of "score", and
may have other keys. Anything else ends the scan.

The bytes end with a 0, which no rule accepts: as every step forward is over a byte that was recognised, no index passes
it.
"""

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bytes, Floats, Ints
from metrics.vision.compiled.jit import compiled, int64

SHORTEST = 57  # bytes of the shortest record
NOT_PLAIN = -1
BOX, NUMBER, ID = 2, 3, 4  # places of keys


def _words(*names: bytes) -> NDArray[np.uint64]:
    """Return the first eight bytes of each name, and the next eight, as numbers: [2 K]."""
    return np.array([int.from_bytes(part) for name in names for part in (name[:8], name[8:])], np.uint64)


RESULT = _words(b"image_id", b"category_id", b"bbox", b"score")
ANNOTATION = _words(b"image_id", b"category_id", b"bbox", b"area", b"id", b"iscrowd")
Place = np.uint64  # with a sign, every index would be checked for one from the end
NOWHERE, ONE = np.uint64(0), np.uint64(1)
EXACT = 1 << 53  # whole numbers up to here are exact in floating point
MOST = 9 * 10**17  # with one more digit it still fits into 63 bits
SMALLEST = 22  # 10²² is the largest power of ten that is exact in floating point
TENS = np.array([10.0**k for k in range(SMALLEST + 1)])
SPLIT = 134217729.0  # 2²⁷ + 1 halves the bits of a float (Veltkamp)
NEAR = 2.0**-48
MINUS, PLUS, POINT, ZERO, NINE = 45, 43, 46, 48, 57


@compiled
def _blank(data: Bytes, i: Place) -> Place:
    """Return the place of the first byte from i on that is not blank."""
    while data[i] <= 32 and (data[i] == 32 or data[i] == 10 or data[i] == 13 or data[i] == 9):
        i += ONE
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
def _number(data: Bytes, i: Place, values: Floats, place: int) -> Place:
    """Read a JSON number into values[place]; the place behind it, NOWHERE where none is, or none surely exact."""
    negative = data[i] == MINUS
    if negative:
        i += ONE
    begin = i
    whole = np.int64(0)
    while ZERO <= data[i] <= NINE:
        if whole >= MOST:
            return NOWHERE
        whole = whole * 10 + np.int64(data[i] - ZERO)
        i += ONE
    if i == begin or (data[begin] == ZERO and i > begin + ONE):  # no digit, or 01
        return NOWHERE
    power = np.int64(0)
    if data[i] == POINT:
        i += ONE
        begin = i
        while ZERO <= data[i] <= NINE:
            if whole >= MOST:
                return NOWHERE
            whole = whole * 10 + np.int64(data[i] - ZERO)
            i += ONE
        power = np.int64(i - begin)
        if power == 0:
            return NOWHERE
    if data[i] == 101 or data[i] == 69:  # e, E
        i += ONE
        down = data[i] == MINUS
        if down or data[i] == PLUS:
            i += ONE
        begin = i
        exponent = np.int64(0)
        while ZERO <= data[i] <= NINE and i < begin + np.uint64(3):
            exponent = exponent * 10 + np.int64(data[i] - ZERO)
            i += ONE
        if i == begin:
            return NOWHERE
        power += exponent if down else -exponent
    if power < 0 or power > SMALLEST:
        return NOWHERE
    size = _quotient(whole, power)
    if np.isnan(size):
        return NOWHERE
    values[place] = -size if negative else size
    return i


@compiled
def _integer(data: Bytes, i: Place, values: Ints, place: int) -> Place:
    """Read digits into values[place]; the place behind them, NOWHERE where there are none, or more than 18."""
    begin = i
    whole = np.int64(0)
    while ZERO <= data[i] <= NINE and whole < MOST:
        whole = whole * 10 + np.int64(data[i] - ZERO)
        i += ONE
    if i == begin or (data[begin] == ZERO and i > begin + ONE) or whole >= MOST:
        return NOWHERE
    values[place] = whole
    return i


@compiled
def _box(data: Bytes, i: Place, box: Floats, place: int) -> Place:
    """Read [x, y, width, height] into box from place on; the place behind it or NOWHERE."""
    if data[i] != 91:  # [
        return NOWHERE
    for side in range(4):
        i = _number(data, _blank(data, i + ONE), box, place + side)
        if i == NOWHERE:
            return NOWHERE
        i = _blank(data, i)
        if data[i] != (44 if side < 3 else 93):  # , and ]
            return NOWHERE
    return i + ONE


@compiled
def _key(data: Bytes, i: Place, names: NDArray[np.uint64]) -> tuple[int, Place]:
    """Return which of the names, as _words has them, stands before the next quote, or their number; the place behind.

    NOT_PLAIN and the place where an escape or a control character stands.
    """
    begin = i
    head = tail = np.uint64(0)
    while data[i] != 34:
        byte = data[i]
        if byte == 92 or byte < 32:
            return NOT_PLAIN, i
        if i < begin + np.uint64(8):
            head = head << np.uint64(8) | np.uint64(byte)
        else:
            tail = tail << np.uint64(8) | np.uint64(byte)
        i += ONE
    known = len(names) // 2
    if i > begin + np.uint64(16):
        return known, i + ONE
    for key in range(known):
        if names[2 * key] == head and names[2 * key + 1] == tail:
            return key, i + ONE
    return known, i + ONE


@compiled
def _skip(data: Bytes, i: Place) -> Place:
    """Return the place behind a value of JSON known to be valid; NOWHERE where the bytes end in it."""
    depth = 0
    while data[i] != 0:
        byte = data[i]
        if depth == 0 and (byte == 44 or byte == 93 or byte == 125):
            return i
        i += ONE
        if byte == 34:
            while data[i] != 34:
                if data[i] == 92:
                    i += ONE
                if data[i] == 0:
                    return NOWHERE
                i += ONE
            i += ONE
        elif byte == 91 or byte == 123:
            depth += 1
        elif byte == 93 or byte == 125:
            depth -= 1
    return NOWHERE


@compiled
def scan_records(data: Bytes, names: NDArray[np.uint64], whole: Ints, box: Floats, number: Floats) -> int:
    """Fill the columns from records separated by commas; how many there are, NOT_PLAIN where something else stands.

    data: the bytes and a 0. names: RESULT or ANNOTATION; the JSON of annotations must be valid. The columns
    have room for M records, one in each SHORTEST bytes: whole [2 M], of annotations [4 M], has the image ids, category
    ids, ids and crowds, box is [4 M], number [M].
    """
    if not len(data) or data[len(data) - 1] != 0:
        return NOT_PLAIN
    end = np.uint64(len(data) - 1)
    room = len(number)
    known = len(names) // 2
    needed = 31 if known > ID else 15
    count = int64(0)
    i = _blank(data, np.uint64(0))
    while True:
        if data[i] != 123 or count == room:  # {
            return NOT_PLAIN
        seen = 0
        while True:
            i = _blank(data, i + ONE)
            if data[i] != 34:  # "
                return NOT_PLAIN
            key, i = _key(data, i + ONE, names)
            if key < 0 or (key == known and needed == 15) or (key < known and seen & (1 << key)):
                return NOT_PLAIN
            seen |= 1 << key
            i = _blank(data, i)
            if data[i] != 58:  # :
                return NOT_PLAIN
            i = _blank(data, i + ONE)
            if key == BOX:
                i = _box(data, i, box, 4 * count)
            elif key == NUMBER:
                i = _number(data, i, number, count)
            elif key == known:
                i = _skip(data, i)
            else:
                row = key if key < BOX else key - 2
                i = _integer(data, i, whole, row * room + count)
            if i == NOWHERE:
                return NOT_PLAIN
            i = _blank(data, i)
            if data[i] == 125:  # }
                break
            if data[i] != 44:  # ,
                return NOT_PLAIN
        if seen & needed != needed:
            return NOT_PLAIN
        count += 1
        i = _blank(data, i + ONE)
        if i == end:
            return count
        if data[i] != 44:
            return NOT_PLAIN
        i = _blank(data, i + ONE)
