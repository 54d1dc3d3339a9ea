"""Intervals of paired differences: hand numbers, scipy and coverage."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from metrics.stats.paired_intervals import agreeing, difference_intervals, newcombe_paired, resample_interval
from tests.random_seeds import least_covered, seeds
from tests.stats.test_paired_tests import COUNTS, column


class TestNewcombe:
    @pytest.mark.parametrize(("counts", "low", "high"), [
        pytest.param((1, 1, 7, 12), -0.507, -0.026, id="fagerland-2014-airways"),
        pytest.param((10, 0, 0, 0), -0.2775, 0.2775, id="all-right-is-no-proof-of-equality"),
    ])  # fmt: skip
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
    @pytest.mark.parametrize(("values", "clusters"), [
        pytest.param([], None, id="no-pairs"),
        pytest.param([0.5, np.nan], None, id="one-pair"),
        pytest.param([0.5, 0.7], [0, 0], id="one-cluster"),
    ])  # fmt: skip
    def test_there_is_none(self, values: list[float], clusters: list[int] | None) -> None:
        codes = None if clusters is None else np.array(clusters)
        assert np.isnan(difference_intervals(column(values), clusters=codes)).all()

    @pytest.mark.parametrize("n", [40, 6_000], ids=["bootstrap", "sandwich"])
    def test_near_the_t_interval(self, n: int) -> None:
        values = np.random.default_rng(5).normal(0.1, 1.0, n)
        expected = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
        assert np.ravel(difference_intervals(column(values))) == pytest.approx(expected, abs=0.12 * stats.sem(values))

    def test_differences_go_as_far_as_the_range_of_the_values(self) -> None:
        """Of five equal differences as many others as Wilson's interval allows, 3.84 of 8.84, may lie at either end."""
        low, high = difference_intervals(np.full((5, 2), 0.5), widest=np.array([1.0, 3.0]))
        part = 3.84146 / 8.84146
        assert low == pytest.approx([0.5 - part * 1.5, 0.5 - part * 3.5], abs=1e-5)
        assert high == pytest.approx([0.5 + part * 0.5, 0.5 + part * 2.5], abs=1e-5)
        assert np.isnan(difference_intervals(np.full((5, 1), 0.5))).all()  # without a range nothing is known

    @pytest.mark.parametrize("n", [6, 10, 20])
    @pytest.mark.parametrize("kind", ["normal", "mostly 0", "steep"])
    def test_few_pairs_hold_the_truth_as_often(self, n: int, kind: str) -> None:
        """Expanded percentiles held 92, 54 and 82 % of six pairs: `python -m tests.benchmarks.bench_small_samples`."""
        rng = np.random.default_rng([8, n])
        draw, truth, widest, least = {
            "normal": (rng.normal(0.3, 1, (n, 600)), 0.3, np.inf, 0.935),
            "mostly 0": (np.where(rng.random((n, 600)) < 0.85, 0, 0.5), 0.075, 1.0, 0.935),
            "steep": (rng.lognormal(0, 1, (n, 600)), np.exp(0.5), np.inf, 0.87),
        }[kind]
        low, high = difference_intervals(draw, widest=widest)
        assert ((low <= truth) & (high >= truth)).mean() >= least

    @pytest.mark.parametrize(
        ("n", "size"),
        [pytest.param(12, 1, id="few-pairs"), pytest.param(40, 1, id="pairs"), pytest.param(25, 4, id="clusters")],
    )
    def test_95_per_cent_hold_the_truth(self, n: int, size: int) -> None:
        rng = np.random.default_rng([6, n, size])
        shared = np.repeat(rng.normal(size=(n, len(seeds(500, 1_500)))), size, axis=0)
        differences = 0.2 + shared + rng.normal(size=(n * size, len(seeds(500, 1_500)))) * (size > 1)
        low, high = difference_intervals(differences, clusters=np.repeat(np.arange(n), size))
        assert 0.93 <= ((low <= 0.2) & (high >= 0.2)).mean() <= 0.97

    def test_95_per_cent_of_newcombes_hold_the_truth(self) -> None:
        tables = np.random.default_rng(7).multinomial(60, [0.55, 0.2, 0.1, 0.15], 2_000)
        bounds = [newcombe_paired(*row) for row in tables.tolist()]
        held = [low is not None and high is not None and low <= 0.1 <= high for low, high in bounds]
        assert 0.93 <= np.mean(held) <= 0.97


@pytest.mark.parametrize(("ends", "difference", "p", "expected"), [
    pytest.param((0.1, 0.5), 0.3, 0.051, (0.0, 0.5), id="not significant, so 0 is within"),
    pytest.param((-0.5, -0.1), -0.3, 0.2, (-0.5, 0.0), id="on the other side"),
    pytest.param((-0.1, 0.5), 0.2, 0.05, (0.0, 0.5), id="significant, so nothing below 0 is"),
    pytest.param((-0.5, 0.1), -0.2, 0.01, (-0.5, 0.0), id="nothing above"),
    pytest.param((-0.1, 0.5), 0.2, 0.3, (-0.1, 0.5), id="both say not"),
    pytest.param((0.1, 0.5), 0.3, 0.01, (0.1, 0.5), id="both say so"),
    pytest.param((np.nan, np.nan), 0.3, 0.01, (np.nan, np.nan), id="none"),
])  # fmt: skip
def test_where_interval_and_test_disagree_the_test_decides(ends, difference, p, expected) -> None:
    found = agreeing(np.array(ends)[:, None], np.array([difference]), np.array([p]))
    assert np.ravel(found) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("apart", "samples", "expected"), [
    pytest.param(0.0, [0.0] * 9, (0.0, 0.0), id="equal"),
    pytest.param(0.5, [0.5] * 99, (0.5, 0.5), id="the same in every resample"),
    pytest.param(0.1, [0.0, 0.2] * 10 + [0.1] * 19, (0.0, 0.2), id="around the difference"),
    pytest.param(0.0, [-0.1, 0.1], (-0.095, 0.095), id="no difference but in resamples"),
    pytest.param(0.4, [0.3, 0.5] * 50, (0.3, 0.5), id="basic bootstrap"),
])  # fmt: skip
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


@pytest.mark.parametrize(("n", "chance"), [(50, 0.05), (100, 0.05), (200, 0.02)])
def test_few_pairs_that_differ_say_little_of_how_many_there_are(n: int, chance: float) -> None:
    """All others are equal; up to 0.3.0 the intervals of 100 pairs, of which 5 % lose half, held in 88 %."""
    apart = np.where(np.random.default_rng(n).random((n, 300)) < chance, -0.5, 0.0)
    low, high = difference_intervals(apart, widest=1.0)
    assert ((low <= -chance / 2) & (-chance / 2 <= high)).sum() >= least_covered(300)
    back = difference_intervals(-apart, widest=1.0)
    assert np.allclose(back, (-high, -low))
