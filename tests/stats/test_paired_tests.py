"""The one paired test: hand numbers, scipy, laws."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats

from metrics.stats import paired_tests
from metrics.stats.paired_tests import MCNEMAR, SIGN_FLIPS, STUDENT, mcnemar_mid_p, resample_tests

COUNTS = st.integers(0, 60)


def column(values: list[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values, dtype=float)[:, None]


def mid_p(wins: int, losses: int) -> float:
    """By definition, with scipy's binomial."""
    fewer, n = min(wins, losses), wins + losses
    return min(1.0, float(2 * stats.binom.cdf(fewer - 1, n, 0.5) + stats.binom.pmf(fewer, n, 0.5)))


def p_of(differences: NDArray[np.float64], *design: NDArray[Any] | None, binary: bool = False) -> NDArray[np.float64]:
    return paired_tests.paired_tests(differences, *design, binary=binary).p


class TestMcNemar:
    @pytest.mark.parametrize(("wins", "losses", "mid"), [
        pytest.param(0, 0, 1.0, id="no-discordant-pair"),
        pytest.param(5, 5, 1.0, id="as-many-either-way"),
        pytest.param(0, 6, 1 / 64, id="all-one-way"),
        pytest.param(1, 7, 10 / 256, id="fagerland-2013-airways"),
        pytest.param(6, 16, 0.034689, id="fagerland-2013-complaints"),
    ])  # fmt: skip
    def test_hand_numbers(self, wins: int, losses: int, mid: float) -> None:
        assert mcnemar_mid_p(wins, losses) == pytest.approx(mid, abs=1e-6)

    @given(COUNTS, COUNTS)
    def test_like_scipy_and_the_same_either_way(self, wins: int, losses: int) -> None:
        assert mcnemar_mid_p(wins, losses) == mcnemar_mid_p(losses, wins)
        assert mcnemar_mid_p(wins, losses) == pytest.approx(mid_p(wins, losses))
        if wins + losses:
            assert mcnemar_mid_p(wins, losses) <= stats.binomtest(wins, wins + losses).pvalue

    @pytest.mark.parametrize("pairs", [(3, 9), (0, 4), (17, 31)], ids=str)
    def test_like_statsmodels(self, pairs: tuple[int, int]) -> None:
        from statsmodels.stats.contingency_tables import mcnemar

        exact = mcnemar([[40, pairs[0]], [pairs[1], 8]], exact=True).pvalue
        assert mcnemar_mid_p(*pairs) == pytest.approx(exact - stats.binom.pmf(min(pairs), sum(pairs), 0.5))

    def test_many_pairs_at_once(self) -> None:
        wins, losses = np.random.default_rng(1).integers(0, 60_000, (2, 40))
        expected = [mid_p(*pair) for pair in zip(wins.tolist(), losses.tolist(), strict=True)]
        assert mcnemar_mid_p(wins, losses) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-300)
        assert mcnemar_mid_p(49_000, 51_000) == pytest.approx(mid_p(49_000, 51_000), rel=1e-6)


class TestTheChoice:
    """Which test the data choose."""

    @pytest.mark.parametrize(("n", "binary", "options", "test"), [
        pytest.param(30, True, (), MCNEMAR, id="binary"),
        pytest.param(30, True, (np.ones(30),), STUDENT, id="binary-weighted"),
        pytest.param(30, True, (None, np.arange(30) // 3), SIGN_FLIPS, id="binary-in-few-clusters"),
        pytest.param(13, False, (), SIGN_FLIPS, id="few"),
        pytest.param(14, False, (), STUDENT, id="many"),
    ])  # fmt: skip
    def test_is_made_by(self, n: int, binary: bool, options: tuple[Any, ...], test: int) -> None:
        values = np.random.default_rng(n).choice([-1.0, 1.0], (n, 1))
        assert paired_tests.paired_tests(values, *options, binary=binary).test[0] == test

    def test_of_each_column_alone(self) -> None:
        """A column has the same p beside any others."""
        rng = np.random.default_rng(3)
        values = np.round(rng.normal(0.2, 1, (40, 30)), 1) * (rng.random((40, 30)) < np.linspace(0.1, 1, 30))
        values[rng.random(values.shape) < 0.1] = np.nan
        binary = np.arange(30) % 3 == 0
        values[:, binary] = np.sign(values[:, binary])
        together = paired_tests.paired_tests(values, binary=binary)
        assert len(set(together.test.tolist())) == 3
        for place in range(30):
            alone = paired_tests.paired_tests(values[:, [place]], binary=bool(binary[place]))
            assert alone.p[0] == pytest.approx(together.p[place], abs=1e-15)
            assert alone.pairs[0] == together.pairs[place] == np.count_nonzero(~np.isnan(values[:, place]))


class TestMeans:
    @pytest.mark.parametrize(("values", "p"), [
        pytest.param([], 1.0, id="no-pairs"),
        pytest.param([0.0, 0.0], 1.0, id="ties"),
        pytest.param([1.0], 1.0, id="one-pair"),
        pytest.param([1.0, 2.0, 3.0, 4.0], 2 / 16, id="all-one-way"),
        pytest.param([3.0, 2.0, -1.0], 4 / 8, id="one-against"),
        pytest.param([0.1, 0.2, -0.3], 1.0, id="equal-but-for-rounding"),
        pytest.param([1.0, np.nan, 2.0, np.nan, 3.0], 2 / 8, id="gaps"),
    ])  # fmt: skip
    def test_hand_numbers(self, values: list[float], p: float) -> None:
        assert p_of(column(values))[0] == pytest.approx(p)

    def test_every_pattern_is_counted_as_scipy_does(self) -> None:
        differences = np.random.default_rng(1).normal(0.4, 1.0, (12, 6))
        expected = stats.permutation_test(
            (differences, np.zeros_like(differences)), lambda x, y, axis: (x - y).sum(axis), permutation_type="samples",
            vectorized=True, n_resamples=np.inf, axis=0,
        )  # fmt: skip
        assert p_of(differences) == pytest.approx(expected.pvalue)

    @pytest.mark.parametrize("n", [14, 300, 5_001])
    def test_many_are_tested_by_student(self, n: int) -> None:
        differences = np.random.default_rng(n).normal(1.6 / np.sqrt(n), 1.0, (n, 8))
        assert p_of(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=0.03, abs=1e-4)

    def test_of_signs_it_is_the_exact_mcnemar(self) -> None:
        values = np.repeat([1.0, -1.0, 0.0], [3, 9, 20])
        assert p_of(column(values))[0] == pytest.approx(stats.binomtest(3, 12).pvalue)

    def test_a_cluster_flips_as_one(self) -> None:
        values, clusters = column([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
        assert (p_of(values)[0], p_of(values, None, clusters)[0]) == (pytest.approx(2 / 64), pytest.approx(2 / 4))

    def test_weights_multiply(self) -> None:
        values, weights = np.random.default_rng(2).normal(size=10), np.arange(10.0)
        assert p_of(column(values), weights) == pytest.approx(p_of(column(values * weights)))

    @settings(max_examples=40)
    @given(st.lists(st.floats(-1, 1, width=32), max_size=40))
    def test_in_0_1_and_the_same_either_way(self, values: list[float]) -> None:
        p = p_of(column(values))[0]
        assert 0 < p <= 1
        assert p_of(-column(values))[0] == pytest.approx(p)

    def test_false_findings_come_as_often_as_the_level_says(self) -> None:
        assert 0.03 <= (p_of(np.random.default_rng(3).laplace(size=(25, 2_000))) <= 0.05).mean() <= 0.065

    @pytest.mark.parametrize("share", [0.5, 0.8])
    def test_one_large_cluster_makes_no_false_findings(self, share: float) -> None:
        """Of 20 clusters one has that share of the cases; by units − 1 degrees of freedom 25 and 84 % were found."""
        rng = np.random.default_rng(9)
        sizes = np.array([round(share / (1 - share) * 57), *[3] * 19])
        values = rng.normal(size=(20, 1_000)).repeat(sizes, axis=0) + rng.normal(size=(sizes.sum(), 1_000))
        assert (p_of(values, None, np.arange(20).repeat(sizes)) <= 0.05).mean() <= 0.065


def test_standard_error_of_single_pairs_and_of_clusters() -> None:
    values = np.random.default_rng(8).normal(size=30)
    found = paired_tests.paired_tests(column(values))
    assert (found.error[0], found.units[0]) == (pytest.approx(stats.sem(values)), 30)
    found = paired_tests.paired_tests(column(values), None, np.repeat(np.arange(10), 3))
    assert (found.error[0], found.units[0]) == (pytest.approx(stats.sem(values.reshape(10, 3).mean(axis=1))), 10)


class TestResamples:
    @pytest.mark.parametrize(("apart", "samples", "expected"), [
        pytest.param(0.0, [0.0] * 9, 1.0, id="equal"),
        pytest.param(0.5, [0.5] * 99, 0.01, id="the same in every resample"),
        pytest.param(-0.5, [-0.5] * 99, 0.01, id="the same, turned"),
        pytest.param(0.1, [0.0, 0.2] * 10 + [0.1] * 19, 21 / 40, id="as far as to 0 in 20 of 39"),
        pytest.param(0.0, [-0.1, 0.1], 1.0, id="no difference but in resamples"),
        pytest.param(0.4, [0.3, 0.5] * 50, 6.334248e-5, id="the normal tail at four deviations"),
        pytest.param(0.5, [np.nan] * 3, 1.0, id="no resample with both"),
        pytest.param(0.1, [0.0] * 40, 1.0, id="never a difference"),
    ])  # fmt: skip
    def test_by_hand(self, apart: float, samples: list[float], expected: float) -> None:
        gaps = [np.nan, *samples]
        assert resample_tests(np.array([apart, apart]), np.array([[*samples, np.nan], gaps])) == pytest.approx(expected)

    def test_without_a_resample_nothing_is_shown(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert resample_tests(np.array([0.5, 0.0]), np.empty((2, 0))).tolist() == [1.0, 1.0]

    def test_it_keeps_its_level(self) -> None:
        rng = np.random.default_rng(3)
        apart = rng.normal(size=(300, 80))
        samples = np.stack([rng.choice(row, (400, 80)).mean(axis=1) for row in apart])
        assert 5 <= (resample_tests(apart.mean(axis=1), samples) <= 0.05).sum() <= 28
