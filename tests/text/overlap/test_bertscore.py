"""BERTScore's matching against a plain loop over tokens."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from metrics.text.overlap.similarity import greedy_matching, rescaled

VECTORS = st.integers(1, 6).flatmap(lambda n: arrays(np.float64, (n, 3), elements=st.floats(-2, 2, width=32)))
WEIGHTS = st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=6, max_size=6)


def side(own: np.ndarray, weights: np.ndarray, other: np.ndarray) -> float:
    """The weighted mean over tokens of the best cosine with a token of the other side."""
    total = 0.0
    for row, weight in zip(own, weights, strict=True):
        lengths = [np.linalg.norm(row) * np.linalg.norm(column) for column in other]
        best = max(row @ column / length if length else 0.0 for column, length in zip(other, lengths, strict=True))
        total += weight * best
    return total / weights.sum() if weights.sum() else 0.0


@given(left=VECTORS, right=VECTORS, weights=st.tuples(WEIGHTS, WEIGHTS))
def test_it_is_a_plain_loop(left: np.ndarray, right: np.ndarray, weights: tuple[list[float], list[float]]) -> None:
    own, other = np.array(weights[0])[: len(left)], np.array(weights[1])[: len(right)]
    found = greedy_matching(left, own, right, other)
    if not own.sum() or not other.sum():
        assert found == (0, 0, 0)
        return
    precision, recall = side(left, own, right), side(right, other, left)
    assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=1e-9)
    if precision > 1e-6 and recall > 1e-6:
        assert found.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert found.f1 <= 1e-5


@pytest.mark.parametrize(
    ("value", "baseline", "expected"), [(1, 0.85, 1), (0.85, 0.85, 0), (0.925, 0.85, 0.5), (0, 0.85, -1), (0.3, 0, 0.3)]
)
def test_rescaling_puts_the_baseline_at_0(value: float, baseline: float, expected: float) -> None:
    assert rescaled(value, baseline) == pytest.approx(expected)
