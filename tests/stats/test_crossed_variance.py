"""Intervals that hold for other raters: the two-way variance as it is defined, and how often it holds."""

import numpy as np
import pytest

from metrics.stats.agreement_intervals import effective_size, share_interval
from metrics.stats.cluster_variance import allows_for_raters, crossed_widening
from metrics.stats.student_t import student
from tests.random_seeds import least_covered, seeds


def coverage(raters: int, spread: float, draws: int, crossed: bool = True, n: int = 200) -> int:
    """Return how many intervals of a rate hold .8, the mean over all raters: each of some has a rate of its own.

    Two labels of a case, by different raters.
    """
    rng, held = np.random.default_rng(raters), 0
    for _ in range(draws):
        rates = np.clip(0.8 + spread * rng.standard_normal(raters), 0.02, 0.98)
        who = rng.permutation(np.arange(n) % raters)
        hits = (rng.random(n) < rates[who]).astype(float)
        _, (low, high) = share_interval(hits, np.ones(n), np.arange(n) // 2, who if crossed else None)
        held += low <= 0.8 <= high
    return held


def test_the_variance_of_cases_and_raters_by_definition() -> None:
    """Cameron, Gelbach and Miller's, of equal raters: that over raters times k / (k − 1)."""
    rng = np.random.default_rng(0)
    case, who = np.arange(60) // 3, np.tile(np.arange(6), 10)
    moved = rng.standard_normal(6)[who] + rng.standard_normal(60)
    moved -= moved.mean()

    def squares(codes: np.ndarray) -> float:
        return sum(moved[codes == code].sum() ** 2 for code in np.unique(codes))

    both = squares(case) + squares(who) * 6 / 5 - squares(case * 6 + who)
    expected = np.sqrt(both / squares(case)) * student(5) / student(19)
    assert crossed_widening(moved, np.ones(60), case, who) == pytest.approx(expected)
    assert crossed_widening(moved, np.full(60, 3.0), case, who) == pytest.approx(expected)


def test_few_raters_or_one_with_nearly_all_labels_say_nothing_of_others() -> None:
    assert allows_for_raters(np.arange(50) % 5)
    assert not allows_for_raters(np.arange(50) % 4)
    uneven = np.where(np.arange(60) < 50, 0, np.arange(60))
    assert not allows_for_raters(uneven)
    moved = np.where(np.arange(60) % 2, 1.0, -1.0)
    assert crossed_widening(moved, np.ones(60), np.arange(60), uneven) == 1.0


def test_raters_who_all_agree_are_no_copies() -> None:
    ones, who = np.ones(50), np.arange(50) % 5
    assert effective_size(np.zeros(50), ones, np.arange(50), who) == 50
    assert crossed_widening(np.zeros(50), ones, np.arange(50), who) == 1.0


@pytest.mark.parametrize(("raters", "spread"), [(5, 0.1), (20, 0.1), (8, 0.0)])
def test_intervals_hold_for_other_raters(raters: int, spread: float) -> None:
    """Over cases alone they held 74, 89 and 96 %."""
    draws = len(seeds(300, 1_000))
    assert coverage(raters, spread, draws) >= least_covered(draws)
