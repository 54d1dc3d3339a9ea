"""The worked examples of every evaluator, as its page shows them."""

import pytest

from components.views.setup import worked_examples
from metrics.core.evaluator import Example
from metrics.core.registry import evaluators

EVERY = [
    pytest.param(example, id=f"{entry.id}-{place}")
    for entry in evaluators().values()
    for place, example in enumerate(entry.examples)
]


@pytest.mark.parametrize("example", EVERY)
def test_what_is_given_and_expected_is_shown(example: Example) -> None:
    fields, tables = worked_examples.given_fields(example), worked_examples.given_tables(example)
    assert len(fields) or tables
    assert fields.map(lambda cell: isinstance(cell, str)).all(axis=None)
    shown = worked_examples.expected(example)
    assert len(shown) == max(1, len(example.rows) + len(example.expect))
    assert len(worked_examples.replies(example)) == len(example.judge)
    assert worked_examples.heading(example)[0] == example.name[0].upper()


def test_an_example_of_one_case() -> None:
    example = next(iter(evaluators()["faithfulness"].examples))
    assert worked_examples.heading(example) == "One of two claims is supported → faithfulness 0.500"
    assert worked_examples.given_fields(example)["field"].tolist() == ["Question", "Answer", "Retrieved contexts"]
    assert worked_examples.expected(example).to_dict("records") == [{"metric": "faithfulness", "value": "0.500"}]


def test_an_example_without_a_value() -> None:
    example = Example.not_applicable("an empty answer", {"answer": ""})
    assert worked_examples.heading(example) == "An empty answer → not applicable"
    assert worked_examples.expected(example).to_dict("records") == [{"value": "not applicable"}]


def test_an_example_of_a_data_set() -> None:
    example = next(iter(evaluators()["average_precision"].examples))
    tables = worked_examples.given_tables(example)
    assert list(tables) == ["Annotations", "Predictions"]
    assert worked_examples.expected(example)["value"].tolist() == ["0.637", "0.835", "0.505"]
