"""Intervals of labels that are of several raters: outputs of a case are alike, and so are a rater's labels."""

import math

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.sampling_design import cluster_codes
from metrics.stats.cluster_variance import cluster_sums, cluster_variance, design_freedom
from metrics.stats.student_t import student

FEWEST_FREEDOM = 4.0  # five equal raters: fewer show nothing of others


def allows_for_raters(raters: Ints, weights: Floats | None = None) -> bool:
    """Return whether there are raters enough, five equal ones or more uneven ones, to speak of others like them."""
    return design_freedom(cluster_codes(raters), weights) >= FEWEST_FREEDOM - 1e-9


def crossed_widening(moved: Floats, masses: Floats, clusters: Ints, raters: Ints) -> float:
    """Return by which factor, at least 1, an interval over clusters has to be wider to hold for other raters, too.

        √((V_case + V_rater − V_both) / V_case) · t(raters) / t(cases), at least 1

    moved: [n] how much each label moves the number; masses: [n] its weight; clusters, raters: [n] codes. V sums the
    squares of the sums of `moved` over cases, raters and what is of one case and rater; that of raters is corrected for
    their number and unequal shares (CR2), with Satterthwaite's degrees of freedom. 1 where raters are too few to say,
    see allows_for_raters: the interval then holds for these raters alone.
    Source: Cameron, Gelbach & Miller, Journal of Business & Economic Statistics 29:238, 2011.
    """
    cases, people = cluster_codes(clusters), cluster_codes(raters)
    if not moved.any() or not allows_for_raters(people, masses):
        return 1.0
    both = cluster_codes(cases * (people.max() + 1) + people)
    rows = np.column_stack([moved, masses, masses**2])
    sums, weights, squares = cluster_sums(rows, people).T[:, :, None]
    by_rater, freedom = cluster_variance(sums, weights, squares)
    by_case, by_both = (float((np.bincount(codes, moved) ** 2).sum()) for codes in (cases, both))
    if by_case <= 0:
        return 1.0
    factor = 1 + (float(by_rater[0]) * masses.sum() ** 2 - by_both) / by_case
    if factor <= 1:
        return 1.0
    return math.sqrt(factor) * max(1.0, student(float(freedom[0])) / student(max(1, int(cases.max()))))
