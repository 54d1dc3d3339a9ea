"""Every pair of models: against the paired tests and scipy one by one, by hand, and what the correction promises."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from metrics.stats.corrections import holm
from metrics.stats.model_ranking import MAX_PAIRS, compare_pairs, compare_resamples, rank_bounds
from metrics.stats.paired_tests import paired_tests, resample_tests


@pytest.mark.parametrize("clustered", [False, True], ids=["cases", "clusters"])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("gaps", [0.0, 0.3], ids=["whole", "gaps"])
def test_like_the_pairs_one_by_one(clustered: bool, weighted: bool, gaps: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.random((60, 5)) + np.linspace(0, 0.3, 5)
    values[rng.random(values.shape) < gaps] = np.nan
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    clusters = rng.permutation(np.repeat(np.arange(20), 3)) if clustered else None
    found = compare_pairs(values, weights, clusters)
    assert len(found.better) == 10
    alone = []
    for place in range(10):
        apart = (values[:, found.better[place]] - values[:, found.worse[place]])[:, None]
        pair = paired_tests(apart, weights, clusters)
        alone.append(pair.p[0])
        both = ~np.isnan(apart[:, 0])
        assert found.error[place] == pytest.approx(pair.error[0])
        assert (found.units[place], found.cases[place]) == (pair.units[0], both.sum())
        assert np.average(apart[both, 0], weights=None if weights is None else weights[both]) >= 0
    assert (found.p, found.adjusted) == (pytest.approx(np.array(alone), abs=1e-12), pytest.approx(holm(found.p)))


def test_t_like_scipys_paired_test() -> None:
    values = np.random.default_rng(2).normal(size=(40, 2))
    expected = stats.ttest_rel(values[:, 0], values[:, 1]).pvalue
    assert compare_pairs(values).adjusted[0] == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize(("columns", "p"), [
    pytest.param([[1.0] * 6, [1.0] * 6], 1.0, id="equal on every case"),
    pytest.param([[1.0] * 4, [0.0] * 4], 0.125, id="no p below what flipped signs reach"),
    pytest.param([[1.0] * 5 + [0.0] * 95, [0.0] * 100], 0.0625, id="five cases differ"),
    pytest.param([[1.0, np.nan], [np.nan, 0.0]], 1.0, id="no case in common"),
    pytest.param([[1.0, np.nan], [0.0, 0.0]], 1.0, id="one case in common"),
])  # fmt: skip
def test_by_hand(columns: list[list[float]], p: float) -> None:
    assert compare_pairs(np.array(columns).T).adjusted == pytest.approx([p])


def test_better_is_better_on_the_cases_of_both() -> None:
    """The first model's mean is higher over all its cases, but not on those that the second has too."""
    found = compare_pairs(np.array([[1.0, np.nan]] * 20 + [[0.0, 0.4], [0.1, 0.6]] * 10))
    assert (found.better.tolist(), found.worse.tolist()) == ([1], [0])


class TestRanks:
    def test_by_hand(self) -> None:
        values = np.array([0.9, 0.5, 0.5, 0.1]) + np.random.default_rng(3).normal(0, 0.05, (50, 4))
        best, worst = rank_bounds(compare_pairs(values), 4)
        assert (best.tolist(), worst.tolist()) == ([1, 2, 2, 4], [1, 3, 3, 4])

    @given(st.integers(2, 6), st.integers(0, 30), st.integers(0, 10_000))
    def test_they_are_possible_and_not_known_by_order(self, models: int, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 3, (n, models)).astype(float) + rng.integers(0, 2, models)
        values[rng.random(values.shape) < 0.2] = np.nan
        best, worst = rank_bounds(compare_pairs(values), models)
        assert ((best >= 1) & (best <= worst) & (worst <= models)).all()
        turned = rng.permutation(models)
        again = rank_bounds(compare_pairs(values[:, turned]), models)
        assert (again[0].tolist(), again[1].tolist()) == (best[turned].tolist(), worst[turned].tolist())

    def test_equal_models_differ_significantly_in_one_suite_of_twenty_at_most(self) -> None:
        """300 suites of 6 models without a difference: Holm keeps even one false finding below 5 %."""
        rng = np.random.default_rng(4)
        false = sum(
            bool((compare_pairs(rng.beta(0.5, 0.3, (40, 6)) + rng.random((40, 1))).adjusted <= 0.05).any())
            for _ in range(300)
        )
        assert false <= 25

    def test_the_true_ranks_lie_within_in_95_percent(self) -> None:
        rng = np.random.default_rng(5)
        truth = np.array([0.6, 0.55, 0.5, 0.5, 0.4])
        low, high = np.array([1, 2, 3, 3, 5]), np.array([1, 2, 4, 4, 5])
        held = 0
        for _ in range(200):
            best, worst = rank_bounds(compare_pairs((rng.random((120, 5)) < truth).astype(float)), 5)
            held += bool(((best <= low) & (worst >= high)).all())
        assert held >= 185


def test_the_pairs_of_many_models_are_bounded() -> None:
    values = np.random.default_rng(6).random((30, 100)) + np.linspace(1, 0, 100)
    found = compare_pairs(values)
    assert 900 < len(found.better) <= MAX_PAIRS
    assert {0, 99} <= {*found.better.tolist(), *found.worse.tolist()}
    best, worst = rank_bounds(found, 100)
    assert best[0] == 1
    assert worst[0] < 60
    assert best[99] > 1


@pytest.mark.parametrize("models", [0, 1])
def test_without_two_models_there_is_no_pair(models: int) -> None:
    found = compare_pairs(np.ones((5, models)))
    assert (len(found.adjusted), rank_bounds(found, models)[0].tolist()) == (0, [1] * models)


def test_of_resamples_like_the_pairs_one_by_one() -> None:
    rng = np.random.default_rng(7)
    values = np.array([0.2, 0.8, 0.7])
    samples = values[:, None] + rng.normal(0, 0.05, (3, 200)) + rng.normal(0, 0.2, 200)
    found = compare_resamples(values, samples)
    assert list(zip(found.better.tolist(), found.worse.tolist(), strict=True)) == [(1, 2), (1, 0), (2, 0)]
    for place, (one, other) in enumerate(zip(found.better, found.worse, strict=True)):
        expected = resample_tests(values[[one]] - values[[other]], samples[[one]] - samples[[other]])
        assert found.p[place] == pytest.approx(expected[0], abs=1e-15)
    assert rank_bounds(found, 3)[0].tolist() == [3, 1, 1]
