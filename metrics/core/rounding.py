"""Comparisons that rounding must not decide: a computed number that equals a limit on paper differs from it in its last
bits, and which way depends on the processor, the number of threads and the order of a sum.
"""

from typing import overload

import numpy as np

from metrics.core.array_types import Bools, Floats

EQUAL = 1e-12  # by which values differ that are equal on paper, and sums of few of them
NEAR = 1e-9  # the same of results of long computations, relative where they are above 1


@overload
def at_least(value: float, limit: float) -> bool: ...
@overload
def at_least(value: Floats, limit: float) -> Bools: ...
def at_least(value: Floats | float, limit: float) -> Bools | bool:
    """Return whether a computed value is at or above a limit, or short of it by rounding alone; NaN never is.

    >>> at_least((0.7 + 0.8 + 0.9) / 3, 0.8), at_least(0.1 * 3 - 0.2, 0.1), at_least(0.799, 0.8)
    (True, True, False)
    """
    return value >= limit - NEAR * max(1.0, abs(limit))


@overload
def at_most(value: float, limit: float) -> bool: ...
@overload
def at_most(value: Floats, limit: float) -> Bools: ...
def at_most(value: Floats | float, limit: float) -> Bools | bool:
    """Return whether a computed value is at or below a limit, or past it by rounding alone; NaN never is.

    >>> at_most(0.1 + 0.2, 0.3), at_most(0.301, 0.3)
    (True, False)
    """
    return value <= limit + NEAR * max(1.0, abs(limit))


def at_least_sql(value: str, limit: str) -> str:
    """Return the SQL of `at_least`, of two expressions."""
    return f"({value} >= {limit} - {NEAR} * greatest(1, abs({limit})))"


def same_number(one: Floats | float, other: Floats | float) -> Bools:
    """Return where two computed numbers are equal, or differ by rounding alone; infinite ones equal themselves.

    >>> bool(same_number(0.1 + 0.2, 0.3)), bool(same_number(1.0, 1.001))
    (True, False)
    """
    return np.asarray(np.isclose(one, other, rtol=NEAR, atol=NEAR), np.bool_)
