"""Reversed cases: probabilities by enumeration, false accusations and findings by simulation."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from metrics.core.array_types import Floats
from metrics.stats.corrections import benjamini_hochberg
from metrics.stats.item_response import item_rest, reversed_patterns, two_parameter
from tests.stats.test_item_response import drawn


def test_the_probability_is_that_of_all_patterns_with_as_many_right() -> None:
    """Five models, two of them right: the weakest two, and the strongest two."""
    ability = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    hard = np.array([-1.0, 1.0])
    right = np.array([[1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]], np.float64)
    patterns = np.array([row for row in product((0, 1), repeat=5) if sum(row) == 2])
    log, weights = np.polynomial.hermite_e.hermegauss(9)
    mass = np.zeros(len(patterns))
    for steep, weight in zip(np.exp(0.5 * log), weights, strict=True):
        for place in np.linspace(-2, 2, 9):
            chance = expit(steep * (ability - place))
            mass += weight * norm.pdf(place) * np.where(patterns, chance, 1 - chance).prod(axis=1)
    expected = mass[patterns @ ability <= -3].sum() / mass.sum()
    found = reversed_patterns(right, ability, np.array([*hard, *hard]))
    assert found.p == pytest.approx([expected, 1.0, 1.0, 1.0])
    assert expected < 0.02
    missing = np.array([[1, 1, 0, 0, np.nan]])
    assert reversed_patterns(missing, ability, hard).p[0] > expected, "less is known without the strongest model"


def test_false_accusations_stay_rare_and_reversed_labels_are_found_with_twenty_models() -> None:
    """Of 6 reversed labels among 200 half and more are found, and one suspect in twenty is clean."""
    found, false = [], []
    for seed in range(5):
        right = drawn(seed, 200, 20)[0]
        right[:6] = 1 - right[:6]
        suspects = _suspects(right)
        found.append(suspects[:6].mean())
        false.append(suspects[6:].sum() / max(1, suspects.sum()))
    assert np.mean(found) >= 0.4
    assert np.mean(false) <= 0.12
    clean = [_p(drawn(seed, 200, 8)[0]) for seed in range(10, 20)]
    assert (np.concatenate(clean) <= 0.01).mean() <= 0.015


def test_equal_models_accuse_nobody() -> None:
    assert reversed_patterns(np.eye(4), np.zeros(4), np.zeros(4)).p.tolist() == [1.0] * 4


@pytest.mark.parametrize("models", [8, 60])
def test_extreme_answers_are_no_trouble(models: int) -> None:
    """A perfect order of models and cases, all models alike, and everything right."""
    perfect = (np.arange(models) >= np.linspace(0, models, 40)[:, None]).astype(float)
    alike = np.repeat((np.arange(40) % 2)[:, None], models, axis=1).astype(float)
    for right in (perfect, alike, np.ones((40, models))):
        p = _p(right)
        assert ((p > 0) & (p <= 1)).all()
        assert (benjamini_hochberg(p) > 0.05).all()


def test_the_correlation_with_the_rest() -> None:
    right = drawn(5, 30, 9)[0]
    found = item_rest(right)
    for case in (0, 7):
        rest = np.delete(right, case, axis=0).mean(axis=0)
        assert found[case] == pytest.approx(np.corrcoef(right[case], rest)[0, 1])
    right[0], right[1, 2:] = 1.0, np.nan
    assert np.isnan(item_rest(right)[:2]).all(), "all right; two answers"


def _p(right: Floats) -> Floats:
    fitted = two_parameter(right)
    return reversed_patterns(right, fitted.ability, fitted.difficulty).p


def _suspects(right: Floats) -> Floats:
    return (benjamini_hochberg(_p(right)) <= 0.05).astype(float)
