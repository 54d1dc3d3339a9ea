"""Tests and intervals of paired differences: hand numbers, scipy, laws and coverage."""

import doctest
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from metrics.stats import paired_tests
from metrics.stats.paired_tests import (
    benjamini_hochberg,
    detectable,
    difference_intervals,
    holm,
    mcnemar_exact,
    mcnemar_mid_p,
    newcombe_paired,
    sign_flips,
    standard_errors,
    units_needed,
)

COUNTS = st.integers(0, 60)
SHARES = st.lists(st.floats(0, 1), max_size=20).map(np.array)


def column(values: list[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values, dtype=float)[:, None]


def test_the_worked_examples() -> None:
    assert doctest.testmod(paired_tests).failed == 0


class TestMcNemar:
    @pytest.mark.parametrize(
        ("wins", "losses", "exact", "mid"),
        [
            pytest.param(0, 0, 1.0, 1.0, id="no-discordant-pair"),
            pytest.param(5, 5, 1.0, 1.0, id="as-many-either-way"),
            pytest.param(0, 6, 2 / 64, 1 / 64, id="all-one-way"),
            pytest.param(1, 7, 18 / 256, 10 / 256, id="fagerland-2013-airways"),
            pytest.param(6, 16, 0.052479, 0.034689, id="fagerland-2013-complaints"),
        ],
    )
    def test_hand_numbers(self, wins: int, losses: int, exact: float, mid: float) -> None:
        assert mcnemar_exact(wins, losses) == pytest.approx(exact, abs=1e-6)
        assert mcnemar_mid_p(wins, losses) == pytest.approx(mid, abs=1e-6)

    @given(COUNTS, COUNTS)
    def test_like_scipy_and_the_same_either_way(self, wins: int, losses: int) -> None:
        assert mcnemar_mid_p(wins, losses) == mcnemar_mid_p(losses, wins)
        assert 0 <= mcnemar_mid_p(wins, losses) <= mcnemar_exact(wins, losses) <= 1
        if wins + losses:
            assert mcnemar_exact(wins, losses) == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)

    @pytest.mark.parametrize("pairs", [(3, 9), (0, 4), (17, 31)], ids=str)
    def test_like_statsmodels(self, pairs: tuple[int, int]) -> None:
        from statsmodels.stats.contingency_tables import mcnemar

        table = [[40, pairs[0]], [pairs[1], 8]]
        assert mcnemar_exact(*pairs) == pytest.approx(mcnemar(table, exact=True).pvalue)

    def test_many_pairs(self) -> None:
        assert mcnemar_exact(49_000, 51_000) == pytest.approx(stats.binomtest(49_000, 100_000).pvalue, rel=1e-6)


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


class TestSignFlips:
    @pytest.mark.parametrize(
        ("values", "p"),
        [
            pytest.param([], 1.0, id="no-pairs"),
            pytest.param([0.0, 0.0], 1.0, id="ties"),
            pytest.param([1.0], 1.0, id="one-pair"),
            pytest.param([1.0, 2.0, 3.0, 4.0], 2 / 16, id="all-one-way"),
            pytest.param([3.0, 2.0, -1.0], 4 / 8, id="one-against"),
            pytest.param([0.1, 0.2, -0.3], 1.0, id="equal-but-for-rounding"),
            pytest.param([1.0, np.nan, 2.0, np.nan, 3.0], 2 / 8, id="gaps"),
        ],
    )
    def test_hand_numbers(self, values: list[float], p: float) -> None:
        assert sign_flips(column(values))[0] == pytest.approx(p)

    def test_every_pattern_is_counted_as_scipy_does(self) -> None:
        differences = np.random.default_rng(1).normal(0.4, 1.0, (12, 6))
        expected = stats.permutation_test(
            (differences, np.zeros_like(differences)), lambda x, y, axis: (x - y).sum(axis), permutation_type="samples",
            vectorized=True, n_resamples=np.inf, axis=0,
        )  # fmt: skip
        assert sign_flips(differences) == pytest.approx(expected.pvalue)

    @pytest.mark.parametrize("n", [14, 300, 5_001], ids=["drawn", "drawn-many", "normal-limit"])
    def test_near_the_t_test(self, n: int) -> None:
        differences = np.random.default_rng(n).normal(1.6 / np.sqrt(n), 1.0, (n, 8))
        assert sign_flips(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.02)

    def test_of_signs_it_is_the_exact_mcnemar(self) -> None:
        values = np.repeat([1.0, -1.0, 0.0], [3, 9, 20])
        assert sign_flips(column(values))[0] == pytest.approx(mcnemar_exact(3, 9))

    def test_a_cluster_flips_as_one(self) -> None:
        values, clusters = column([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), np.array([0, 0, 0, 1, 1, 1])
        assert sign_flips(values)[0] == pytest.approx(2 / 64)
        assert sign_flips(values, clusters=clusters)[0] == pytest.approx(2 / 4)

    def test_weights_multiply(self) -> None:
        values, weights = np.random.default_rng(2).normal(size=10), np.arange(10.0)
        assert sign_flips(column(values), weights) == pytest.approx(sign_flips(column(values * weights)))

    @settings(max_examples=40)
    @given(st.lists(st.floats(-1, 1, width=32), max_size=40), st.integers(0, 3))
    def test_in_0_1_and_the_same_either_way(self, values: list[float], seed: int) -> None:
        p = sign_flips(column(values), seed=seed, draws=199)[0]
        assert 0 < p <= 1
        assert sign_flips(-column(values), seed=seed, draws=199)[0] == pytest.approx(p)

    def test_false_findings_come_as_often_as_the_level_says(self) -> None:
        skewless = np.random.default_rng(3).laplace(size=(25, 2_000))
        assert 0.03 <= (sign_flips(skewless, draws=999) <= 0.05).mean() <= 0.065


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


def test_standard_error_of_single_pairs_and_of_clusters() -> None:
    values = np.random.default_rng(8).normal(size=30)
    errors, counts = standard_errors(column(values))
    assert (errors[0], counts[0]) == (pytest.approx(stats.sem(values)), 30)
    clusters = np.repeat(np.arange(10), 3)
    errors, counts = standard_errors(column(values), clusters=clusters)
    assert (errors[0], counts[0]) == (pytest.approx(stats.sem(values.reshape(10, 3).mean(axis=1))), 10)


def test_the_detectable_difference_is_found_four_times_of_five() -> None:
    n, rng = 50, np.random.default_rng(9)
    truth = detectable(1 / np.sqrt(n), n)
    found = stats.ttest_1samp(rng.normal(truth, 1.0, (n, 3_000)), 0).pvalue <= 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("n", [10, 20, 50, 300, 5_000])
def test_power_like_statsmodels(n: int) -> None:
    """Of paired differences with standard deviation 1."""
    from statsmodels.stats.power import TTestPower

    found = detectable(1 / np.sqrt(n), n)
    assert found == pytest.approx(TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8), rel=0.015)


@pytest.mark.parametrize("effect", [0.03, 0.1, 0.2, 0.5, 1.0])
def test_units_needed_like_statsmodels(effect: float) -> None:
    from statsmodels.stats.power import TTestPower

    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert units_needed(1 / np.sqrt(80), 80, effect) == pytest.approx(expected, abs=2)


@pytest.mark.parametrize("wanted", [1e-4, 0.01, 0.3, 5.0])
def test_units_needed_are_the_least_that_do(wanted: float) -> None:
    needed = units_needed(0.02, 100, wanted)
    error = 0.02 * np.sqrt(100 / np.arange(max(2, needed - 1), needed + 1))
    reached = [
        detectable(one, n) <= wanted for one, n in zip(error, range(max(2, needed - 1), needed + 1), strict=True)
    ]
    assert reached[-1]
    assert needed == 2 or not reached[0]


def by_definition(p: list[float]) -> list[float]:
    """Holm: of all values up to one's own, the largest product with the number of values not below it."""
    return [max(min(1.0, q * sum(other >= q for other in p)) for q in p if q <= value) for value in p]


class TestCorrections:
    @given(SHARES)
    def test_holm_by_definition(self, p: NDArray[np.float64]) -> None:
        assert holm(p).tolist() == pytest.approx(by_definition(p.tolist()))

    @given(SHARES)
    def test_benjamini_hochberg_like_scipy(self, p: NDArray[np.float64]) -> None:
        expected = stats.false_discovery_control(p) if len(p) else p
        assert benjamini_hochberg(p) == pytest.approx(expected)

    @given(SHARES.filter(len))
    @settings(max_examples=30)
    def test_both_like_statsmodels(self, p: NDArray[np.float64]) -> None:
        from statsmodels.stats.multitest import multipletests

        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
        assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])

    @given(SHARES)
    def test_monotone_and_never_smaller_than_p(self, p: NDArray[np.float64]) -> None:
        order = np.argsort(p)
        for adjusted in (holm(p), benjamini_hochberg(p)):
            assert (np.diff(adjusted[order]) >= 0).all()
            assert (adjusted >= p).all()
            assert (adjusted <= 1).all()
        assert (holm(p) >= benjamini_hochberg(p) - 1e-12).all()

    def test_holm_keeps_false_findings_to_one_family_in_twenty(self) -> None:
        families = np.random.default_rng(10).random((4_000, 10))
        assert np.mean([holm(p).min() <= 0.05 for p in families]) == pytest.approx(0.05, abs=0.012)


def test_all_patterns_of_signs_are_those_of_itertools() -> None:
    own = np.array([0.3, -1.2, 2.0, 0.7, 0.1])
    sums = [abs(sum(s * v for s, v in zip(signs, own, strict=True))) for signs in product((-1, 1), repeat=5)]
    assert sign_flips(column(own))[0] == pytest.approx(np.mean([value >= abs(own.sum()) - 1e-9 for value in sums]))
