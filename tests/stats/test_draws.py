"""Resamples and half-samples of clusters."""

import numpy as np
import pytest

from metrics.stats.draws import draw_halves, draw_weights


def test_clusters_are_drawn_whole_and_the_seed_decides():
    clusters = np.array([0, 0, 1, 2, 2, 2], np.int32)
    weights = draw_weights(clusters, 200, 4)
    assert np.array_equal(weights, draw_weights(clusters, 200, 4))
    assert not np.array_equal(weights, draw_weights(clusters, 200, 5))
    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert np.array_equal(weights[:, 3], weights[:, 5])
    assert np.array_equal(weights[:, [0, 2, 3]].sum(axis=1), np.full(200, 3))
    assert draw_weights(clusters[:0], 3).shape == (3, 0)


@pytest.mark.parametrize("count", [1, 4, 7])
def test_half_samples_hold_half_of_the_clusters_and_then_the_rest(count):
    clusters = np.array([0, 0, 1, 2, 2, 3, 4, 5, 6], np.int32)
    halves = draw_halves(clusters, count, 4)
    assert halves.shape == (count, 9)
    assert set(np.unique(halves)) == {0, 1}
    assert np.array_equal(halves[:, 0], halves[:, 1])
    assert np.array_equal(halves[:, 3], halves[:, 4])
    assert set(halves[::2][:, [0, 2, 3, 5, 6, 7, 8]].sum(axis=1)) == {3}
    assert np.array_equal(halves[1::2], 1 - halves[0:-1:2])
    assert np.array_equal(halves, draw_halves(clusters, count, 4))
    assert draw_halves(clusters[:0], 3).shape == (3, 0)


def test_half_samples_spread_as_the_mean_does():
    values = np.random.default_rng(0).random(101)
    halves = draw_halves(np.arange(101, dtype=np.int32), 4_000)
    spread = (halves @ values / halves.sum(axis=1)).std()
    assert spread == pytest.approx(values.std(ddof=1) / np.sqrt(101), rel=0.05)
