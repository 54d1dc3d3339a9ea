"""Power of paired comparisons: by simulation and against statsmodels."""

import doctest

import numpy as np
import pytest
from scipy import stats

from metrics.stats import power
from metrics.stats.power import detectable, units_needed


def test_the_worked_examples() -> None:
    assert doctest.testmod(power).failed == 0


def test_the_detectable_difference_is_found_with_80_percent_power() -> None:
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
