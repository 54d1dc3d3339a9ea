"""pass@k: the published estimator, exact shares of subsets, and what it refuses."""

import random
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.stats import hypergeom

from metrics.stats.repeated_samples import pass_at_k


def test_it_is_the_published_product_and_the_exact_share() -> None:
    """The product as Chen et al. 2021 give it in numpy (figure 3), and the binomial coefficients as fractions."""
    chance = random.Random(1)
    largest = 0.0
    for _ in range(400):
        n = chance.randint(1, 400)
        c, k = chance.randint(0, n), chance.randint(1, n)
        published = 1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
        exact = 1 - Fraction(comb(n - c, k), comb(n, k))
        largest = max(largest, abs(pass_at_k(n, c, k) - published), abs(pass_at_k(n, c, k) - float(exact)))
    assert largest < 1e-14


def test_at_least_and_all_of_k_are_the_hypergeometric_tail() -> None:
    """scipy's, on 200 random numbers; pass^k by its own formula as a fraction."""
    chance = random.Random(2)
    for _ in range(200):
        n = chance.randint(1, 300)
        c, k = chance.randint(0, n), chance.randint(1, n)
        least = chance.randint(1, k)
        assert pass_at_k(n, c, k, least) == pytest.approx(hypergeom.sf(least - 1, n, c, k), abs=1e-12)
        assert pass_at_k(n, c, k, k) == float(Fraction(comb(c, k), comb(n, k)))


def test_it_is_unbiased_where_the_plain_formula_is_not() -> None:
    """Over all outcomes of 5 tries with a chance of .3, pass@3 is 1 − .7³ on average."""
    weights = [comb(5, c) * 0.3**c * 0.7 ** (5 - c) for c in range(6)]
    mean = sum(weight * pass_at_k(5, c, 3) for c, weight in enumerate(weights))
    plain = sum(weight * (1 - (1 - c / 5) ** 3) for c, weight in enumerate(weights))
    assert mean == pytest.approx(1 - 0.7**3, abs=1e-15)
    assert plain < mean - 0.05


@pytest.mark.parametrize(
    "numbers", [(3, 4, 1), (3, 1, 4), (3, 1, 0), (3, -1, 1), (0, 0, 1), (3, 1, 2, 0), (3, 1, 2, 3)]
)
def test_numbers_that_cannot_be_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="0 ≤ c ≤ n and 1 ≤ least ≤ k ≤ n"):
        pass_at_k(*numbers)


@pytest.mark.parametrize(("n", "c"), [(1, 0), (1, 1), (4, 2), (6, 1), (7, 5)])
def test_it_is_the_share_of_subsets_with_a_right_one(n: int, c: int) -> None:
    for k in range(1, n + 1):
        subsets = list(combinations(range(n), k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(min(one) < c for one in subsets) / len(subsets), abs=1e-15)
