"""Comparisons that rounding must not decide: a computed number that equals a limit on paper differs from it in its last
bits, and which way depends on the processor, the number of threads and the order of a sum. So do the last digits of a
number that is written for other tools.
"""

import math
from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any, TypeVar, overload

import numpy as np

from metrics.core.array_types import Bools, Floats

EQUAL = 1e-12  # by which values differ that are equal on paper, and sums of few of them
DIGITS = 15  # significant ones that a double holds of every number; the rest is noise of the arithmetic
NEAR = 1e-9  # the same of results of long computations, relative where they are above 1

Tree = TypeVar("Tree")


def exact_sum(values: Iterable[float]) -> float:
    """Return the sum of numbers, rounded once; infinite or NaN where it is beyond the floats.

    The built-in `sum` rounds after each addend before Python 3.12, and less often since.

    >>> exact_sum([0.1] * 10), exact_sum([1e308, 1e308])
    (1.0, inf)
    """
    addends = list(values)
    try:
        return math.fsum(addends)
    except (OverflowError, ValueError):  # numbers too large for it, or infinite ones of both signs
        return float(reduce(add, addends, 0.0))


def none_if_nan(value: float | None) -> float | None:
    """Return a number as Python's own; None for NaN and for none."""
    return None if value is None or math.isnan(value) else float(value)


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


def verdict(value: float | None, threshold: float | None, direction: str) -> bool | None:
    """Return whether a value is on the good side of a threshold, or on it but for rounding.

    None where it has no value, or NaN, or there is no threshold or no better side of it (`direction` none).
    """
    if value is None or value != value or threshold is None or direction == "none":
        return None
    return (at_most if direction == "lower" else at_least)(value, threshold)


def at_least_sql(value: str, limit: str) -> str:
    """Return the SQL of `at_least`, of two expressions."""
    return f"({value} >= {limit} - {NEAR} * greatest(1, abs({limit})))"


def same_number(one: Floats | float, other: Floats | float) -> Bools:
    """Return where two computed numbers are equal, or differ by rounding alone; infinite ones equal themselves.

    >>> bool(same_number(0.1 + 0.2, 0.3)), bool(same_number(1.0, 1.001))
    (True, False)
    """
    return np.asarray(np.isclose(one, other, rtol=NEAR, atol=NEAR), np.bool_)


def round_tree(value: Tree) -> Tree:
    """Return `value` with every float in its dictionaries, lists and tuples rounded to DIGITS significant digits.

    It differs from the computed number by at most 5 in the 16th digit. JSON that is exported has such numbers.

    >>> round_tree({"mean": [0.1 + 0.2, 2 / 3, 1]})
    {'mean': [0.3, 0.666666666666667, 1]}
    """
    result: Any = value
    if isinstance(value, float):
        result = float(f"{value:.{DIGITS}g}")
    elif isinstance(value, dict):
        result = {name: round_tree(entry) for name, entry in value.items()}
    elif isinstance(value, list | tuple):
        result = type(value)(round_tree(entry) for entry in value)
    return result  # type: ignore[no-any-return]
