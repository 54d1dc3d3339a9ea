"""Corrections for many tests: against statsmodels, and what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from metrics.stats.corrections import benjamini_hochberg, holm

SHARES = st.lists(st.floats(0, 1), max_size=20).map(np.array)


class TestCorrections:
    @given(SHARES.filter(len))
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
