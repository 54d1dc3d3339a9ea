"""Short suites: what is chosen, and that no pair of models is judged by cases that it chose."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from metrics.core.array_types import Floats
from metrics.stats import short_suite
from metrics.stats.item_response import two_parameter
from metrics.stats.short_suite import Size, by_information, cross_fitted, smallest
from tests.stats.test_item_response import drawn


def test_steep_cases_of_the_models_own_difficulty_come_first() -> None:
    right, steep, _, _ = drawn(0, 120, 40, 0.8)
    chosen = by_information(two_parameter(right), 20)
    assert len(set(chosen.tolist())) == 20
    assert np.log(steep[chosen]).mean() > np.log(steep).mean() + 0.4
    assert len(by_information(two_parameter(right), 500)) == 120


def test_noise_alone_keeps_no_ranking_and_strong_differences_do() -> None:
    """Cases that chose themselves would seem to keep an order that is not there better than cases at random."""
    noise = (np.random.default_rng(1).random((60, 8)) < 0.5).astype(float)
    by_chance = {one.cases: one for one in cross_fitted(noise, noise, None, two_parameter(noise))}
    assert abs(by_chance[20].tau - by_chance[20].random) < 0.25
    right = drawn(2, 200, 20)[0]
    sizes = cross_fitted(right, right, None, two_parameter(right))
    assert [one.cases for one in sizes] == [10, 15, 20, 30, 40, 60, 80, 100, 150]
    assert sizes[-1].tau > 0.9 > sizes[0].tau
    assert sizes[3].tau > sizes[3].random - 0.03
    assert sizes[0].kept == pytest.approx((1 + sizes[0].tau) / 2 * sizes[0].pairs)


def test_who_is_held_out_does_not_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fit is to the models of the other blocks, and tau is Kendall's of the pairs that are held out."""
    right = drawn(3, 40, 8)[0]
    fitted, seen = two_parameter(right), []

    def spy(others: Floats, start: object) -> object:
        seen.append(others.shape[1])
        return fitted

    monkeypatch.setattr(short_suite, "two_parameter", spy)
    values = right + np.random.default_rng(4).normal(0, 0.01, right.shape)  # no ties
    sizes = cross_fitted(right, values, None, fitted)
    assert seen == [6] * 28
    chosen = by_information(fitted, 30)
    assert sizes[-1].tau == pytest.approx(kendalltau(values.mean(axis=0), values[chosen].mean(axis=0))[0])


def test_the_smallest_size_from_which_on_the_order_stays() -> None:
    taus = (0.95, 0.8, 0.92, 0.91)
    sizes = tuple(Size(10 * place, tau, 0, 28, 0.5) for place, tau in enumerate(taus, 1))
    assert (smallest(sizes), smallest(sizes[:2]), smallest(())) == (sizes[2], None, None)


def test_weights_and_missing_values_make_the_ranking() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [np.nan, 1.0]])
    order = short_suite._order(values, np.array([3.0, 1.0, 1.0]), np.arange(3))
    assert order.tolist() == [[0.0, 1.0], [-1.0, 0.0]]
