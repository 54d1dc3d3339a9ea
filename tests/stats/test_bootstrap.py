"""Bootstrap intervals of means against scipy, the normal interval and their coverage."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from metrics.stats.bootstrap import MANY, bootstrap_means
from metrics.stats.intervals import wilson


def interval(values: Any, weights: Any = None, clusters: Any = None, **options: Any) -> tuple[float, float]:
    """The interval of one column."""
    low, high = bootstrap_means(
        np.asarray(values, dtype=float)[:, None],
        None if weights is None else np.asarray(weights, dtype=float),
        None if clusters is None else np.asarray(clusters, dtype=np.int64),
        **options,
    )
    return float(low[0]), float(high[0])


@pytest.mark.parametrize(("values", "options"), [
    pytest.param([], {}, id="no-values"),
    pytest.param([0.5], {}, id="one-value"),
    pytest.param([0.5, np.nan], {}, id="one-value-and-a-gap"),
    pytest.param([0.5, 0.7], {"clusters": [0, 0]}, id="one-cluster"),
    pytest.param([0.5, 0.7], {"weights": [0, 0]}, id="no-weight"),
])  # fmt: skip
def test_there_is_none(values: list[float], options: dict[str, Any]) -> None:
    assert np.isnan(interval(values, **options)).all()


@pytest.mark.parametrize("n", [2, 7, 200, MANY + 1])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_equal_values_at_an_end_are_as_sure_as_wilsons_share(share: float, n: int) -> None:
    assert interval([share] * n, low=0.0, high=1.0) == pytest.approx(wilson(share * n, n))


def test_equal_values_within_the_range_leave_room_for_others() -> None:
    assert interval([0.3] * 16, low=0.0, high=1.0) == pytest.approx((0.24192, 0.43553), abs=1e-5)  # 16 of 19.84
    assert interval([3.0] * 16, low=-1.0, high=9.0) == pytest.approx(
        (3 - 4 * 3.84146 / 19.84146, 3 + 6 * 3.84146 / 19.84146), abs=1e-5
    )


@pytest.mark.parametrize("options", [{}, {"low": 0.0}, {"high": 1.0}], ids=["open", "from 0", "to 1"])
def test_equal_values_in_an_open_range_say_nothing_of_the_next(options: dict[str, Any]) -> None:
    assert np.isnan(interval([0.25] * 7, **options)).all()


@pytest.mark.parametrize("n", [40, 400, 3 * MANY], ids=str)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_of_zeros_and_ones_it_is_wilsons(n: int, share: float) -> None:
    values = np.repeat([1.0, 0.0], [round(share * n), n - round(share * n)])
    assert interval(values, low=0.0, high=1.0) == pytest.approx(wilson(values.sum(), n), abs=0.4 / n + 0.002)


def test_near_scipys_bca() -> None:
    values = np.random.default_rng(1).beta(2, 5, 300)
    expected = bootstrap((values,), np.mean, n_resamples=4000, method="BCa", rng=2).confidence_interval
    for options in ({}, {"low": 0.0, "high": 1.0}):
        assert interval(values, resamples=4000, **options) == pytest.approx((expected.low, expected.high), abs=0.003)


def test_each_column_has_its_own_range() -> None:
    values = np.random.default_rng(10).beta(4, 1, (25, 3))
    ends = np.array([[0.0, 0.0, -np.inf], [1.0, np.inf, np.inf]])
    together = np.array(bootstrap_means(values, low=ends[0], high=ends[1]))
    for column in range(3):
        alone = interval(values[:, column], low=ends[0, column], high=ends[1, column])
        assert tuple(together[:, column]) == pytest.approx(alone, rel=1e-6)


def test_same_seed_same_interval() -> None:
    values = np.random.default_rng(6).random(40)
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values, seed=1) != interval(values, seed=2)


SCORES = {
    "around the middle": (lambda rng, size: rng.beta(2, 5, size), 2 / 7),
    "near the top": (lambda rng, size: rng.beta(5, 0.5, size), 10 / 11),
    "mostly 1": (lambda rng, size: np.where(rng.random(size) < 0.85, 1.0, rng.beta(1, 3, size)), 0.8875),
    "mostly 0": (lambda rng, size: np.where(rng.random(size) < 0.7, 0.0, rng.beta(2, 2, size)), 0.15),
    "quarters": (lambda rng, size: rng.choice(5, size, p=[0.05, 0.1, 0.15, 0.2, 0.5]) / 4, 0.75),
}


@pytest.mark.parametrize("n", [12, 50])
@pytest.mark.parametrize("kind", SCORES)
def test_coverage(kind: str, n: int) -> None:
    """400 samples side by side, a column each: 93–97 % by the benchmark, here with the noise of 400."""
    draw, mean = SCORES[kind]
    low, high = bootstrap_means(draw(np.random.default_rng(7), (n, 400)), low=0.0, high=1.0, resamples=1_000)
    assert 0.92 <= np.mean((low <= mean) & (high >= mean)) <= 0.99


@pytest.mark.parametrize("clusters", [6, 25])
def test_coverage_of_clusters(clusters: int) -> None:
    """Half of a cluster's four scores are its own common one."""
    rng = np.random.default_rng(8)
    own = rng.beta(5, 1, (clusters, 400)).repeat(4, axis=0)
    scores = np.where(rng.random(own.shape) < 0.5, own, rng.beta(5, 1, own.shape))
    low, high = bootstrap_means(scores, None, np.arange(clusters).repeat(4), low=0.0, high=1.0, resamples=1_000)
    assert 0.92 <= np.mean((low <= 5 / 6) & (high >= 5 / 6)) <= 0.985


@pytest.mark.parametrize(("clusters", "times"), [(5, 4), (8, 4), (10, 1), (20, 4)])
def test_coverage_with_one_large_cluster(clusters: int, times: int) -> None:
    """One has as many cases as all others, or four times as many: with equal ones' variance and t, 38 to 91 %."""
    rng = np.random.default_rng(clusters)
    sizes = np.array([4 * times * (clusters - 1), *[4] * (clusters - 1)])
    scores = rng.normal(0.5, 0.1, (clusters, 400)).repeat(sizes, axis=0) + rng.normal(0, 0.1, (sizes.sum(), 400))
    low, high = bootstrap_means(scores, None, np.arange(clusters).repeat(sizes), low=0.0, high=1.0, resamples=500)
    assert np.mean((low <= 0.5) & (high >= 0.5)) >= 0.93


@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_a_few_low_values_do_not_make_the_interval_reach_the_end_of_the_range(low: float) -> None:
    values = np.concatenate([[0.02, 0.11, 0.14], np.linspace(0.89, 0.95, 27)])[:, None]
    lower, upper = bootstrap_means(values, low=low, high=1.0)
    assert 0.5 < lower[0] < values.mean() < upper[0] < 0.93
