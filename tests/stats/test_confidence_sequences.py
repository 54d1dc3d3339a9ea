"""Confidence sequences: worked numbers, what an interval must be, and that they seldom ever miss."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, special

from metrics.stats.sequential import BETS, SEQUENCE_LEVEL, bounds, evidence_above, evidence_below, thresholds

BINARY = np.array([0.0, 1.0])


def test_a_capital_by_hand() -> None:
    """Against .8 a unit of 0 wins θ · .8 / .2 and one of 1 loses θ: (1 + 4θ)² (1 − θ), the mean over the bets."""
    expected = np.log(np.mean((1 + 4 * BETS) ** 2 * (1 - BETS)))
    assert evidence_below(np.array([2, 1]), BINARY, 0.8) == pytest.approx(expected)
    assert evidence_above(np.array([1, 2]), BINARY, 0.2) == pytest.approx(expected), "the other side, mirrored"
    stretches = np.array([[2, 1], [0, 1]])
    assert evidence_below(stretches, BINARY, 0.8) == pytest.approx([expected, np.log(np.mean(1 - BETS))])


def test_all_starts_together_spend_the_level_once() -> None:
    spent = np.exp(-thresholds(np.arange(1_600_000)))  # of one side
    later = (
        sum(5 * (1_600_000 / scale) ** -0.2 / special.zeta(1.2) for scale in (1, 8, 64)) / 3
    )  # integrals of the rest
    beyond = later / 2 * SEQUENCE_LEVEL / 2
    assert spent.sum() + beyond == pytest.approx(SEQUENCE_LEVEL / 2, rel=1e-6)
    assert np.exp(-thresholds(np.array([0]), 0.01)) == pytest.approx([0.01 / 2 / 2])


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [(45, 50, 0.681, 0.986), (180, 200, 0.807, 0.958), (900, 1_000, 0.862, 0.930), (0, 50, 0.0, 0.136)],
)
def test_the_interval_is_where_the_capital_stays_below_its_limit(passed: int, n: int, low: float, high: float) -> None:
    """By scipy's root of the capital, computed another way; and kept as numbers."""

    def side(k: int) -> float:
        def excess(m: float) -> float:
            paths = k * np.log1p(-BETS) + (n - k) * np.log1p(BETS * m / (1 - m))
            return float(special.logsumexp(paths) - np.log(len(BETS)) + np.log(SEQUENCE_LEVEL / 2 / 2))

        return float(optimize.brentq(excess, k / n, 1 - 1e-9)) if k < n else 1.0

    found = bounds(np.array([n - passed, passed]), BINARY, float(thresholds(np.array(0))))
    assert found == pytest.approx((1 - side(n - passed), side(passed)), abs=1e-5)
    assert found == pytest.approx((low, high), abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60))
def test_an_interval_has_its_mean_inside_and_its_mirror_image(values: list[float]) -> None:
    kinds, counts = np.unique(values, return_counts=True)
    low, high = bounds(counts, kinds, 4.0)
    assert 0 <= low <= np.mean(values) + 1e-6
    assert np.mean(values) - 1e-6 <= high <= 1
    mirrored = bounds(counts, 1 - kinds, 4.0)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-5)


def test_nothing_is_excluded_without_units_and_by_one() -> None:
    assert bounds(np.array([0, 0]), BINARY, 4.0) == (0.0, 1.0)
    assert bounds(np.array([0, 1]), BINARY, 4.0) == (pytest.approx(0.0, abs=0.02), 1.0)


@pytest.mark.parametrize("rate", [0.5, 0.9])
@pytest.mark.parametrize("clustered", [False, True])
def test_looked_at_a_hundred_times_from_any_start_it_hardly_ever_misses(rate: float, clustered: bool) -> None:
    """400 streams of 1,000 units, looked at after every ten; stretches from each hundredth unit."""
    streams = (np.random.default_rng(5).random((400, 1_000, 4 if clustered else 1)) < rate).mean(axis=2)
    kinds, codes = np.unique(streams, return_inverse=True)
    hits = codes.reshape(streams.shape)[..., None] == np.arange(len(kinds))
    total = np.concatenate([np.zeros((400, 1, len(kinds)), np.int64), hits.cumsum(axis=1)], axis=1)
    missed = np.zeros(400, bool)
    for start in range(0, 1_000, 100):
        counts = total[:, start + 10 :: 10] - total[:, start : start + 1]
        needed = thresholds(np.array(start // 10))
        for evidence in (evidence_below, evidence_above):
            missed |= (evidence(counts, kinds, rate) >= needed).any(axis=1)
    assert missed.mean() <= SEQUENCE_LEVEL
