"""The one test of whether two models differ on the same cases, for every place that calls one of them better.

`paired_tests` chooses the test by the data; `resample_tests` is for metrics of a whole data set. A p is before any
correction: see metrics.stats.corrections. A pair of models is called different where the adjusted p is at most LEVEL.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.cluster_variance import cluster_variance
from metrics.stats.float_tolerance import distance_in_errors, ratio, root
from metrics.stats.student_t import student_p

Test = Literal["mcnemar", "sign_flips", "t"]
TESTS: tuple[Test, ...] = ("mcnemar", "sign_flips", "t")
MCNEMAR, SIGN_FLIPS, STUDENT = range(3)  # places in TESTS
FEW = 13  # units that differ, up to which all 2¹³ sign patterns are counted
AT_ONCE = 1 << 22  # cells of a matrix held at once
RARE = 10  # resamples: a share of fewer is not known


@dataclass(frozen=True, slots=True)
class PairedTests:
    """Tests of m columns of paired differences; every array is [m].

    difference: the weighted mean, 0 without pairs; error: its standard error, s / √n, with clusters or weights that of
    cluster_variance, NaN with fewer than two units; pairs: how many there are; units: the independent ones among them
    (clusters, or cases); freedom: the error's degrees of freedom, n − 1, of unequal units fewer, 0 of fewer than two;
    p: two-sided, of no difference, 1 where no unit differs; test: the place in TESTS.
    """

    difference: Floats
    error: Floats
    pairs: Ints
    units: Ints
    freedom: Floats
    p: Floats
    test: Ints


def paired_tests(
    differences: Floats, weights: Floats | None = None, clusters: Ints | None = None, binary: bool | Bools = False
) -> PairedTests:
    """Test each column of paired `differences` [n, m] for a mean other than 0; NaN is no pair.

    weights: [n], default 1; clusters: [n] codes, default every case its own; binary, one or [m]: the differences of a
    column are of values 0 or 1, given once a case.

    - Binary columns without weights and clusters: McNemar's mid-p, see `mcnemar_mid_p`.
    - Else up to FEW units that differ: all sign patterns. If the models are interchangeable, the sum over each unit
      could as well have the other sign; p is the share of patterns whose total lies as far from 0 (Fisher 1935).
    - Else Student's t of the mean over its standard error, never below 2^(1 − k) for k units that differ, the least
      that flipped signs reach.

    >>> paired_tests(np.array([[1.0], [2.0], [3.0], [4.0]])).p.round(4).tolist()
    [0.125]
    """
    absent = np.isnan(differences)
    mass = np.ones((len(differences), 1)) if weights is None else weights[:, None]
    sums = differences if weights is None else differences * mass
    pairs = len(differences) - np.count_nonzero(absent, axis=0)
    if (pairs < len(differences)).any():
        mass, sums = np.where(absent, 0.0, mass), np.where(absent, 0.0, sums)
    squares = None if weights is None else mass**2
    if clusters is not None and len(sums):
        sums, mass = _by_cluster(sums, clusters), _by_cluster(mass, clusters)
        squares = None if squares is None else _by_cluster(squares, clusters)
    units, total = (np.broadcast_to(of, pairs.shape) for of in (np.count_nonzero(mass, axis=0), mass.sum(axis=0)))
    mean = ratio(sums.sum(axis=0), total, 0.0)
    plain = weights is None and clusters is None
    error, freedom = _errors(sums, mass, mass if squares is None else squares, mean, units, plain)
    differ = np.abs(sums) > EQUAL
    active = np.count_nonzero(differ, axis=0)
    right = np.broadcast_to(binary, active.shape) & plain
    few = ~right & (active <= FEW)
    p, test = np.ones(len(mean)), np.where(right, MCNEMAR, SIGN_FLIPS)
    if right.any():
        wins = np.count_nonzero(sums[:, right] > EQUAL, axis=0)
        p[right] = mcnemar_mid_p(wins, active[right] - wins)
    for count in np.unique(active[few & (active > 0)]).tolist():
        same = few & (active == count)
        p[same] = _sign_flips(sums[:, same].T[differ[:, same].T].reshape(-1, count))
    rest = ~right & ~few
    test[rest] = STUDENT
    tested = rest & (np.abs(mean) > EQUAL)
    least = 2.0 ** (1.0 - np.minimum(active[tested], 1_000))
    p[tested] = np.maximum(student_p(distance_in_errors(mean[tested], error[tested]), freedom[tested]), least)
    return PairedTests(mean, error, pairs, units, freedom, p, test)


def _errors(
    sums: Floats, mass: Floats, squares: Floats, mean: Floats, units: Ints, plain: bool
) -> tuple[Floats, Floats]:
    """Return the standard errors [m] of the means and their degrees of freedom; NaN and 0 with fewer than two units."""
    error, freedom = np.full(len(mean), np.nan), np.zeros(len(mean))
    known = units > 1
    residuals = sums - mass * mean
    if plain:
        total = np.einsum("nm,nm->m", residuals, residuals)[known]
        count = units[known]
        error[known], freedom[known] = np.sqrt(count / (count - 1) * total) / count, count - 1
    elif known.any():
        rows = (each if each.shape[1] == 1 else each[:, known] for each in (residuals, mass, squares))
        variance, freedom[known] = cluster_variance(*rows)
        error[known] = root(variance)
    return error, freedom


def mcnemar_mid_p(wins: Ints | int, losses: Ints | int) -> Floats:
    """Return the mid-p of McNemar's test: 2·P(X < m) + P(X = m) with m = min(wins, losses).

    X is binomial with n = wins + losses and ½; wins, losses: the two kinds of discordant pairs, one each or arrays. 1
    without discordant pairs. The exact test rejects far less often than its level says; the mid-p test keeps the level
    in practice at all sizes.
    Source: Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13:91, 2013.

    >>> float(mcnemar_mid_p(1, 7).round(4))
    0.0391
    """
    m, n = np.minimum(wins, losses), np.add(wins, losses)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(np.max(n, initial=0)) + 1)))])
    found = np.empty(m.size)
    reach = int(np.max(np.minimum(m, 6 * np.sqrt(n) + 20), initial=0))  # terms farther below m do not count
    step = max(1, AT_ONCE // (reach + 1))
    for start in range(0, m.size, step):
        k, of = (np.ravel(part)[start : start + step, None] for part in (m, n))
        at = k - np.arange(reach + 1)
        below = np.maximum(at, 0)
        terms = np.exp(logs[of] - logs[below] - logs[of - below] - of * math.log(2)) * (at >= 0)
        found[start : start + step] = np.minimum(1.0, 2.0 * terms[:, 1:].sum(axis=1) + terms[:, 0])
    return found.reshape(np.shape(m))


def _sign_flips(values: Floats) -> Floats:
    """Return the share of sign patterns of each row of `values` [m, k] whose sum lies as far from 0 as its own."""
    signs, found = _signs(values.shape[1]), np.empty(len(values))
    step = max(1, AT_ONCE // len(signs))
    for start in range(0, len(values), step):
        rows = values[start : start + step]
        least = np.abs(rows.sum(axis=1)) - NEAR * np.abs(rows).sum(axis=1)
        found[start : start + step] = (np.abs(rows @ signs.T) >= least[:, None]).mean(axis=1)
    return found


@lru_cache(maxsize=FEW)
def _signs(count: int) -> Floats:
    """Return the patterns [2^(count − 1), count] of signs that end with +: the others are their mirror images."""
    bits = np.arange(1 << (count - 1))[:, None] >> np.arange(count)
    return np.where(bits & 1, -1.0, 1.0)


def _by_cluster(rows: Floats, clusters: Ints) -> Floats:
    """Return the sums [c, m] of `rows` [n, m] over each cluster that there is."""
    if (np.diff(clusters) < 0).any():
        order = np.argsort(clusters, kind="stable")
        rows, clusters = rows[order], clusters[order]
    return np.add.reduceat(rows, np.flatnonzero(np.diff(clusters, prepend=-1)))


def resample_tests(differences: Floats, samples: Floats) -> Floats:
    """Return the two-sided p [m] of `differences` [m] of two models, from those in B resamples, `samples` [m, B].

    Both models are computed on the same resamples of the cases; NaN: a resample without a value of both.
    p = (1 + #{b : |sample − difference| ≥ |difference|}) / (1 + B): how often resampling alone moves the difference as
    far as it lies from 0. Where fewer than RARE resamples do, the normal tail by their standard deviation if that is
    less: B resamples cannot show a p that a correction for many tests would leave standing. 1 where no resample shows
    any difference, as of equal models, or none has a value of both.
    Source: Davison & Hinkley, Bootstrap Methods and their Application, 1997, ch. 4.4.

    >>> resample_tests(np.array([0.1]), np.array([[-0.1, 0.1, 0.3]])).round(3).tolist()
    [0.54]
    """
    if not samples.size:  # no resamples, as of a single group of cases
        return np.ones(len(differences))
    count = np.count_nonzero(~np.isnan(samples), axis=1)
    away = np.abs(samples - differences[:, None]) >= np.abs(differences)[:, None] * (1 - NEAR) - EQUAL
    moved = np.count_nonzero(away, axis=1)
    p = (1 + moved) / (1 + count)
    error = np.nanstd(np.where(count[:, None] > 0, samples, 0.0), axis=1)
    normal = [
        math.erfc(abs(apart) / spread / math.sqrt(2)) if spread > NEAR else 1.0
        for apart, spread in zip(differences.tolist(), error.tolist(), strict=True)
    ]
    return np.asarray(np.where(moved < RARE, np.minimum(p, normal), p))
