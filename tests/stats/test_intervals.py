"""Intervals against scipy and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom, binomtest

from metrics.stats.intervals import percentiles, wilson


@settings(deadline=None)
@given(n=st.integers(1, 2000), share=st.floats(0, 1))
def test_wilson_equals_scipy(n: int, share: float) -> None:
    successes = round(share * n)
    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 5), (3, 12), (57, 60), (200, 200)])
def test_wilson_equals_statsmodels(successes: int, n: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize("n", [5, 10, 20, 50, 200])
def test_wilson_covers_as_promised(n: int) -> None:
    """Exactly, over true shares from .02 to .98; the exact interval of Clopper and Pearson would hold 97–99 %."""
    shares = np.linspace(0.02, 0.98, 97)
    bounds = np.array([wilson(k, n) for k in range(n + 1)])
    held = (bounds[:, :1] <= shares) & (shares <= bounds[:, 1:])
    coverage = (binom.pmf(np.arange(n + 1)[:, None], n, shares) * held).sum(axis=0)
    assert 0.945 <= coverage.mean() <= 0.965
    assert coverage.min() > 0.83


@pytest.mark.parametrize(("successes", "n", "expected"), [
    pytest.param(0, 0, (None, None), id="nothing"),
    pytest.param(0, 10, (0.0, 0.277533), id="none-of-ten"),
    pytest.param(10, 10, (0.722467, 1.0), id="all-of-ten"),
    pytest.param(1, 1, (0.206549, 1.0), id="one-of-one"),
    pytest.param(8, 10, (0.490162, 0.943318), id="eight-of-ten"),
])  # fmt: skip
def test_wilson_numbers(successes: int, n: int, expected: tuple[float | None, float | None]) -> None:
    assert wilson(successes, n) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("estimates", "expected"), [
    pytest.param([], (None, None), id="none"),
    pytest.param([np.nan, np.nan], (None, None), id="none-defined"),
    pytest.param([0.5], (0.5, 0.5), id="one"),
    pytest.param([*range(41), np.nan], (1.0, 39.0), id="undefined-ones-left-out"),
])  # fmt: skip
def test_percentiles(estimates: list[float], expected: tuple[float | None, float | None]) -> None:
    assert percentiles(np.array(estimates, dtype=float)) == expected
