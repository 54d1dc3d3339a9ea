"""The score over all cases from the answers to some: worked by hand, and whether its interval holds the truth."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from metrics.core.array_types import Floats
from metrics.stats.item_response import ItemResponse, two_parameter
from metrics.stats.short_suite import by_information, full_scores, predict_score
from tests.stats.test_item_response import drawn


def known_cases(steep: Floats, hard: Floats) -> ItemResponse:
    none = np.empty((len(hard), 2))
    return ItemResponse(hard, none, steep, none, np.zeros(1), np.ones(1))


def test_two_cases_answered_of_three() -> None:
    """Right on a case of b = 0, wrong on b = 1, a = 1: the third by integrals over the posterior of θ."""
    fitted = known_cases(np.array([1.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.5]))

    def posterior(theta: float) -> float:
        return float(np.exp(-(theta**2) / 2) * expit(theta) * expit(1 - theta))

    whole = quad(posterior, -8, 8)[0]
    chance = quad(lambda theta: posterior(theta) * expit(2 * (theta - 0.5)), -8, 8)[0] / whole
    mean, variance = predict_score(fitted, np.array([0, 1]), np.array([1.0, 0.0]))
    assert mean == pytest.approx((1 + chance) / 3, abs=1e-5)
    assert variance == pytest.approx(chance * (1 - chance) / 9, abs=1e-5)  # of one answer, whatever θ


def test_no_answer_is_the_prior_and_all_answers_are_the_score() -> None:
    fitted = known_cases(np.ones(4), np.zeros(4))
    answers = np.array([1.0, 0.0, 1.0, 1.0])
    assert predict_score(fitted, np.arange(4), answers) == pytest.approx((0.75, 0.0))
    assert predict_score(fitted, np.array([2]), np.array([np.nan]))[0] == pytest.approx(0.5)


def test_the_interval_holds_the_full_score_and_the_error_is_less_than_of_random_cases() -> None:
    """Six suites of 120 cases and 12 earlier models, each with 40 new models on 20 chosen cases."""
    rng, held, squares, random, plain = np.random.default_rng(9), [], [], [], []
    for seed in range(6):
        right = drawn(seed, 120, 52)[0]
        old, new = right[:, :12], right[:, 12:]
        chosen, truth = by_information(two_parameter(old), 20), new.mean(axis=0)
        found = full_scores(old, chosen, new[chosen])
        held += [one.low <= score <= one.high for one, score in zip(found, truth, strict=True)]
        squares += [(one.value - score) ** 2 for one, score in zip(found, truth, strict=True)]
        random.append((new[rng.permutation(120)[:20]].mean(axis=0) - truth) ** 2)
        plain.append((new[chosen].mean(axis=0) - truth) ** 2)
        assert all(one.low <= one.value <= one.high for one in found)
    assert np.mean(held) > 0.92
    assert np.mean(squares) < 0.75 * np.mean(random) < np.mean(plain)
