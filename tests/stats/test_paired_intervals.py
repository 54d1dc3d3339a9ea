"""Intervals of paired differences: hand numbers, scipy and coverage."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from metrics.stats import paired_intervals
from metrics.stats.paired_intervals import difference_intervals, newcombe_paired, resample_interval
from tests.stats.test_paired_tests import COUNTS, column


def test_the_worked_examples() -> None:
    assert doctest.testmod(paired_intervals).failed == 0


class TestNewcombe:
    @pytest.mark.parametrize(
        ("counts", "low", "high"),
        [
            pytest.param((1, 1, 7, 12), -0.507, -0.026, id="fagerland-2014-airways"),
            pytest.param((10, 0, 0, 0), -0.2775, 0.2775, id="all-right-is-no-proof-of-equality"),
        ],
    )
    def test_hand_numbers(self, counts: tuple[int, int, int, int], low: float, high: float) -> None:
        assert newcombe_paired(*counts) == pytest.approx((low, high), abs=6e-4)

    def test_there_is_none_without_pairs(self) -> None:
        assert newcombe_paired(0, 0, 0, 0) == (None, None)

    @given(COUNTS, COUNTS, COUNTS, COUNTS)
    def test_it_holds_the_difference_and_turns_with_the_models(self, both: int, b: int, a: int, neither: int) -> None:
        n = both + b + a + neither
        low, high = newcombe_paired(both, b, a, neither)
        if low is not None and high is not None:
            assert -1 <= low <= (b - a) / n + 1e-12
            assert (b - a) / n - 1e-12 <= high <= 1
            assert newcombe_paired(both, a, b, neither) == pytest.approx((-high, -low))


class TestIntervals:
    @pytest.mark.parametrize(
        ("values", "clusters"),
        [
            pytest.param([], None, id="no-pairs"),
            pytest.param([0.5, np.nan], None, id="one-pair"),
            pytest.param([0.5, 0.7], [0, 0], id="one-cluster"),
        ],
    )
    def test_there_is_none(self, values: list[float], clusters: list[int] | None) -> None:
        codes = None if clusters is None else np.array(clusters)
        assert np.isnan(difference_intervals(column(values), clusters=codes)).all()

    def test_turns_with_the_models(self) -> None:
        differences = np.random.default_rng(4).gamma(1.0, size=(40, 3))
        low, high = difference_intervals(differences)
        assert np.ravel(difference_intervals(-differences)) == pytest.approx(np.ravel([-high, -low]), abs=0.03)
        assert (low < differences.mean(axis=0)).all()
        assert (high > differences.mean(axis=0)).all()

    @pytest.mark.parametrize("n", [40, 6_000], ids=["bootstrap", "sandwich"])
    def test_near_the_t_interval(self, n: int) -> None:
        values = np.random.default_rng(5).normal(0.1, 1.0, n)
        expected = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
        assert np.ravel(difference_intervals(column(values))) == pytest.approx(expected, abs=0.12 * stats.sem(values))

    @pytest.mark.parametrize(
        ("n", "size"),
        [
            pytest.param(12, 1, id="few-pairs"),
            pytest.param(40, 1, id="pairs"),
            pytest.param(25, 4, id="clusters"),
        ],
    )
    def test_95_per_cent_hold_the_truth(self, n: int, size: int) -> None:
        rng = np.random.default_rng([6, n, size])
        shared = np.repeat(rng.normal(size=(n, 1_500)), size, axis=0)
        differences = 0.2 + shared + rng.normal(size=(n * size, 1_500)) * (size > 1)
        low, high = difference_intervals(differences, clusters=np.repeat(np.arange(n), size))
        assert 0.93 <= ((low <= 0.2) & (high >= 0.2)).mean() <= 0.97

    def test_95_per_cent_of_newcombes_hold_the_truth(self) -> None:
        rng = np.random.default_rng(7)
        tables = rng.multinomial(60, [0.55, 0.2, 0.1, 0.15], 2_000)
        bounds = [newcombe_paired(*row) for row in tables.tolist()]
        held = [low is not None and high is not None and low <= 0.1 <= high for low, high in bounds]
        assert 0.93 <= np.mean(held) <= 0.97


@pytest.mark.parametrize(
    ("apart", "samples", "expected"),
    [
        pytest.param(0.0, [0.0] * 9, (0.0, 0.0), id="equal"),
        pytest.param(0.5, [0.5] * 99, (0.5, 0.5), id="the same in every resample"),
        pytest.param(0.1, [0.0, 0.2] * 10 + [0.1] * 19, (0.0, 0.2), id="around the difference"),
        pytest.param(0.0, [-0.1, 0.1], (-0.095, 0.095), id="no difference but in resamples"),
        pytest.param(0.4, [0.3, 0.5] * 50, (0.3, 0.5), id="basic bootstrap"),
    ],
)
def test_of_resamples_by_hand(apart: float, samples: list[float], expected: tuple[float, float]) -> None:
    assert resample_interval(apart, np.array(samples)) == pytest.approx(expected)


def test_those_of_resamples_hold_the_truth() -> None:
    rng = np.random.default_rng(3)
    outside = 0
    for _ in range(300):
        apart = rng.normal(size=80)
        low, high = resample_interval(float(apart.mean()), rng.choice(apart, (400, 80)).mean(axis=1))
        outside += not low <= 0 <= high
    assert 5 <= outside <= 28
