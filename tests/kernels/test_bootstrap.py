"""Bootstrap intervals of means against scipy, the normal interval and their coverage."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from metrics.kernels.bootstrap import MANY, bootstrap_means


def interval(values: Any, weights: Any = None, clusters: Any = None, **options: Any) -> tuple[float, float]:
    """The interval of one column."""
    low, high = bootstrap_means(
        np.asarray(values, dtype=float)[:, None],
        None if weights is None else np.asarray(weights, dtype=float),
        None if clusters is None else np.asarray(clusters, dtype=np.int64),
        **options,
    )
    return float(low[0]), float(high[0])


@pytest.mark.parametrize(
    ("values", "options"),
    [
        pytest.param([], {}, id="no-values"),
        pytest.param([0.5], {}, id="one-value"),
        pytest.param([0.5, np.nan], {}, id="one-value-and-a-gap"),
        pytest.param([0.5, 0.7], {"clusters": [0, 0]}, id="one-cluster"),
        pytest.param([0.5, 0.7], {"weights": [0, 0]}, id="no-weight"),
    ],
)
def test_there_is_none(values: list[float], options: dict[str, Any]) -> None:
    assert np.isnan(interval(values, **options)).all()


def test_equal_values_give_a_point() -> None:
    assert interval([0.25] * 7) == pytest.approx((0.25, 0.25))


def test_near_scipy() -> None:
    values = np.random.default_rng(1).beta(2, 5, 300)
    expected = bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=2).confidence_interval
    assert interval(values, resamples=4000) == pytest.approx((expected.low, expected.high), abs=0.003)


def test_near_the_normal_interval_where_it_takes_over() -> None:
    rng = np.random.default_rng(3)
    values, weights = rng.random(MANY), rng.integers(1, 4, MANY)
    below = interval(values, weights)
    above = interval(np.append(values, values.mean()), np.append(weights, 1))
    assert below == pytest.approx(above, abs=1e-3)


def test_equal_weights_and_clusters_of_one_change_nothing() -> None:
    values = np.random.default_rng(4).random(60)
    plain = interval(values)
    assert interval(values, weights=[2.0] * 60) == pytest.approx(plain)
    assert interval(values, clusters=range(60)) == pytest.approx(plain)


def test_a_gap_leaves_its_column_to_the_others() -> None:
    values = np.random.default_rng(8).random(50)
    with_gaps = np.concatenate([values, np.full(50, np.nan)])
    assert interval(with_gaps, resamples=4000) == pytest.approx(interval(values, resamples=4000), abs=0.02)


@pytest.mark.parametrize("large", [False, True], ids=["resampled", "normal"])
def test_clusters_widen_the_interval_by_the_root_of_their_size(large: bool) -> None:
    centres = np.random.default_rng(5).random(MANY + 1 if large else 200)
    values, clusters = np.repeat(centres, 4), np.repeat(np.arange(len(centres)), 4)
    low, high = interval(values)
    clustered_low, clustered_high = interval(values, clusters=clusters)
    assert (clustered_high - clustered_low) / (high - low) == pytest.approx(2, rel=0.1)


def test_same_seed_same_interval() -> None:
    values = np.random.default_rng(6).random(40)
    assert interval(values, seed=1) == interval(values, seed=1)
    assert interval(values, seed=1) != interval(values, seed=2)


def test_coverage_is_near_95_percent() -> None:
    """200 samples of 50 side by side: a column each."""
    low, high = bootstrap_means(np.random.default_rng(7).random((50, 200)))
    assert 0.88 <= np.mean((low <= 0.5) & (high >= 0.5)) <= 0.99
