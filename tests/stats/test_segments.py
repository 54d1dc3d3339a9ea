"""The highest value of each segment: the first of equals, as each segment alone says."""

import numpy as np

from metrics.stats.float_tolerance import first_highest


def test_it_is_the_argmax_of_each_segment() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        sizes = rng.integers(1, 6, int(rng.integers(0, 8)))
        values = rng.choice([-np.inf, 0.0, 0.5, 1.0], int(sizes.sum()))
        begin = np.cumsum(sizes) - sizes
        pairs = zip(begin.tolist(), sizes.tolist(), strict=True)
        expected = [start + int(values[start : start + size].argmax()) for start, size in pairs]
        assert first_highest(values, sizes).tolist() == expected
