"""Student's t against scipy."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.student_t import SMALL, student, student_p


@pytest.mark.parametrize("freedom", [1, 1.2, 1.5, 2, 2.7, 2.999, 3, 3.4, 5, 12, 40, 1_000])
def test_the_quantile_like_scipys(freedom: float) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-4 if freedom < 3 else 2e-3)


@pytest.mark.parametrize("freedom", [1, 1.001, 1.6, 2, 3, 4, 4.5, 7, SMALL, SMALL + 0.5, SMALL + 1, 30, 200])
def test_the_tails_like_scipys(freedom: float) -> None:
    t = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 4.5])
    expected = 2 * stats.t.sf(t, freedom)
    assert student_p(t, np.full(6, freedom)) == pytest.approx(expected, rel=1e-9 if freedom <= SMALL else 0.03)


def test_each_has_its_own_freedom_and_none_is_beyond_certainty() -> None:
    found = student_p(np.array([2.0, 2.0, np.inf, np.inf]), np.array([3, 40, 5, 400]))
    assert found[:2] == pytest.approx(2 * stats.t.sf(2.0, [3, 40]), rel=0.01)
    assert found[2:].tolist() == pytest.approx([0, 0], abs=1e-12)
