"""The three ways of drawing sums agree with each other and with the moments of the bootstrap."""

import numpy as np
import pytest

from metrics.stats.bootstrap import resampled_sums

WAYS = {"often the same rows": (500, 5000), "rows": (0, 5000), "normal": (0, 0)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grouped", [False, True], ids=["alone", "grouped"])
def test_moments_are_those_of_the_bootstrap(way: str, grouped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = WAYS[way]
    monkeypatch.setattr("metrics.stats.bootstrap.MAX_DISTINCT_ROWS", few)
    monkeypatch.setattr("metrics.stats.bootstrap.MAX_EXACT_CLUSTERS", many)
    rows = np.random.default_rng(0).integers(0, 3, (400, 3)).astype(float)
    rows[:, 2] = rows[:, 0]  # dependent columns
    clusters = np.arange(400) // 4 if grouped else np.arange(400)
    units = rows.reshape(100, 4, 3).sum(axis=1) if grouped else rows
    drawn = resampled_sums(rows, clusters, resamples=4000)
    assert drawn.shape == (4000, 3)
    np.testing.assert_allclose(drawn[:, 2], drawn[:, 0], rtol=1e-4)
    np.testing.assert_allclose(drawn.mean(axis=0), rows.sum(axis=0), rtol=0.01)
    deviation = np.sqrt(len(units)) * units.std(axis=0)
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.05)


def test_the_same_seed_draws_the_same() -> None:
    rows = np.random.default_rng(1).random((50, 2))
    first, second = (resampled_sums(rows, np.arange(50), seed=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_equal_rows_of_any_number_give_certain_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.stats.bootstrap.MAX_DISTINCT_ROWS", 0)
    monkeypatch.setattr("metrics.stats.bootstrap.MAX_EXACT_CLUSTERS", 0)
    np.testing.assert_allclose(resampled_sums(np.zeros((9, 2)), np.arange(9)), 0.0, atol=1e-100)
