"""Arrays whose values stand in segments, one after the other, of different sizes."""

import numpy as np

from metrics.core.array_types import Floats, Ints


def first_highest(values: Floats, sizes: Ints) -> Ints:
    """Return the place of the highest of the values [m] of each segment, the first of equals: [n].

    sizes: [n], each at least 1; their sum is m. No value may be NaN.

    >>> first_highest(np.array([1.0, 3.0, 3.0, 2.0]), np.array([3, 1])).tolist()
    [1, 3]
    """
    if not len(sizes):
        return np.zeros(0, np.int64)
    begin = np.cumsum(sizes) - sizes
    places = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, begin), sizes))
    return places if len(places) == len(sizes) else places[np.searchsorted(places, begin)]
