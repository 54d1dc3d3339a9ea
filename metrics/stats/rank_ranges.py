"""The ranks that models may have, from estimates that are not independent."""

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.corrections import holm, is_significant
from metrics.stats.float_tolerance import difference_errors, distance_in_errors
from metrics.stats.student_t import student_p


def rank_ranges(values: Floats, covariance: Floats, freedom: float) -> tuple[Ints, Ints]:
    """Return the best and the worst rank [m] that each of m models may have, 1 the one with the highest value.

    Best: 1 + how many models are significantly higher; worst: m − how many are significantly lower. Pairs are tested by
    Student's t of `freedom` degrees of freedom with the `covariance` [m, m] of the values, Holm over all pairs, 5 %.
    """
    m = len(values)
    one, other = np.triu_indices(m, 1)
    apart = values[one] - values[other]
    t = distance_in_errors(apart, difference_errors(covariance, one, other))
    clear = is_significant(holm(student_p(t, np.full(len(t), freedom))))
    higher, lower = np.where(apart > 0, one, other)[clear], np.where(apart > 0, other, one)[clear]
    best, worst = 1 + np.bincount(lower, minlength=m), m - np.bincount(higher, minlength=m)
    return best.astype(np.int64), worst.astype(np.int64)
