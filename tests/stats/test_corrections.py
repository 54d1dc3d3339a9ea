"""Corrections for many tests: by definition, against scipy and statsmodels, and what they promise."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats

from metrics.stats.corrections import benjamini_hochberg, benjamini_yekutieli, holm

SHARES = st.lists(st.floats(0, 1), max_size=20).map(np.array)


def by_definition(p: list[float]) -> list[float]:
    """Holm: of all values up to one's own, the largest product with the number of values not below it."""
    return [max(min(1.0, q * sum(other >= q for other in p)) for q in p if q <= value) for value in p]


class TestCorrections:
    @given(SHARES)
    def test_holm_by_definition(self, p: NDArray[np.float64]) -> None:
        assert holm(p).tolist() == pytest.approx(by_definition(p.tolist()))

    @given(SHARES)
    def test_benjamini_hochberg_and_yekutieli_like_scipy(self, p: NDArray[np.float64]) -> None:
        for method, ours in (("bh", benjamini_hochberg), ("by", benjamini_yekutieli)):
            assert ours(p) == pytest.approx(stats.false_discovery_control(p, method=method) if len(p) else p)

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
