"""How many cases a suite needs, in words."""

import pytest

from metrics.presentation.sample_sizes import QUESTIONS, Costs, answer_lines, sizes
from metrics.stats.power import aim


def test_a_budget_buys_whole_cases():
    assert (Costs(0.02, 2, 3, 1.2).affordable, Costs(0.02, 2, 3, 1.19).affordable) == (10, 9)
    assert Costs(0.0, 1, 1, 5.0).affordable is None
    assert Costs(0.02).affordable is None


def test_the_answer_has_prices_where_they_are_known():
    own = aim("share", 0.8)
    (line,) = answer_lines(own, 0.05, Costs())
    assert line == (
        f"245 cases for a 95 % interval of ± 0.050; {own.cases_to_detect(0.05)} cases to detect a difference of 0.050 "
        "in 80 % of evaluations."
    )
    first, second = answer_lines(own, 0.05, Costs(0.1, budget=0.1))
    assert first.startswith("245 cases ($24.50) for")
    assert second == "A budget of $0.10 pays for 1 case: too few for any interval."


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_wanted_precision_is_in_sight(kind):
    own = aim(kind, QUESTIONS[kind].usual, 0.7)
    shown = sizes(own, 0.02, Costs())
    assert shown[:4] == [10, 20, 50, 100]
    assert own.detectable(shown[-1]) <= 0.02
