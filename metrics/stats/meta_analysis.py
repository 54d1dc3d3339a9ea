"""Means of several models over several suites, not every model in each: what the suites say together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import exact_sum
from metrics.stats.float_tolerance import standard_errors, symmetric_inverse
from metrics.stats.model_ranking import linked_groups, rank_ranges
from metrics.stats.student_t import student

FEWEST_SUITES, FEWEST_FREEDOM = 3, 2  # with fewer, ranks would be wrong in 9 … 61 % where differences vary


class Study(NamedTuple):
    """One suite: the models [a] that answered it (places 0 … m − 1), their means [a] on the same cases, the covariance
    [a, a] of these means, and its degrees of freedom.
    """

    models: Ints
    means: Floats
    covariance: Floats
    freedom: float


@dataclass(frozen=True, eq=False, slots=True)
class AcrossSuites:
    """Models over suites; every array is [m].

    value: the mean over all suites that a model would have had it answered each, low … high its 95 % interval where
    the differences between models vary from suite to suite; common, common_low, common_high: the same where they are
    one in all suites. best, worst: ranks, 1 for the highest value, by the test of the differences (Holm over the
    pairs); None of fewer than FEWEST_SUITES suites or FEWEST_FREEDOM degrees of freedom, which leave τ nearly unknown.
    q, freedom, p: Cochran's test that the differences are one in all suites; i2: the share of their variance
    beyond that of the cases, 0 … 1; tau: the standard deviation of a difference between suites.
    """

    value: Floats
    low: Floats
    high: Floats
    common: Floats
    common_low: Floats
    common_high: Floats
    best: Ints | None
    worst: Ints | None
    q: float
    freedom: int
    p: float | None
    i2: float
    tau: float


def pooled_means(studies: Sequence[Study], models: int) -> AcrossSuites | None:
    """Return what several suites say of `models` models; None where no chain of suites connects all of them.

    mean of model i in suite s = μᵢ + βₛ + uᵢₛ + error,   u ~ N(0, τ²/2), errors with the covariance of s

    The suites' levels βₛ are fixed effects, so that only differences between models of one suite count, each weighted
    by the inverse of its variance; a value is μᵢ + the mean of all βₛ. Common: τ = 0. Else τ² is DerSimonian and
    Laird's, (Q − df) / tr(P·R) with the residual weights P and R the covariance of u at τ² = 1; with two models it is
    theirs, (Q − df) / (Σw − Σw²/Σw). With τ > 0 intervals have Student's t of df degrees of freedom and are widened by
    √max(1, Qτ / df), Qτ being the residual sum with τ (Hartung & Knapp 2001): few suites say little of τ.

    Sources: DerSimonian & Laird, Controlled Clinical Trials 7:177, 1986; White, Barrett, Jackson & Higgins, Research
    Synthesis Methods 3:111, 2012 (models as treatments of a network).
    """
    suites, rows = len(studies), sum(len(study.models) for study in studies)
    if not suites or linked_groups((study.models for study in studies), models).any():
        return None
    design, y, variance = np.zeros((rows, models + suites)), np.zeros(rows), np.zeros((rows, rows))
    at = 0
    for place, study in enumerate(studies):
        own = slice(at, at + len(study.models))
        design[np.arange(at, own.stop), study.models] = 1.0
        design[own, models + place] = 1.0
        y[own], variance[own, own] = study.means, study.covariance
        at = own.stop
    wanted = np.hstack([np.eye(models), np.full((models, suites), 1 / suites)])
    common, spread, residual, q = _solved(design, y, variance, wanted)
    freedom = rows - (models + suites - 1)
    loose = np.trace(residual) / 2
    tau2 = max(0.0, (q - freedom) / loose) if freedom > 0 and loose > 0 else 0.0
    cases = max(1.0, exact_sum(study.freedom for study in studies))
    common_half = student(cases) * standard_errors(spread)
    value, half, ranked = common, common_half, (spread, cases)
    if tau2 > 0:
        value, wide, _, left = _solved(design, y, variance + np.eye(rows) * tau2 / 2, wanted)
        wide = wide * max(1.0, left / freedom)
        half, ranked = student(freedom) * standard_errors(wide), (wide, float(freedom))
    best, worst = rank_ranges(value, *ranked)
    is_ranked = suites >= FEWEST_SUITES and freedom >= FEWEST_FREEDOM
    ends = (value - half, value + half, common, common - common_half, common + common_half)
    first, last = best if is_ranked else None, worst if is_ranked else None
    p = chi_square_p(q, freedom) if freedom > 0 else None
    i2 = max(0.0, 1 - freedom / q) if q > 0 else 0.0
    return AcrossSuites(value, *ends, first, last, float(q), freedom, p, i2, math.sqrt(tau2))


def mean_of_suites(
    means: Sequence[float], errors: Sequence[float], freedoms: Sequence[float]
) -> tuple[float, float, float]:
    """Return the mean of one model's means in S suites, each suite counting the same, and its 95 % interval.

    errors: standard errors; freedoms: their degrees of freedom. The variance is Σ error² / S², Student's t has the
    degrees of freedom of Satterthwaite, (Σ error²)² / Σ (error⁴ / freedom).
    """
    value, squares = float(np.mean(means)), np.square(errors)
    total = float(squares.sum())
    if total <= 0:
        return value, value, value
    freedom = total**2 / float((squares**2 / np.asarray(freedoms)).sum())
    half = student(max(1.0, freedom)) * math.sqrt(total) / len(means)
    return value, value - half, value + half


def chi_square_p(q: float, freedom: int) -> float:
    """Return the chance of a χ² with `freedom` ≥ 1 degrees of freedom of `q` or more, by its finite series.

    >>> round(chi_square_p(5.991, 2), 3), round(chi_square_p(7.815, 3), 3)
    (0.05, 0.05)
    """
    half = q / 2
    term = math.exp(-half) if freedom % 2 == 0 else 2 * math.sqrt(half / math.pi) * math.exp(-half)
    total, start = (term, 1.0) if freedom % 2 == 0 else (math.erfc(math.sqrt(half)), 1.5)
    steps = freedom // 2 - 1 if freedom % 2 == 0 else freedom // 2
    for step in range(steps):
        if freedom % 2 == 0:
            term *= half / (start + step)
            total += term
        else:
            total += term
            term *= half / (start + step)
    return min(1.0, total)


def _solved(design: Floats, y: Floats, variance: Floats, wanted: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return the wanted sums of coefficients, their covariance, the residual weights P and the residual sum."""
    weights = symmetric_inverse(variance)
    inverse = symmetric_inverse(design.T @ weights @ design)
    found = inverse @ design.T @ weights @ y
    apart = y - design @ found
    residual = weights - weights @ design @ inverse @ design.T @ weights
    spread, residual = (np.asarray(each, np.float64) for each in (wanted @ inverse @ wanted.T, residual))
    return wanted @ found, spread, residual, float(apart @ weights @ apart)
