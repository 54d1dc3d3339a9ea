"""The 2PL model: girth, a plain likelihood maximised by scipy, and simulated cases whose parameters are known."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import spearmanr

from metrics.core.array_types import Floats
from metrics.stats.item_response import two_parameter

# girth 0.8.0 (not installed here), twopl_mml with 61 nodes, on `drawn(0, 12, 1_500, 0.4)`
GIRTH_STEEP = (1.13, 0.867, 1.162, 1.217, 0.809, 1.141, 1.661, 1.238, 0.811, 0.496, 0.738, 0.912)
GIRTH_HARD = (-2.223, -0.158, -1.327, -0.68, -0.51, -0.294, 0.422, 1.188, 0.026, 1.844, -0.769, 0.548)
GIRTH_ABILITY = (1.197, 0.397, -0.467, -1.407, -0.657)


def drawn(seed: int, n: int, m: int, spread: float = 0.5) -> tuple[Floats, Floats, Floats, Floats]:
    """Answers [n, m] of cases with log a ~ N(0, spread²), b ~ N(0, 1) and models θ ~ N(0, 1); a, b and θ."""
    rng = np.random.default_rng(seed)
    steep, hard, ability = np.exp(rng.normal(0, spread, n)), rng.normal(0, 1, n), rng.normal(size=m)
    chance = expit(steep[:, None] * (ability - hard[:, None]))
    return (rng.random((n, m)) < chance).astype(np.float64), steep, hard, ability


def test_with_many_models_it_is_girths_maximum_likelihood() -> None:
    """The priors draw in the flattest case a little: 0.496 without them, 0.531 with them."""
    found = two_parameter(drawn(0, 12, 1_500, 0.4)[0])
    assert found.discrimination == pytest.approx(GIRTH_STEEP, abs=0.036)
    assert np.delete(found.difficulty, 9) == pytest.approx(np.delete(GIRTH_HARD, 9), abs=0.015)
    assert found.ability[:5] == pytest.approx(GIRTH_ABILITY, abs=0.01)


def test_the_maximum_is_that_of_the_likelihood_itself() -> None:
    """Of 60 cases, 8 models and some missing answers, the abilities integrated on a fine grid."""
    right = drawn(1, 60, 8)[0]
    right[np.random.default_rng(2).random(right.shape) < 0.1] = np.nan
    right[3, 2] = 0.4  # a share of repeats
    known, there = np.nan_to_num(right), (~np.isnan(right)).astype(float)
    grid = np.linspace(-6, 6, 241)

    def loss(given: Floats) -> tuple[float, Floats]:
        log, hard = given[:60], given[60:]
        logit = np.exp(log)[:, None] * (grid - hard[:, None])
        height = known.T @ -np.logaddexp(0, -logit) + (there - known).T @ -np.logaddexp(0, logit) - grid**2 / 2
        top = height.max(axis=1, keepdims=True)
        mass = np.exp(height - top)
        total = mass.sum(axis=1, keepdims=True)
        apart = known @ (mass / total) - there @ (mass / total) * expit(logit)
        slope = (apart * logit).sum(axis=1) - log / 0.25, -(apart * np.exp(log)[:, None]).sum(axis=1) - hard / 4
        value = (np.log(total) + top).sum() - (log**2).sum() / 0.5 - (hard**2).sum() / 8
        return -float(value), -np.concatenate(slope)

    best = minimize(loss, np.zeros(120), jac=True, method="L-BFGS-B", options={"maxiter": 2_000, "gtol": 1e-6})
    found = two_parameter(right)
    assert np.log(found.discrimination) == pytest.approx(best.x[:60], abs=1e-3)
    assert found.difficulty == pytest.approx(best.x[60:], abs=2e-3)


@pytest.mark.parametrize(("models", "of_hard", "of_steep"), [(8, 0.65, 0.25), (20, 0.8, 0.45)])
def test_known_parameters_are_found_again(models: int, of_hard: float, of_steep: float) -> None:
    """Ranks of 200 cases, and 95 % intervals that hold the truth."""
    for seed in range(3):
        right, steep, hard, ability = drawn(seed, 200, models)
        found = two_parameter(right)
        assert spearmanr(found.difficulty, hard)[0] > of_hard
        assert spearmanr(found.discrimination, steep)[0] > of_steep
        assert spearmanr(found.ability, ability)[0] > 0.9
        truths = ((found.difficulty_ends, hard), (found.discrimination_ends, steep))
        for ends, truth in truths:
            assert 0.88 <= ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() <= 1
        assert np.abs(found.ability - ability).max() < 6 * found.ability_error.max()


def test_cases_that_all_get_right_or_nobody_answers_are_finite_and_wide() -> None:
    right = drawn(3, 30, 8)[0]
    right[0], right[1], right[2] = 1.0, 0.0, np.nan
    found = two_parameter(right)
    assert found.difficulty[0] < -1.5
    assert found.difficulty[1] > 1.5
    assert (found.difficulty[2], found.discrimination[2]) == (0.0, 1.0), "the priors' means"
    assert np.diff(found.difficulty_ends, axis=1)[2] == pytest.approx(4 * 1.959964)
    assert two_parameter(right, found).difficulty == pytest.approx(found.difficulty, abs=1e-3)


def test_information_is_largest_where_the_case_is_as_hard_as_the_model_is_able() -> None:
    found = two_parameter(drawn(4, 50, 20)[0])
    chance = found.chance()
    assert found.information() == pytest.approx(found.discrimination[:, None] ** 2 * chance * (1 - chance))
    assert (found.information() <= found.discrimination[:, None] ** 2 / 4).all()
