"""Student's t without scipy, which is too slow to import for the start page: a quantile and both tails."""

import math

import numpy as np

from metrics.core.array_types import Floats, Numbers
from metrics.core.rounding import exact_sum

Z95 = 1.959963984540054  # the standard normal's 97.5 % point
SMALL = 12  # degrees of freedom up to which the tail is integrated
FEW = (0.67940139, 1.14879033, 0.92980441, -0.21598066)  # of 1/ν: the logarithm of the point at 1 to 3 degrees
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def student(freedom: float) -> float:
    """Return the 97.5 % point of Student's t, by Cornish and Fisher's expansion; infinite below 1 degree of freedom.

    The error is below 0.15 % from 3 degrees of freedom; at 1 and 2 the exact 12.706 and 4.303, between by a polynomial
    that is fitted to the exact points, to 0.01 %. Source: Abramowitz & Stegun 26.7.5.

    >>> round(student(10), 3), round(student(1.5), 3)
    (2.228, 6.017)
    """
    if freedom < 1:
        return math.inf
    if freedom < 3:
        exact: dict[float, float] = {1: 12.706204736432095, 2: 4.302652729911275}
        return exact.get(freedom) or math.exp(exact_sum(term / freedom**power for power, term in enumerate(FEW)))
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + float(exact_sum(term / freedom**power for power, term in enumerate(terms, 1)))


def student_p(t: Floats, freedom: Numbers) -> Floats:
    """Return the two-sided p of Student's `t` ≥ 0 with `freedom` ≥ 1 degrees of freedom, whole or not.

    Exact up to SMALL degrees, beyond by Wallace's normal score.

    z = (8ν + 1) / (8ν + 3) · √(ν·ln(1 + t²/ν)): p down to .0001 is too large by 3 % at most. Sources: Abramowitz &
    Stegun 26.7.1; Wallace, Annals of Mathematical Statistics 30:1121, 1959.

    >>> student_p(np.array([2.228]), np.array([10])).round(3).tolist()
    [0.05]
    """
    with np.errstate(over="ignore"):
        score = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t * t / freedom))
    p = np.array([math.erfc(one / math.sqrt(2)) for one in score.tolist()])
    small = freedom <= SMALL
    angle = np.arctan2(np.sqrt(freedom[small]), t[small])
    p[small] = _sines(angle, freedom[small]) / _sines(np.full(len(angle), math.pi / 2), freedom[small])
    return p


def _sines(angle: Floats, freedom: Numbers) -> Floats:
    """Return the integral of sin^(ν − 1) from 0 to `angle`; at angle·y⁴, so that it is smooth in y for any ν ≥ 1."""
    y = (NODES + 1) / 2
    height = np.sin(angle[:, None] * y**4) ** (freedom[:, None] - 1)
    return angle * (height @ (2 * WEIGHTS * y**3))
