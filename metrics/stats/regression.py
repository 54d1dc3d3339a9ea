"""Least squares with errors that may be correlated within clusters."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import NEAR
from metrics.stats.float_tolerance import distance_in_errors, root
from metrics.stats.student_t import student, student_p


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient with its 95 % interval, and the two-sided p of a coefficient of 0."""

    value: float
    low: float
    high: float
    p: float


def clustered_coefficient(x: Floats, others: Floats, y: Floats, clusters: Ints) -> Coefficient | None:
    """Return how much y [n] rises with x [n] at equal `others` [n, k] (no constant among them), by least squares.

    The variance is the sandwich over clusters (codes [n]), (XᵀX)⁻¹ (Σ Xᵍᵀeᵍeᵍᵀ Xᵍ) (XᵀX)⁻¹ · c/(c−1) · (n−1)/(n−k),
    the interval Student's with c − 1 degrees of freedom. None where x does not vary beyond the others, or fewer than
    three clusters or more unknowns than observations are left. Source: Liang & Zeger 1986; Cameron & Miller 2015.
    """
    n = len(y)
    count = len(np.unique(clusters))
    around = np.column_stack([np.ones(n), others])
    rank = int(np.linalg.matrix_rank(around))
    if count < 3 or n <= rank + 1:
        return None
    own = x - around @ np.linalg.lstsq(around, x, rcond=None)[0]  # the part of x that the others do not explain
    size = float(own @ own)
    if size <= NEAR * max(1.0, float(x @ x)):
        return None
    value = float(own @ y) / size
    left = y - around @ np.linalg.lstsq(around, y, rcond=None)[0] - value * own
    sums = np.bincount(clusters, own * left)
    error = root(float(sums @ sums) * count / (count - 1) * (n - 1) / (n - rank - 1)) / size
    half = student(count - 1) * float(error)
    p = float(student_p(distance_in_errors(np.array([value]), error), np.array([count - 1]))[0])
    return Coefficient(value, value - half, value + half, p)
