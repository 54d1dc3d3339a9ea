"""Resamples and half-samples of clusters; paired resamples of units."""

import numpy as np
import pytest

from metrics.stats.bootstrap import MAX_DRAWN_GROUPS, Draws, draw_halves, draw_weights


def test_clusters_are_drawn_whole_and_the_seed_decides():
    clusters = np.array([0, 0, 1, 2, 2, 2], np.int32)
    weights = draw_weights(clusters, 200, 4)
    assert np.array_equal(weights, draw_weights(clusters, 200, 4))
    assert not np.array_equal(weights, draw_weights(clusters, 200, 5))
    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert np.array_equal(weights[:, 3], weights[:, 5])
    assert np.array_equal(weights[:, [0, 2, 3]].sum(axis=1), np.full(200, 3))
    assert draw_weights(clusters[:0], 3).shape == (3, 0)


def test_half_samples_spread_as_the_mean_does():
    values = np.random.default_rng(0).random(101)
    halves = draw_halves(np.arange(101, dtype=np.int32), 4_000)
    spread = (halves @ values / halves.sum(axis=1)).std()
    assert spread == pytest.approx(values.std(ddof=1) / np.sqrt(101), rel=0.05)


def test_paired_resamples_follow_from_the_suite_and_the_seed():
    drawn = Draws.of(np.arange(30), 20)
    assert np.array_equal(drawn.times, Draws.of(np.arange(30), 20).times)
    assert not np.array_equal(drawn.times, Draws.of(np.arange(30), 20, seed=1).times)
    assert (drawn.single, Draws.of(np.zeros(3, np.int64), 20).single) == (True, False)
    assert [len(Draws.of(units, 20).times) for units in (np.zeros(3, np.int64), np.zeros(0, np.int64))] == [1, 1]


@pytest.mark.parametrize("n", [50, MAX_DRAWN_GROUPS + 1, 3 * MAX_DRAWN_GROUPS])
def test_paired_resamples_spread_as_the_mean_does(n):
    values = np.random.default_rng(0).random(n)
    draws = Draws.of(np.arange(n), 2_000)
    assert draws.times.shape[1] == min(n, MAX_DRAWN_GROUPS)
    sums, sizes = draws.sums(np.zeros(n, np.int64), 1, values), draws.sums(np.zeros(n, np.int64), 1)
    assert sums[0] / sizes[0] == pytest.approx(values.mean(), rel=1e-6)
    assert (sums / sizes)[1:].std() == pytest.approx(values.std(ddof=1) / np.sqrt(n), rel=0.06)
