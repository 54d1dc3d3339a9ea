"""Models that share mistakes: the dependence by a dense formula, families found, and clean labels that stay clean."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm

from metrics.core.array_types import Floats, Ints
from metrics.stats.corrections import benjamini_hochberg
from metrics.stats.item_response import REACH, SPREAD, reversed_patterns, two_parameter
from metrics.stats.model_families import check_labels, families, family_answers, is_dependent, residual_dependence
from tests.stats.test_item_response import drawn


def drawn_families(seed: int, models: int, groups: int, shared: float, cases: int = 200) -> tuple[Floats, Ints]:
    """Answers of `models` models in families with latent residuals that correlate by `shared`, and the families."""
    rng, family = np.random.default_rng([seed, models, groups]), np.arange(models) % groups
    steep, hard = np.exp(rng.normal(0, 0.5, cases)), rng.normal(0, 1, cases)
    ability = np.sqrt(0.5) * (rng.normal(size=groups)[family] + rng.normal(size=models))
    residual = np.sqrt(shared) * rng.normal(size=(cases, groups))[:, family]
    residual += np.sqrt(1 - shared) * rng.normal(size=(cases, models))
    noise = logit(np.clip(norm.cdf(residual), 1e-9, 1 - 1e-9))
    return (steep[:, None] * (ability - hard[:, None]) + noise > 0).astype(np.float64), family


def test_the_dependence_is_that_of_the_residuals_covariances() -> None:
    """Case by case with the matrices of the formula, one answer missing."""
    right, fitted = drawn(3, 40, 9)[0], two_parameter(drawn(3, 40, 9)[0])
    right[4, 2] = np.nan
    cases = np.arange(40) > 0
    total, mean, variance = (np.zeros((9, 9)) for _ in range(3))
    prior = np.diag([SPREAD**-2, REACH**-2])
    for case in range(1, 40):
        there = ~np.isnan(right[case])
        chance = fitted.chance()[case]
        steep, hard = fitted.discrimination[case], fitted.difficulty[case]
        v = np.diag(np.where(there, chance * (1 - chance), 0.0))
        x = np.column_stack([steep * (fitted.ability - hard), np.full(9, -steep)])
        inverse = np.linalg.inv(x.T @ v @ x + prior)
        covariance = v - v @ x @ (inverse + inverse @ prior @ inverse) @ x.T @ v
        residual = np.where(there, np.nan_to_num(right[case]) - chance, 0.0)
        total += np.outer(residual, residual)
        mean += covariance
        variance += np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2
    off = ~np.eye(9, dtype=bool)
    found = residual_dependence(right, fitted, cases)
    assert found[off] == pytest.approx(((total - mean) / np.sqrt(variance))[off])
    assert not found.diagonal().any()


def test_families_are_found_and_independent_models_have_none() -> None:
    right, family = drawn_families(1, 20, 10, 0.8)
    z = residual_dependence(right, two_parameter(right), np.ones(200, bool))
    assert is_dependent(z)
    codes = families(z)
    assert all(len(set(codes[family == own])) == 1 for own in range(10))
    answers = family_answers(right, codes)
    assert answers[:, codes[3]] == pytest.approx(right[:, codes == codes[3]].mean(axis=1))
    for seed in range(6):
        alone = check_labels(drawn(seed, 200, 8)[0])
        assert (len(set(alone.codes.tolist())), alone.p is None) == (8, False)


def test_clean_labels_of_families_are_not_accused() -> None:
    """Of 6 suites without a wrong label: suspects in most of them if the models counted as independent."""
    naive = judged = 0
    for seed in range(6):
        right = drawn_families(seed, 12, 3, 0.9)[0]
        fitted = two_parameter(right)
        own = reversed_patterns(right, fitted.ability, fitted.difficulty).p
        naive += (benjamini_hochberg(own) <= 0.05).any()
        checked = check_labels(right)
        judged += checked.p is not None and bool((benjamini_hochberg(checked.p) <= 0.05).any())
    assert naive >= 2
    assert judged == 0
