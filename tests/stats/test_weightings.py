"""How much a weighted ranking depends on the weights, against geometry and a search."""

import numpy as np
import pytest

from metrics.stats.intervals import mean_intervals
from metrics.stats.model_ranking import first_shares, turning_point, weighted_intervals


def test_shares_of_two_parts_are_where_the_lines_cross() -> None:
    """One model leads where 0.9·x + 0.2·(1 − x) > 0.3·x + 0.6·(1 − x), which is x > 0.4; a dominated one nowhere."""
    parts = np.array([[0.9, 0.3, 0.2], [0.2, 0.6, 0.1]])
    assert first_shares(parts) == pytest.approx([0.6, 0.4, 0.0], abs=0.015)
    assert first_shares(parts).tolist() == first_shares(parts).tolist()


def test_shares_of_three_parts_are_areas_and_equal_models_share() -> None:
    """Each of three models is the best in one part: by symmetry each leads in a third of the triangle."""
    assert first_shares(np.eye(3)) == pytest.approx([1 / 3] * 3, abs=0.015)
    assert first_shares(np.ones((2, 4))).tolist() == [0.25] * 4


def test_the_turn_is_the_nearest_crossing() -> None:
    turn = turning_point(np.array([[0.9, 0.3], [0.2, 0.6]]), np.array([0.7, 0.3]))
    assert (turn.part, turn.model, turn.weight) == (0, 1, pytest.approx(0.4))
    assert turning_point(np.array([[0.9, 0.3], [0.6, 0.2]]), np.array([0.5, 0.5])) is None, "dominated"
    assert turning_point(np.array([[0.9, 0.3]]), np.ones(1)) is None, "nothing to change"


def test_the_turn_agrees_with_a_search() -> None:
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1, 20_001)
    for _ in range(20):
        parts, weights = rng.random((3, 4)), rng.dirichlet(np.ones(3))
        leader, near = int(np.argmax(weights @ parts)), np.inf
        for part in range(3):
            rest = (weights @ parts - weights[part] * parts[part]) / (1 - weights[part])
            first = np.argmax(steps[:, None] * parts[part] + (1 - steps[:, None]) * rest, axis=1)
            near = min(near, np.abs(steps[first != leader] - weights[part]).min(initial=np.inf))
        turn = turning_point(parts, weights)
        assert (turn is None) == (near == np.inf)
        assert turn is None or abs(turn.weight - weights[turn.part]) == pytest.approx(near, abs=1e-4)


def test_a_part_without_variation_adds_its_own_doubt() -> None:
    """20 of 20 right: the interval reaches below the other part's by the root of both squares, and no further up."""
    parts = np.array([np.ones((20, 1)), np.random.default_rng(0).random((20, 1))])
    mean, low, high = weighted_intervals(parts, np.array([0.6, 0.4]))
    plain, top, _ = mean_intervals(0.6 + 0.4 * parts[1], low=0.0, high=1.0)
    own, _, _ = mean_intervals(parts[0], low=0.0, high=1.0)
    assert mean[0] == pytest.approx(0.6 + 0.4 * parts[1].mean())
    assert mean[0] - low[0] == pytest.approx(np.hypot(mean[0] - plain[0], 0.6 * (1 - own[0])))
    assert high[0] == pytest.approx(top[0])
    alone = weighted_intervals(parts[:1], np.ones(1))
    assert (alone[1][0], alone[2][0]) == (pytest.approx(own[0]), 1.0)


def test_rows_without_every_part_do_not_count() -> None:
    parts = np.random.default_rng(0).random((2, 12, 1))
    parts[1, :2] = np.nan
    found = weighted_intervals(parts, np.array([0.5, 0.5]))
    assert np.array(found) == pytest.approx(np.array(weighted_intervals(parts[:, 2:], np.array([0.5, 0.5]))), abs=0.01)
    assert np.isnan(weighted_intervals(np.full((2, 4, 1), np.nan), np.array([0.5, 0.5]))[1]).all()


@pytest.mark.parametrize("right", [0.8, 0.95])
def test_the_interval_covers(right: float) -> None:
    """Of 30 cases, a share and a skewed mean: without a part's own doubt 88 % where 95 % are right."""
    rng = np.random.default_rng(5)
    parts = np.array([rng.random((30, 600)) < right, rng.beta(2, 5, (30, 600))])
    truth = 0.7 * right + 0.3 * 2 / 7
    _, low, high = weighted_intervals(parts, np.array([0.7, 0.3]))
    assert ((low <= truth) & (truth <= high)).mean() >= 0.94
