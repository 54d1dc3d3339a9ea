"""Cosines and what is read off them, against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from metrics.text.overlap.similarity import best_matches, best_of_groups, cosines, reciprocal_rank

NUMBERS = st.floats(-100, 100, width=32)


def vectors(width: int = 3) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 5).flatmap(lambda count: arrays(np.float32, (count, width), elements=NUMBERS))


@given(left=vectors(), right=vectors())
def test_cosines_equal_the_definition(left: np.ndarray, right: np.ndarray) -> None:
    found = cosines(left, right)
    assert found.shape == (len(left), len(right))
    for i, a in enumerate(left.astype(float)):
        for j, b in enumerate(right.astype(float)):
            norm = math.hypot(*a) * math.hypot(*b)
            expected = float(a @ b) / norm if norm else 0.0
            assert found[i, j] == pytest.approx(expected, abs=1e-9)
            assert -1 <= found[i, j] <= 1


@pytest.mark.parametrize(("table", "values", "columns"), [
    pytest.param([[0.1, 0.9], [0.3, 0.2]], [0.9, 0.3], [1, 0], id="each row by itself"),
    pytest.param([[0.5, 0.5]], [0.5], [0], id="the first of equals"),
    pytest.param([[-0.9, -0.1]], [-0.1], [1], id="below nothing in common"),
    pytest.param(np.zeros((2, 0)), [0, 0], [-1, -1], id="nothing to be like"),
    pytest.param(np.zeros((0, 2)), [], [], id="no rows"),
])  # fmt: skip
def test_best_matches(table: list[list[float]], values: list[float], columns: list[int]) -> None:
    found, places = best_matches(np.asarray(table, float))
    assert (found.tolist(), places.tolist()) == (values, columns)


def test_best_of_groups() -> None:
    row = np.array([0.2, 0.7, -0.5, 0.1, 0.4])
    assert best_of_groups(row, [2, 0, 1, 2]) == [(0.7, 1), (0.0, None), (-0.5, 2), (0.4, 4)]
    assert best_of_groups(np.zeros(0), [0, 0]) == [(0.0, None), (0.0, None)]


@pytest.mark.parametrize(("best", "threshold", "furthest", "expected"), [
    pytest.param([0.55, 0.69, 0.71, 0.9], 0.7, 10, (1 / 3, 3), id="worked number 15"),
    pytest.param([0.1] * 10 + [0.9], 0.7, 10, (0.0, None), id="the first at rank 11 of 10"),
    pytest.param([0.1] * 9 + [0.9], 0.7, 10, (0.1, 10), id="the last rank that counts"),
    pytest.param([0.7], 0.7, 10, (1.0, 1), id="exactly on the threshold"),
    pytest.param([0.6, 0.5], 0.7, 10, (0.0, None), id="none"),
    pytest.param([], 0.7, 10, (0.0, None), id="no chunks"),
])  # fmt: skip
def test_reciprocal_rank(best, threshold, furthest, expected):
    assert reciprocal_rank(best, threshold, furthest) == expected
