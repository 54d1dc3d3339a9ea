"""Drift of two samples: against scipy, and what permutation p must be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics.stats.drift import DRAWS, drift, equal_bins, ks_distance, stability_index

SCORES = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=30)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy divides by zero on its way to the p of tiny samples
@settings(max_examples=50)
@given(SCORES, SCORES)
def test_the_distance_is_scipys_with_any_ties(a: list[float], b: list[float]) -> None:
    found = drift(np.array(a), np.array(b), draws=5)
    assert found.ks == pytest.approx(stats.ks_2samp(a, b, method="asymp").statistic, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.4])
def test_without_ties_p_is_the_exact_one(shift: float) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=60), rng.normal(shift, size=40)
    exact = stats.ks_2samp(a, b, method="exact").pvalue
    spread = 4 * np.sqrt(exact * (1 - exact) / DRAWS) + 2 / DRAWS
    assert drift(a, b).ks_p == pytest.approx(exact, abs=spread)


def test_of_shares_p_is_fishers() -> None:
    a, b = np.repeat([1.0, 0.0], [90, 10]), np.repeat([1.0, 0.0], [35, 15])
    exact = stats.fisher_exact([[90, 10], [35, 15]]).pvalue
    found = drift(a, b)
    assert found.ks == pytest.approx(0.2)
    assert found.ks_p == pytest.approx(exact, abs=4 * np.sqrt(exact / DRAWS))
    assert found.psi_p == pytest.approx(exact, abs=4 * np.sqrt(exact / DRAWS))


def test_the_index_of_known_counts() -> None:
    """Shares (.5 + 20, .5 + 80) / 101 and (.5 + 60, .5 + 40) / 101."""
    p, q = np.array([20.5, 80.5]) / 101, np.array([60.5, 40.5]) / 101
    expected = float(((p - q) * np.log(p / q)).sum())
    assert stability_index(np.array([20, 80]), np.array([80, 120])) == pytest.approx(expected)
    assert stats.entropy(p, q) + stats.entropy(q, p) == pytest.approx(expected)


def test_equal_samples_have_neither() -> None:
    values = np.linspace(0, 1, 50)
    found = drift(values, values)
    assert (found.ks, found.ks_p, found.psi_p) == (0.0, 1.0, 1.0)
    assert found.psi == pytest.approx(0.0)


def test_chance_alone_is_seldom_called_drift() -> None:
    rng = np.random.default_rng(0)
    found = [drift(rng.beta(5, 1, 200), rng.beta(5, 1, 100), draws=199) for _ in range(200)]
    for p in ([each.ks_p for each in found], [each.psi_p for each in found]):
        assert np.mean(np.array(p) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.median([each.psi for each in found]) > 0.1  # where the customary limit would cry drift every other time


def test_the_seed_decides_the_p() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(100), rng.random(80)
    assert drift(a, b, seed=4) == drift(a, b, seed=4)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param([5, 95], [0, 1], id="few values: one bin each"),
        pytest.param([1] * 20, [place // 2 for place in range(20)], id="many values: ten bins of as many"),
        pytest.param([1] * 11 + [89], [*[0] * 10, 1, 2], id="a value that fills a bin has its own"),
    ],
)
def test_bins(counts: list[int], expected: list[int]) -> None:
    assert equal_bins(np.array(counts)).tolist() == expected


def test_the_distance_of_a_known_table() -> None:
    assert ks_distance(np.array([0, 10]), np.array([10, 10])) == pytest.approx(1.0)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="both samples need a score"):
        drift(np.array([]), np.array([1.0]))
