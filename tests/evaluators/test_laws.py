"""Laws that hold for every evaluator in the registry, whoever wrote it and whatever its shape.

The laws themselves are metrics.library.evaluator_laws, by which `check-evaluator` checks those of plugins; here
hypothesis looks for the inputs that break them.
"""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrics.core.evaluator import Evaluator, Example, Parameters
from metrics.core.registry import evaluators
from metrics.library import evaluator_laws as laws
from metrics.library.random_inputs import random_case, random_data_set
from metrics.models.embedder import BUNDLED_NAME
from tests.models.word_models import WordPredictor, WordTokens, classifiers
from tests.models.word_vectors import WordVectors

EVERY = list(evaluators().values())
CLASSIFIERS = classifiers()
# for what needs a model; an evaluator of other resources is left out
STAND_INS = {"embedder": WordVectors(), "language_model": WordPredictor(), "token_encoder": WordTokens()}
RUNNABLE = [entry for entry in EVERY if STAND_INS.keys() | {"classifier"} >= set(entry.needs)]
BY_CASE = [entry for entry in RUNNABLE if entry.shape != "dataset"]
BY_DATA_SET = [entry for entry in RUNNABLE if entry.shape == "dataset"]
OWN_PROMPT = ("byop",)  # asks the user's prompt
EXAMINED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANCE = st.randoms(use_true_random=False)


def named(entries: Iterable[Evaluator]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in entries])


def example_parameters() -> list[Any]:
    return [
        pytest.param(entry, example, id=f"{entry.id}: {example.name}")
        for entry in RUNNABLE
        for example in entry.examples
        if not example.judge  # those are in test_judge_examples
    ]


def stand_ins(entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
    needed = parameters.used(entry.resources)
    return {name: CLASSIFIERS[entry.id] if name == "classifier" else STAND_INS[name] for name in needed}


@named(EVERY)
@pytest.mark.parametrize(
    "law",
    [laws.declaration_complaints, laws.metric_complaints, laws.parameter_complaints],
    ids=lambda law: law.__name__,
)
def test_what_it_declares_is_whole(entry: Evaluator, law: Any) -> None:
    assert not list(law(entry, stand_ins))


@named(EVERY)
def test_its_page_can_say_what_it_is(entry: Evaluator) -> None:
    assert len(entry.doc.splitlines()) > 3, "the docstring gives formula and edge cases"
    assert entry.sources
    assert entry.standards


@named(EVERY)
def test_it_says_where_it_departs_from_its_source(entry: Evaluator) -> None:
    """Models, wordings and attributions that are Assay's choice are named, whatever else the text says."""
    text = entry.differs_from_source
    assert text.endswith(".")
    assert len(text) > 50
    if {"embedder", "token_encoder"} & set(entry.needs):
        assert BUNDLED_NAME in text
    if entry.prompts and entry.id not in OWN_PROMPT:
        assert "worded by Assay" in text
    if any(metric.name == "generation_failures" for metric in entry.metrics):
        assert "generation_failures" in text or "retrieval_failures" in text


@pytest.mark.parametrize(("entry", "example"), example_parameters())
def test_a_worked_example_gives_its_numbers(entry: Evaluator, example: Example) -> None:
    assert not list(laws.of_example(entry, example, stand_ins))


@named(BY_CASE)
@EXAMINED
@given(chance=CHANCE)
def test_every_case_has_a_value_in_range_or_a_reason_and_the_same_twice(entry: Evaluator, chance: Random) -> None:
    assert not list(laws.of_case(entry, random_case(chance), stand_ins))


@named(BY_CASE)
def test_a_case_that_lacks_an_input_is_not_applicable(entry: Evaluator) -> None:
    assert not list(laws.missing_input_complaints(entry, stand_ins))


@named(BY_DATA_SET)
@settings(EXAMINED, max_examples=30)
@given(chance=CHANCE)
def test_every_aggregate_has_a_value_in_range_or_a_reason(entry: Evaluator, chance: Random) -> None:
    suite, outputs = random_data_set(chance, entry.tasks[0])
    findings = laws.findings_of(entry, suite, outputs, stand_ins)
    assert not list(laws.findings_complaints(entry, suite, findings))


@named(BY_DATA_SET)
@settings(EXAMINED, max_examples=12)
@given(chance=CHANCE)
def test_the_order_of_the_cases_changes_nothing(entry: Evaluator, chance: Random) -> None:
    assert not list(laws.of_order(entry, *random_data_set(chance, entry.tasks[0]), chance, stand_ins))
