"""Average precision of a ranked list, against scikit-learn's."""

import pytest
from hypothesis import given, strategies as st

from metrics.stats.ranked_retrieval import average_precision

VERDICTS = [
    ("ynny", 0.75), ("nyny", 0.5), ("nnnn", 0.0), ("yyyy", 1.0), ("y", 1.0), ("n", 0.0), ("", 0.0), ("nny", 1 / 3),
    ("yyn", 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("verdicts", "expected"), [pytest.param(*row, id=row[0] or "nothing") for row in VERDICTS])
def test_worked_numbers(verdicts: str, expected: float) -> None:
    assert average_precision([letter == "y" for letter in verdicts]) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=12).filter(any))
def test_it_equals_scikit_learn(relevant: list[bool]) -> None:
    from sklearn.metrics import average_precision_score

    ranks = list(range(len(relevant), 0, -1))
    assert average_precision(relevant) == pytest.approx(average_precision_score(relevant, ranks))


@given(st.lists(st.booleans(), max_size=12))
def test_putting_the_relevant_first_never_hurts(relevant: list[bool]) -> None:
    assert 0 <= average_precision(relevant) <= average_precision(sorted(relevant, reverse=True)) <= 1
