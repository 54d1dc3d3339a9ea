"""Labels drawn with unequal chances: by hand, without bias, intervals that hold, less error where scores tell."""

import numpy as np
import pytest

from metrics.stats.judge_correction import UNIFORM, corrected_mean, draw_chances, draw_sizes
from tests.stats.judged import SCORED, Scored, simulate_draws


def test_sizes_are_of_mean_1_and_never_0() -> None:
    sizes = draw_sizes(np.array([0.0, 0.25, 0.5, 1.0, np.nan]), 0.0, 1.0, 0.25)
    doubt = np.sqrt([0.0, 0.25, 2 / 9, 0.0])  # p = 0, 1/2, 2/3, 1
    assert sizes == pytest.approx([*(UNIFORM + (1 - UNIFORM) * doubt / doubt.mean()), 1.0])
    assert draw_sizes(np.array([0.0, 1.0]), 0.0, 1.0, 0.5).tolist() == [1.0, 1.0]


def test_chances_by_hand() -> None:
    ranks, sizes = np.array([0.2, 0.4, 0.6, 0.8, 1.0]), np.array([0.5, 1.0, 2.0, 0.5, 1.0])
    no, first, third = np.zeros(5, bool), np.arange(5) == 0, np.arange(5) == 2
    assert draw_chances(ranks, sizes, first, no, no) == pytest.approx([0.2, *[np.nan] * 4], nan_ok=True)
    # 0.6 / 2 = 0.3: the last is never nearer, the second with 0.4 not reached
    assert draw_chances(ranks, sizes, no, third, no) == pytest.approx(
        [np.nan, np.nan, 0.6, np.nan, np.nan], nan_ok=True
    )
    both = draw_chances(ranks, sizes, first, third, np.arange(5) == 4)
    expected = [1 - 0.8 * (1 - one) for one in (0.2, 0.6, 0.3)]
    assert both == pytest.approx([expected[0], np.nan, expected[1], np.nan, expected[2]], nan_ok=True)


def test_chances_that_are_all_alike_change_nothing() -> None:
    rng = np.random.default_rng(3)
    scores, labels = rng.random(50), np.where(np.arange(50) < 20, rng.random(50), np.nan)
    assert corrected_mean(scores, labels, chances=np.full(50, 0.4)) == corrected_mean(scores, labels)


@pytest.mark.parametrize("scored", SCORED, ids=lambda one: one.name)
def test_no_bias_and_intervals_that_hold(scored: Scored) -> None:
    found = simulate_draws(scored, 60, 150)
    assert abs(found.bias) < 4 * found.noise
    assert found.covered >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 150)
    assert found.error < found.error_alone * (0.95 if scored.confident else 1.1)
