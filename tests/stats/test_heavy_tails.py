"""Ends of a mean's interval that the values do not tell: which, why, and whether what is shown holds."""

import numpy as np
import pytest

from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.heavy_tails import describe_unknown_end

MEANS = {"normal": 5.0, "lognormal": float(np.exp(0.5)), "Pareto": 1 / 1.5}


def draw(kind: str, n: int, samples: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    if kind == "normal":
        return rng.normal(5, 1, (n, samples))
    return rng.lognormal(0, 1, (n, samples)) if kind == "lognormal" else rng.pareto(2.5, (n, samples))


@pytest.mark.parametrize("kind", MEANS)
@pytest.mark.parametrize("n", [10, 20, 50])
def test_what_is_shown_holds(kind: str, n: int) -> None:
    """At least 92 %: 93 less two standard errors of 600 data sets would be 91."""
    low, high = bootstrap_means(draw(kind, n, 600), low=0.0, resamples=500)
    held = (low <= MEANS[kind]) & ~(high < MEANS[kind])
    assert held.mean() >= 0.92
    assert np.isnan(high).mean() < 0.3 or kind != "normal"


def test_one_outlier_is_named_with_its_share_and_no_end_is_made_up() -> None:
    values = np.array([1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.3, 1.0, 1.1, 60.0])
    low, high = bootstrap_means(values[:, None], low=0.0)
    assert np.isnan(high[0])
    assert 0 <= low[0] <= values.mean()
    assert describe_unknown_end(values) == "no upper end: one case makes 90 % of the variance"
    assert describe_unknown_end(-values, upper=False) == "no lower end: one case makes 90 % of the variance"
    groups = np.arange(10) // 2
    assert describe_unknown_end(values, None, groups) == "no upper end: one group makes 80 % of the variance"


def test_a_skewed_sample_says_how_many_it_takes() -> None:
    values = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 6.0, 9.0, 9.0, 1.0])
    assert describe_unknown_end(values) == "no upper end: a skewness of 0.8 takes 14 cases, not 10"


def test_closed_ends_are_always_known() -> None:
    values = np.array([0.0] * 19 + [1.0])
    low, high = bootstrap_means(values[:, None], low=0.0, high=1.0)
    assert np.isfinite([low[0], high[0]]).all()
