"""Two crossed factors: worked numbers, a repeated-measures ANOVA by sums of squares, scipy, laws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from metrics.stats.two_factors import (
    Effects,
    complete_grid,
    effects_of_cases,
    effects_of_resamples,
    grid_contrasts,
)

SHAPES = st.tuples(st.integers(2, 9), st.integers(2, 4), st.integers(2, 4))
GRIDS = SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 8))).map(lambda own: own / 8)


def found(values: np.ndarray, *design: Any) -> dict[tuple[str, int, int], tuple[float, ...]]:
    """Value, low, high, error and p of every contrast."""
    contrasts = grid_contrasts(*values.shape[1:])
    made = effects_of_cases(values, contrasts, *design)
    rows = zip(made.value, made.low, made.high, made.error, made.p, strict=True)
    return {(one.kind, one.one, one.other): tuple(map(float, row)) for one, row in zip(contrasts, rows, strict=True)}


def values_of(values: np.ndarray, *design: Any) -> dict[tuple[str, int, int], float]:
    return {key: row[0] for key, row in found(values, *design).items()}


def test_worked_numbers() -> None:
    """Cell means 0.2 0.6 / 0.5 0.5: rows differ by 0.1, columns by 0.2, the differences 0.4 and 0 by −0.4."""
    values = np.array([[[0.1, 0.7], [0.4, 0.5]], [[0.3, 0.5], [0.6, 0.5]]])
    assert values_of(values) == pytest.approx({("row", 0, 1): 0.1, ("column", 0, 1): 0.2, ("interaction", 1, 1): -0.4})


def test_weights_are_of_cases() -> None:
    values = np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert values_of(values, np.array([3.0, 1.0]))["column", 0, 1] == pytest.approx(0.75)


def anova(values: np.ndarray, axes: tuple[int, ...]) -> tuple[float, float]:
    """F and p of an effect of one degree of freedom, by the sums of squares of a repeated-measures ANOVA."""
    n = len(values)

    def squares(kept: tuple[int, ...]) -> float:
        """Sum of squares of the deviations that belong to these axes together and to none of them alone."""
        part = values
        for axis in range(3):
            mean = part.mean(axis=axis, keepdims=True)
            part = part - mean if axis in kept else mean
        return float((np.broadcast_to(part, values.shape) ** 2).sum())

    ratio = squares(axes) / (squares((0, *axes)) / (n - 1))
    return ratio, float(stats.f.sf(ratio, 1, n - 1))


def test_a_two_by_two_design_is_that_of_repeated_measures_anova() -> None:
    values = np.random.default_rng(1).normal([[0, 0.3], [0.2, 0.9]], 1, (30, 2, 2))
    made = found(values)
    for kind, axes in (("row", (1,)), ("column", (2,)), ("interaction", (1, 2))):
        value, *_, error, p = next(row for key, row in made.items() if key[0] == kind)
        ratio, exact = anova(values, axes)
        assert (value / error) ** 2 == pytest.approx(ratio)
        assert p == pytest.approx(exact, rel=0.05)


def test_larger_grids_by_an_additive_fit_and_scipy() -> None:
    values = np.random.default_rng(2).normal(size=(40, 3, 4))
    ones = np.ones((3, 4))
    additive = [ones, *(ones * np.eye(3)[j][:, None] for j in (1, 2)), *(ones * np.eye(4)[k] for k in (1, 2, 3))]
    design, y = np.stack([one.ravel() for one in additive], axis=1), values.mean(axis=0).ravel()
    left = y - design @ np.linalg.lstsq(design, y)[0]
    made = found(values)
    assert np.array([made["interaction", j, k][0] for j in range(3) for k in range(4)]) == pytest.approx(left)
    for j, k in ((0, 1), (1, 2)):
        told = stats.ttest_1samp(values.mean(axis=2)[:, k] - values.mean(axis=2)[:, j], 0)
        assert made["row", j, k][4] == pytest.approx(told.pvalue, rel=0.03)


def test_resamples_are_those_of_the_contrast() -> None:
    rng = np.random.default_rng(3)
    values, contrasts = np.array([[0.2, 0.4], [0.3, 0.9]]), grid_contrasts(2, 2)
    samples = values[:, :, None] + rng.normal(0, 0.01, (2, 2, 500))
    made: Effects = effects_of_resamples(values, samples, contrasts, 1.0)
    assert made.value == pytest.approx([0.3, 0.4, 0.4])
    moved = samples[1].mean(axis=0) - samples[0].mean(axis=0)
    high, low = 0.6 - np.quantile(moved, [0.025, 0.975])
    assert (made.low[0], made.high[0], made.error[0]) == pytest.approx((low, high, moved.std()))
    assert (made.p < 1e-3).all()
    still = effects_of_resamples(values * 0, samples * 0, contrasts)
    assert (still.p.tolist(), still.differs.any()) == ([1.0] * 3, False)


@given(GRIDS)
def test_swapping_the_factors_swaps_the_effects(values: np.ndarray) -> None:
    other = {"row": "column", "column": "row", "interaction": "interaction"}
    turned = found(values.transpose(0, 2, 1))
    for (kind, one, two), row in found(values).items():
        places = (two, one) if kind == "interaction" else (one, two)
        assert row == pytest.approx(turned[(other[kind], *places)], nan_ok=True, abs=1e-9)


@given(GRIDS, st.sampled_from([-1.0, 0.5, 3.0]))
def test_a_constant_on_one_row_changes_its_own_effects_alone(values: np.ndarray, constant: float) -> None:
    raised = values.copy()
    raised[:, 0] += constant
    after = values_of(raised)
    for key, value in values_of(values).items():
        own = key[0] == "row" and key[1] == 0
        assert after[key] == pytest.approx(value - constant * own, abs=1e-9)


@given(GRIDS)
def test_a_case_twice_weighs_two_and_a_group_of_one_is_none(values: np.ndarray) -> None:
    n = len(values)
    twice = np.concatenate([values, values[:1]])
    assert values_of(twice) == pytest.approx(values_of(values, np.array([2.0] + [1.0] * (n - 1))), abs=1e-9)
    alone, plain = found(values, None, np.arange(n)), found(values)
    doubled = found(np.repeat(values, 2, axis=0), None, np.repeat(np.arange(n), 2))
    for key, row in plain.items():
        assert (row[0], *row[3:]) == pytest.approx((alone[key][0], *alone[key][3:]), abs=1e-9)
        assert (row[0], *row[3:]) == pytest.approx((doubled[key][0], *doubled[key][3:]), abs=1e-9)


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (3, 2), (3, 5)])
def test_contrasts_add_up_to_nothing_and_are_each_one_of_its_own(shape: tuple[int, int]) -> None:
    """Only in a larger grid some follow from the others; none is another's mirror."""
    contrasts = grid_contrasts(*shape)
    flat = np.array([one.weights.ravel() for one in contrasts])
    assert flat.sum(axis=1) == pytest.approx(np.zeros(len(flat)))
    assert np.linalg.matrix_rank(flat) == shape[0] * shape[1] - 1
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    assert np.abs(np.triu(unit @ unit.T, 1)).max() < 1 - 1e-9
    for one in contrasts:
        if one.kind == "interaction":
            assert one.weights.sum(axis=0) == pytest.approx(0)
            assert one.weights.sum(axis=1) == pytest.approx(0)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz")), max_size=12, unique=True))
def test_the_grid_is_the_largest_complete_one(cells: list[tuple[str, str]]) -> None:
    from itertools import chain, combinations

    def some(names: str) -> list[tuple[str, ...]]:
        return list(chain.from_iterable(combinations(names, size) for size in (2, 3, 4)))

    rows, columns = complete_grid(cells)
    assert {(row, column) for row in rows for column in columns} <= set(cells)
    assert len(rows) * len(columns) == max(
        (len(a) * len(b) for a in some("abcd") for b in some("wxyz") if {(i, j) for i in a for j in b} <= set(cells)),
        default=0,
    )
