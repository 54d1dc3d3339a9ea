"""Resamples and half-samples of clusters; paired resamples of units."""

import numpy as np
import pytest

from metrics.stats.draws import MANY, Draws, draw_halves, draw_weights


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


def worth(sizes):
    """One more than Satterthwaite's degrees of freedom of CR2's variance of a mean, of unweighted cases."""
    h = sizes / sizes.sum()
    p = h**2 / (1 - h)
    return 1 + 1 / (p.sum() ** 2 - (p**2).sum() + (h**2).sum())


def test_units_of_one_size_are_worth_their_number():
    assert Draws.of(np.arange(30) // 5, 9).units == 6
    assert Draws.of(np.arange(30), 9).of_cases(np.arange(7)).units == 7
    assert Draws.of(np.zeros(3, np.int64), 9).units == 1


def test_paired_resamples_count_what_they_hold():
    units = np.array([0, 0, 1, 2, 2, 3])
    draws = Draws.of(units, 50, seed=3)
    assert np.array_equal(draws.times[0], np.ones(4))
    assert set(draws.times[1:].sum(axis=1)) == {3}  # one fewer than there are
    codes, values = np.array([0, 1, 1, 0, 2, 2]), np.arange(6.0)
    for cases in (np.arange(6), np.array([1, 3, 3, 5])):
        counts, sums = draws.sums(codes[cases], 3, cases=cases), draws.sums(codes[cases], 3, values[cases], cases)
        for times, count, total in zip(draws.times, counts, sums, strict=True):
            weight = times[units][cases]
            assert np.array_equal(count, np.bincount(codes[cases], weight, 3))
            assert np.array_equal(total, np.bincount(codes[cases], weight * values[cases], 3))
        part = draws.of_cases(cases)
        assert np.array_equal(part.sums(codes[cases], 3), counts)
        assert part.units == pytest.approx(worth(np.unique(units[cases], return_counts=True)[1]))


def test_paired_resamples_follow_from_the_suite_and_the_seed():
    drawn = Draws.of(np.arange(30), 20)
    assert np.array_equal(drawn.times, Draws.of(np.arange(30), 20).times)
    assert not np.array_equal(drawn.times, Draws.of(np.arange(30), 20, seed=1).times)
    assert (drawn.single, Draws.of(np.zeros(3, np.int64), 20).single) == (True, False)
    assert [len(Draws.of(units, 20).times) for units in (np.zeros(3, np.int64), np.zeros(0, np.int64))] == [1, 1]


@pytest.mark.parametrize("n", [50, MANY + 1, 3 * MANY])
def test_paired_resamples_spread_as_the_mean_does(n):
    values = np.random.default_rng(0).random(n)
    draws = Draws.of(np.arange(n), 2_000)
    assert draws.times.shape[1] == min(n, MANY)
    sums, sizes = draws.sums(np.zeros(n, np.int64), 1, values), draws.sums(np.zeros(n, np.int64), 1)
    assert sums[0] / sizes[0] == pytest.approx(values.mean(), rel=1e-6)
    assert (sums / sizes)[1:].std() == pytest.approx(values.std(ddof=1) / np.sqrt(n), rel=0.06)
