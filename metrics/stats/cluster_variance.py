"""Variance of a mean of clusters that are few or unequal, its degrees of freedom, and of labels of several raters."""

import math

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.sampling_design import cluster_codes
from metrics.stats.student_t import student

NEAR = 1e-12  # relative: what is left of a residual whose cluster has all but nothing beside it
MAX_K = 1e6  # of k in the degrees of freedom, which with more would be lost in rounding; they are nearly 1 there
TINY = np.finfo(np.float64).tiny


def cluster_variance(residuals: Floats, masses: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the variance [m] of weighted means over c ≥ 2 clusters, and its degrees of freedom [m], 1 … c − 1.

    residuals: [c, m], a cluster's sum of w·(x − mean); masses, squares: its sums of w and w², [c, m] or, where all
    columns have the same rows, [c, 1].

    With W and Q a cluster's masses and squares, h = W / ΣW, b = Q / (ΣW)² and S = Σb:

        variance = Σ k·r² / (ΣW)²      k = b / (b·(1 − 2·h) + S·h²)

    A mean is drawn towards its largest cluster, whose residual is so too small: k makes up for that, exactly where
    cases are independent and vary alike (CR2). Satterthwaite's degrees of freedom of that variance under the same
    model are S² / Σ m_gk² over the pairs of clusters, with m_gg = b and m_gk² = p_g·p_k·(S − u_g − u_k)², p = h²·k and
    u = b / h. With clusters of one mass: c / (c − 1)·Σ r² / (ΣW)², and c − 1. One cluster with nearly all of the mass:
    nearly 1.
    Sources: Bell & McCaffrey, Survey Methodology 28:169, 2002; Pustejovsky & Tipton, Journal of Business & Economic
    Statistics 36:672, 2018.

    >>> two = np.array([[2.0], [2.0]])  # clusters of two cases with the means 0 and 1
    >>> variance, freedom = cluster_variance(np.array([[-1.0], [1.0]]), two, two)
    >>> variance.tolist(), freedom.tolist()
    ([0.25], [1.0])
    """
    total = masses.sum(axis=0)
    h, b = masses / total, squares / total**2
    spread = b.sum(axis=0)
    k = b / np.maximum(b * (1 - 2 * h) + spread * h * h, NEAR * b + TINY)
    variance = np.einsum("cm,cm,cm->m", np.broadcast_to(k, residuals.shape), residuals, residuals) / total**2
    k = np.minimum(k, MAX_K)
    pull = h * k
    p, pu, puu = (np.einsum("cm,cm->m", *pair) for pair in ((pull, h), (pull, b), (k * b, b)))
    own = pull * (spread * h - 2 * b)
    alone = np.einsum("cm,cm->m", b, b) - np.einsum("cm,cm->m", own, own)
    together = alone + spread**2 * p**2 + 2 * p * puu + 2 * pu**2 - 4 * spread * p * pu
    freedom = np.clip(spread**2 / together, 1.0, np.count_nonzero(masses, axis=0) - 1.0)
    return variance, np.broadcast_to(freedom, variance.shape)


def design_freedom(clusters: Ints, weights: Floats | None = None) -> float:
    """Return the degrees of freedom of means over cases in `clusters` (codes [n]) with `weights` [n], default 1.

    One more is how many equal clusters they are worth. 0 of a single cluster, and of none.

    >>> [round(design_freedom(np.repeat([0, 1, 2], sizes)), 2) for sizes in ([5, 5, 5], [8, 1, 1])]
    [2.0, 1.25]
    """
    mass = np.ones(len(clusters)) if weights is None else weights
    masses, squares = (np.bincount(clusters, own)[:, None].astype(np.float64) for own in (mass, mass**2))
    present = masses[masses > 0]
    if len(present) < 2:
        return 0.0
    if weights is None and present.min() == present.max():
        return len(present) - 1.0  # which the sums below miss by their rounding
    return float(cluster_variance(np.zeros_like(masses), masses, squares)[1][0])


def cluster_sums(rows: Floats, clusters: Ints) -> Floats:
    """Return the column sums [c, m] of `rows` [n, m] over each cluster, codes [n] of 0 … c−1."""
    count = int(clusters.max(initial=-1)) + 1
    return np.stack([np.bincount(clusters, column, count) for column in rows.T], axis=1)


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
