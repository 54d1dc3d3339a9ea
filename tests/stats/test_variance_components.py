"""Variance components by hand, in simulated designs, and beside a mixed model."""

import numpy as np
import pytest

from metrics.stats.student_t import Z95
from metrics.stats.variance_components import Components, cheapest, components


def design(rng: np.random.Generator, cases: int, balanced: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with variances 4, 1 and .25 of cases, repeats and draws."""
    case, repeat, value = [], [], []
    for place in range(cases):
        level = rng.normal(0, 2)
        for many in range(3 if balanced else int(rng.integers(1, 5))):
            own = level + rng.normal(0, 1)
            for _ in range(2 if balanced else int(rng.integers(1, 4))):
                case.append(place)
                repeat.append(many)
                value.append(own + rng.normal(0, 0.5))
    return np.array(value), np.array(case), np.array(repeat)


def test_a_balanced_design_by_hand() -> None:
    """Mean squares: .5 within repeats, 4.5 between repeats of a case, 50 between cases."""
    value = np.array([1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0])
    case, repeat = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    found = components(value, case, repeat)
    assert found is not None
    assert found.draw == pytest.approx(0.5)
    assert found.repeat == pytest.approx((9.0 - 0.5) / 2)
    assert found.case == pytest.approx((50.0 - 9.0) / 4)
    assert (found.cases, found.repeats, found.draws) == (2, 4, 8)


@pytest.mark.parametrize("balanced", [True, False])
def test_the_components_of_simulated_designs_are_unbiased(balanced: bool) -> None:
    rng = np.random.default_rng(0)
    each = [components(*design(rng, 40, balanced)) for _ in range(150)]
    means = np.array([[one.case, one.repeat, one.draw] for one in each if one is not None])
    error = means.std(axis=0) / len(means) ** 0.5
    assert (np.abs(means.mean(axis=0) - [4.0, 1.0, 0.25]) < 4 * error).all()


def test_the_error_of_a_mean_is_that_of_the_designs() -> None:
    rng = np.random.default_rng(1)
    means = [design(rng, 30, True)[0].mean() for _ in range(400)]
    told = Components(4.0, 1.0, 0.25, 0, 0, 0).error(30, 3, 2)
    assert np.std(means) == pytest.approx(told, rel=0.12)


def test_levels_without_repeats_are_part_of_the_one_above() -> None:
    rng = np.random.default_rng(2)
    value = rng.normal(0, 2, 500)
    alone = components(value, np.arange(500), np.zeros(500, int))
    assert alone is not None
    assert (alone.repeat, alone.draw) == (None, None)
    assert alone.case == pytest.approx(value.var(ddof=1))
    assert components(value[:1], np.zeros(1, int), np.zeros(1, int)) is None


def test_repeats_are_numbered_within_their_case() -> None:
    value, case, repeat = design(np.random.default_rng(3), 20, False)
    shuffled = np.random.default_rng(4).permutation(len(value))
    assert components(value[shuffled], case[shuffled] * 7, repeat[shuffled] + 3) == pytest.approx(
        components(value, case, repeat)
    )


@pytest.mark.parametrize("costs", [(0.0, 1.0, 1.0), (100.0, 1.0, 0.5), (10.0, 0.1, 0.1)])
def test_no_plan_is_cheaper(costs: tuple[float, float, float]) -> None:
    known = Components(4.0, 1.0, 0.25, 0, 0, 0)
    found = cheapest(known, 0.2, *costs)
    assert found is not None
    every = [
        (n * (costs[0] + r * (costs[1] + d * costs[2])), n, r, d)
        for r in range(1, 51)
        for d in range(1, 51)
        for n in [int(np.ceil((Z95 / 0.2) ** 2 * (4 + 1 / r + 0.25 / (r * d))))]
    ]
    assert found.cost == pytest.approx(min(every)[0])
    assert Z95 * known.error(found.cases, found.repeats, found.draws) <= 0.2 + 1e-9


def test_repeats_pay_where_a_case_is_dear() -> None:
    """√(σ²repeat / σ²case · case cost / repeat cost) = √(1 / 4 · 100) = 5."""
    found = cheapest(Components(4.0, 1.0, None, 0, 0, 0), 0.02, 100.0, 1.0, 0.0)
    assert found is not None
    assert (found.repeats, found.draws) == (5, 1)


def test_a_suite_that_is_too_small_has_no_plan() -> None:
    assert cheapest(Components(4.0, None, None, 0, 0, 0), 0.1, 0.0, 1.0, 0.0, most_cases=1_000) is None
    found = cheapest(Components(4.0, None, None, 0, 0, 0), 0.2, 0.0, 1.0, 0.0, most_cases=1_000)
    assert found is not None
    assert (found.cases, found.repeats, found.draws) == (385, 1, 1)
