"""Results of queries: the same rows, against every pairing on random ones."""

import math
import random
from itertools import permutations
from typing import Any

import pytest

from metrics.text.query_results import same_rows


@pytest.mark.parametrize(("found", "expected", "ordered", "same"), [
    pytest.param([], [], False, True, id="none"),
    pytest.param([[1]], [], False, False, id="a-row-too-many"),
    pytest.param([[1, 2]], [[1]], False, False, id="a-column-too-many"),
    pytest.param([[1], [2]], [[2], [1]], False, True, id="any-order"),
    pytest.param([[1], [2]], [[2], [1]], True, False, id="in-order"),
    pytest.param([[1], [1], [2]], [[1], [2], [2]], False, False, id="as-often"),
    pytest.param([[None, "a"]], [[None, "a"]], False, True, id="missing"),
    pytest.param([[None]], [[0]], False, False, id="missing-is-not-0"),
    pytest.param([["1"]], [[1]], False, False, id="text-is-no-number"),
    pytest.param([[1.0]], [[1]], False, True, id="whole-by-value"),
    pytest.param([[1_000_000]], [[1_000_001]], False, False, id="whole-numbers-exactly"),
    pytest.param([[1_000_000.0]], [[1_000_000.5]], False, True, id="within-relative-tolerance"),
    pytest.param([["a", 0.1 + 0.2], ["b", 1.0]], [["b", 1.0], ["a", 0.3]], False, True, id="rounding"),
    pytest.param([[0.3, 2.0], [0.1 + 0.2, 1.0]], [[0.3, 1.0], [0.3, 2.0]], False, True, id="rounding-turns-order"),
    pytest.param([[float("inf")]], [[float("inf")]], False, True, id="infinite"),
])  # fmt: skip
def test_same_rows(found: Any, expected: Any, ordered: bool, same: bool) -> None:
    assert same_rows(found, expected, ordered=ordered, tolerance=1e-6) is same


def test_the_pairing_is_the_best_one() -> None:
    """Beside all pairings, on 400 small results with numbers as near as the tolerance."""
    chance = random.Random(4)

    def cell() -> Any:
        return chance.choice([None, "a", 1, 2, chance.choice([1.0, 1.4, 1.8, 2.2])])

    def alike(one: Any, two: Any) -> bool:
        if isinstance(one, float) or isinstance(two, float):
            numbers = isinstance(one, int | float) and isinstance(two, int | float)
            return numbers and math.isclose(one, two, rel_tol=0.5, abs_tol=0.5)
        return type(one) is type(two) and one == two

    agreed = 0
    for _ in range(400):
        found = [[cell() for _ in range(2)] for _ in range(chance.randint(1, 5))]
        expected = [[chance.choice([one, cell()]) if chance.random() < 0.3 else one for one in row] for row in found]
        chance.shuffle(expected)
        cells = [one for row in found for one in row]
        brute = any(all(map(alike, cells, [one for row in order for one in row])) for order in permutations(expected))
        agreed += brute
        assert same_rows(found, expected, ordered=False, tolerance=0.5) is brute
    assert 50 < agreed < 350
