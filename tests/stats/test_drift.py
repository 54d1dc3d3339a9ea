"""Distances of two samples, and the exact interval of a share: against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from metrics.stats.drift import drift, equal_bins, exact_share, stability_index

SCORES = st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=30)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy divides by zero on its way to the p of tiny samples
@settings(max_examples=50)
@given(SCORES, SCORES)
def test_the_distance_is_scipys_with_any_ties(a: list[float], b: list[float]) -> None:
    found = drift(np.array(a), np.array(b))
    assert found.ks == pytest.approx(stats.ks_2samp(a, b, method="asymp").statistic, abs=1e-12)


def test_the_index_of_known_counts() -> None:
    """Shares (.5 + 20, .5 + 80) / 101 and (.5 + 60, .5 + 40) / 101."""
    p, q = np.array([20.5, 80.5]) / 101, np.array([60.5, 40.5]) / 101
    expected = float(((p - q) * np.log(p / q)).sum())
    assert stability_index(np.array([20, 80]), np.array([80, 120])) == pytest.approx(expected)
    assert stats.entropy(p, q) + stats.entropy(q, p) == pytest.approx(expected)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (88, 100), (100, 100), (950, 1_000)])
@pytest.mark.parametrize("level", [0.05, 0.0003])
def test_the_exact_interval_is_scipys(k: int, n: int, level: float) -> None:
    expected = stats.binomtest(k, n).proportion_ci(1 - level, "exact")
    found = exact_share(np.repeat([1.0, 0.0], [k, n - k]), level)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_clusters_count_as_the_single_cases_with_their_standard_error() -> None:
    """20 clusters, mean .8, variance .03875: as .8 · .2 / (.03875 / 20) = 82 single cases, 65 or 66 of them hits."""
    found = exact_share(np.tile([0.5, 1.0, 0.75, 0.95], 5), 0.05)
    low, high = (stats.binomtest(k, 82).proportion_ci(0.95, "exact") for k in (65, 66))
    assert found == pytest.approx((low.low, high.high), abs=1e-9)


@pytest.mark.parametrize(("counts", "expected"), [
    pytest.param([5, 95], [0, 1], id="few values: one bin each"),
    pytest.param([1] * 20, [place // 2 for place in range(20)], id="many values: ten bins of as many"),
    pytest.param([1] * 11 + [89], [*[0] * 10, 1, 2], id="a value that fills a bin has its own"),
])  # fmt: skip
def test_bins(counts: list[int], expected: list[int]) -> None:
    assert equal_bins(np.array(counts)).tolist() == expected


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="both samples need a score"):
        drift(np.array([]), np.array([1.0]))
