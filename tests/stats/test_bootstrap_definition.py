"""Bootstrap intervals against their definition, worked out unit by unit, with a root finder for the ends."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from metrics.stats import bootstrap
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.cluster_variance import cluster_variance

Unit = tuple[float, float, float]  # of a cluster the sums of weight · value, of the weights and of their squares


def spread(units: list[Unit], count: int) -> tuple[float, float]:
    """The mean of drawn units and its variance, with c / (c − 1) of the units that there are."""
    mass = sum(own for _, own, _ in units)
    mean = sum(total for total, *_ in units) / mass
    squares = sum((total - mean * own) ** 2 for total, own, _ in units)
    return mean, count / (count - 1) * squares / mass**2


def robust(units: list[Unit]) -> tuple[float, float, float]:
    """The mean, its variance and degrees of freedom; see test_cluster_variance for these."""
    mean, _ = spread(units, 2)
    columns = np.array([(total - mean * own, own, square) for total, own, square in units]).T
    variance, freedom = cluster_variance(*(column[:, None] for column in columns))
    return mean, float(variance[0]), float(freedom[0])


def expected(values, weights, clusters, low, high, resamples, seed) -> tuple[float, float]:
    groups: dict[int, Unit] = {}
    for value, weight, cluster in zip(values, weights, clusters, strict=True):
        total, mass, square = groups.get(cluster, (0.0, 0.0, 0.0))
        if not math.isnan(value):
            total, mass, square = total + weight * value, mass + weight, square + weight**2
        groups[cluster] = total, mass, square
    units = [groups[cluster] for cluster in sorted(groups)]
    count = sum(mass > 0 for _, mass, _ in units)

    def v(p: float) -> float:
        return max(0.0, (1.0 if low == -math.inf else p - low) * (1.0 if high == math.inf else high - p))

    mean, squared, freedom = robust(units)
    phi = squared / v(mean)
    closed = math.isfinite(low) and math.isfinite(high)
    pivots = []
    for times in bootstrap._draws(len(units), resamples, seed).astype(int).tolist():
        drawn = [unit for unit, often in zip(units, times, strict=True) for _ in range(often)]
        if not sum(mass for _, mass, _ in drawn):
            pivots.append(0.0)
            continue
        other, own = spread(drawn, count)
        known = own > 1e-9 and v(other) > 0
        own_phi = own / v(other) if known else 1 / (freedom + 1) if closed else phi
        own_phi = max(own_phi, bootstrap.LEAST_SPREAD * phi) if closed else own_phi
        pivots.append((other - mean) / math.sqrt(own_phi * v(mean)))
    below, above = np.quantile(pivots, [0.025, 0.975])
    t = float(stats.t.ppf(0.975, freedom))

    def end(q: float, sign: int) -> float:
        far = min(max(mean + sign * 1e3, low), high)
        apart = lambda p: (p - mean) ** 2 - q * q * phi * v(p)  # noqa: E731
        return far if apart(far) < 0 else float(brentq(apart, mean, far))

    return end(max(t, above), -1), end(max(t, -below), 1)


OPEN, SHARE, FROM_0, TO_1 = (-math.inf, math.inf), (0.0, 1.0), (0.0, math.inf), (-math.inf, 1.0)


@pytest.mark.parametrize(
    "ends", [OPEN, SHARE, FROM_0, TO_1, (-2.0, 3.0)], ids=["open", "share", "from-0", "to-1", "wide"]
)
@pytest.mark.parametrize(("weighted", "clustered", "gaps"), list(itertools.product([False, True], repeat=3)))
def test_the_ends_are_those_of_the_definition(ends, weighted: bool, clustered: bool, gaps: bool) -> None:
    rng = np.random.default_rng(3)
    n = 30 if clustered else 12
    values, weights = rng.beta(4, 1, n), rng.integers(0, 4, n).astype(float)
    clusters = np.arange(n) // 3 if clustered else np.arange(n)
    if gaps:
        values[[2, 5]] = np.nan
        values[9:12] = np.nan  # the whole of a cluster
    if weighted:
        weights[:9] = [3, 1, 2, 2, 1, 1, 3, 2, 1]
    given = (weights if weighted else None, clusters if clustered else None)
    found = bootstrap_means(values[:, None], *given, 4, 150, *ends, withhold=False)
    wanted = expected(values, weights if weighted else np.ones(n), clusters, *ends, 150, 4)
    assert (found[0][0], found[1][0]) == pytest.approx(wanted, rel=2e-4, abs=2e-4)


def test_a_resample_of_equal_values_has_the_largest_variance_of_its_range() -> None:
    """Of one value that differs from five others many resamples see nothing."""
    values = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.4])
    for ends in (SHARE, OPEN):
        found = bootstrap_means(values[:, None], None, None, 0, 150, *ends, withhold=False)
        wanted = expected(values, np.ones(6), np.arange(6), *ends, 150, 0)
        assert (found[0][0], found[1][0]) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("ends", [OPEN, SHARE], ids=["open", "share"])
def test_beyond_many_units_students_t_takes_the_place_of_resamples(ends, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten values with mean .55 and s² = .0917: .55 ± 2.262 · √.00917, in an open range."""
    values = np.arange(0.1, 1.05, 0.1)[:, None]
    resampled = bootstrap_means(values, None, None, 0, 150, *ends)
    monkeypatch.setattr(bootstrap, "MANY", 10)
    assert np.array(bootstrap_means(values, None, None, 0, 150, *ends)) == pytest.approx(np.array(resampled))
    monkeypatch.setattr(bootstrap, "MANY", 9)
    half = 2.26216 * math.sqrt(values.var(ddof=1) / 10)
    q = 2.26216**2 * values.var(ddof=1) / 10 / (0.55 * 0.45)  # d² = q · (p − p²), solved by hand
    middle, root = (2 * 0.55 + q) / (2 + 2 * q), math.sqrt((2 * 0.55 + q) ** 2 - 4 * (1 + q) * 0.55**2) / (2 + 2 * q)
    wanted = (0.55 - half, 0.55 + half) if ends == OPEN else (middle - root, middle + root)
    low, high = bootstrap_means(values, None, None, 0, 150, *ends)
    assert (low[0], high[0]) == pytest.approx(wanted, rel=1e-4)


def test_each_resample_draws_as_many_units_as_there_are() -> None:
    drawn = bootstrap._draws(7, 40, 1)
    assert drawn.shape == (40, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert len({tuple(row) for row in drawn.tolist()}) > 35
    assert (drawn.mean(axis=0) > 0.5).all()
