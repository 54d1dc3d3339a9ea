"""Raters' errors without a truth: known tables, the likelihood maximised by another way, and what is not determined."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from metrics.stats.rater_agreement import connected_raters, dawid_skene, draws_of

NONE = np.nan
SHARE, SENSITIVITY, SPECIFICITY = 0.7, np.array([0.9, 0.8, 0.95]), np.array([0.8, 0.9, 0.7])


def labels(rng: np.random.Generator, n: int, missing: float = 0.0) -> np.ndarray:
    truth = rng.random((n, 1)) < SHARE
    ratings = (rng.random((n, 3)) < np.where(truth, SENSITIVITY, 1 - SPECIFICITY)).astype(float)
    ratings[rng.random((n, 3)) < missing] = NONE
    return ratings


def coverage(n: int, draws: int, hard: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return how often 95 % of 200 resamples hold each of share, sensitivities and specificities, and their mean error.

    hard: share of the items on which every rater guesses.
    """
    rng = np.random.default_rng(n)
    truth = np.array([SHARE, *(hard / 2 + (1 - hard) * SENSITIVITY), *(hard / 2 + (1 - hard) * SPECIFICITY)])
    held, apart = [], []
    for _ in range(draws):
        ratings = labels(rng, n)
        guessed = rng.random(n) < hard
        ratings[guessed] = rng.random((guessed.sum(), 3)) < 0.5
        found = dawid_skene(ratings, draws_of(np.arange(n), resamples=200))
        low, high = np.quantile(found[1:], (0.025, 0.975), axis=0)
        held.append((low <= truth) & (truth <= high))
        apart.append(found[0] - truth)
    return np.mean(held, axis=0), np.mean(apart, axis=0)


def test_tables_of_known_raters_give_them_back() -> None:
    """Three raters and eight patterns, each as often as the model says."""
    patterns = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)
    good = np.where(patterns == 1, SENSITIVITY, 1 - SENSITIVITY).prod(axis=1)
    bad = np.where(patterns == 0, SPECIFICITY, 1 - SPECIFICITY).prod(axis=1)
    found = dawid_skene(patterns, 1e9 * (SHARE * good + (1 - SHARE) * bad)[None])[0]
    assert found == pytest.approx([SHARE, *SENSITIVITY, *SPECIFICITY], abs=2e-4)


@pytest.mark.parametrize("seed", range(4))
def test_as_the_likelihood_maximised_by_another_way(seed: int) -> None:
    ratings = labels(np.random.default_rng(seed), 200, missing=0.2)
    known = ~np.isnan(ratings)

    def lost(free: np.ndarray) -> float:
        share, sensitivity, specificity = expit(free[0]), expit(free[1:4]), expit(free[4:])
        sides = [
            np.log(chance) + np.where(known, np.log(np.where(ratings == 1, pass_, 1 - pass_)), 0.0).sum(axis=1)
            for chance, pass_ in ((share, sensitivity), (1 - share, 1 - specificity))
        ]
        theta = np.concatenate([[share], sensitivity, specificity])
        return -float(logsumexp(sides, axis=0).sum() + 0.5 * np.log(theta * (1 - theta)).sum())

    best = minimize(lost, np.full(7, 1.0), method="BFGS", options={"gtol": 1e-7})
    assert dawid_skene(ratings, np.ones((1, 200)))[0] == pytest.approx(expit(best.x), abs=1e-4)


def test_resamples_are_data_sets_of_their_own() -> None:
    ratings = labels(np.random.default_rng(9), 60)
    draws = np.random.default_rng(1).integers(0, 4, (3, 60)).astype(float)
    together = dawid_skene(ratings, draws)
    for row, times in zip(together, draws, strict=True):
        alone = np.repeat(ratings, times.astype(int), axis=0)
        assert row == pytest.approx(dawid_skene(alone, np.ones((1, len(alone))))[0], abs=1e-4)


def test_intervals_hold_where_raters_err_independently() -> None:
    held, apart = coverage(150, 40)
    assert held.mean() > 0.88
    assert np.abs(apart).max() < 0.03


def test_two_raters_of_an_item_are_enough_where_three_overlap() -> None:
    given = np.full((30, 4), NONE)
    for place in range(30):
        given[place, [place % 3, (place + 1) % 3]] = 1.0
    given[:9, 3] = 1.0
    assert connected_raters(given, 10).tolist() == [True, True, True, False]
    assert not connected_raters(given[:, :2], 10).any()
    assert not connected_raters(given, 11).any()
