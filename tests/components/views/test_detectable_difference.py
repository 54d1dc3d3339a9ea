"""What the suite could reveal, in words."""

import pytest

from components.views.results.detectable_difference import sentence, wish
from metrics.analysis import Ranks


def power(units: int, detectable: float) -> Ranks:
    """300 cases in so many groups, with a standard error that makes this difference detectable."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        found = Ranks({}, {}, 300, units, middle).detectable or 0.0
        low, high = (middle, high) if found < detectable else (low, middle)
    return Ranks({}, {}, 300, units, high)


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        pytest.param(power(300, 0.0412), "With 300 cases, a", id="cases"),
        pytest.param(power(40, 0.0412), "With 300 cases in 40 groups, a", id="groups"),
    ],
)
def test_sentence(power: Ranks, expected: str) -> None:
    text = sentence(power, "ROUGE: rougeL")
    assert text.startswith(expected)
    assert text.endswith("difference of 0.041 between two models in ROUGE: rougeL would be detected 80 % of the time.")


@pytest.mark.parametrize(
    ("detectable", "expected"), [(0.0412, 0.02), (0.9, 0.5), (37.0, 20.0), (3e-4, 1e-4), (1e-16, 1e-9)]
)
def test_a_wish_to_begin_with(detectable: float, expected: float) -> None:
    assert wish(power(300, detectable)) == pytest.approx(expected, rel=0.35)
