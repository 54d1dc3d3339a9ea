"""Laws that hold for every evaluator in the registry by itself, whoever wrote it and whatever its shape.

Those that `check-evaluator` asks of plugins are metrics.library.evaluator_laws; here hypothesis looks for the inputs
that break them. What an evaluator makes of a whole run is in test_laws.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from metrics.core.cases import Cases
from metrics.core.errors import BudgetSpent, JudgeDown, JudgeError
from metrics.core.evaluator import CaseScore, Direction, Evaluator, Example, Status, unreadable_value
from metrics.core.evidence import Evidence
from metrics.core.prompt import FRAME
from metrics.core.registry import evaluators
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Case
from metrics.library import evaluator_laws as laws
from metrics.library.random_inputs import random_case, random_data_set
from metrics.models.embedder import BUNDLED_NAME
from metrics.presentation.why_words import why
from tests.judge.judging import judged
from tests.judge.scripted import ScriptedJudge, as_said
from tests.judge.server import JudgeServer
from tests.laws.judges import BLANK, FULL, JUDGED, at_random, raising, score
from tests.laws.running import STAND_INS, stand_ins
from tests.random_seeds import seeds

EVERY = list(evaluators().values())
RUNNABLE = [entry for entry in EVERY if STAND_INS.keys() | {"classifier"} >= set(entry.needs)]
BY_CASE = [entry for entry in RUNNABLE if entry.shape != "dataset"]
BY_DATA_SET = [entry for entry in RUNNABLE if entry.shape == "dataset"]
OWN_PROMPT = {"byop", "g_eval"}  # the user's
PASSES_WHEN_EMPTY = {"bias", "toxicity", "sexism", "stereotypes", "contact_information"}  # nothing said, nothing bad
LONGEST_PROMPT = 1_200  # characters of instructions: they are sent with every call
AT_RANDOM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANCE = st.randoms(use_true_random=False)


def named(entries: Iterable[Evaluator]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in entries])


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


# What it declares


@named(EVERY)
def test_its_page_can_say_what_it_is(entry: Evaluator) -> None:
    """Models, wordings and attributions that are Assay's choice are named, whatever else the text says."""
    declared = (laws.declaration_complaints, laws.metric_complaints, laws.parameter_complaints)
    assert not [complaint for law in declared for complaint in law(entry, stand_ins)]
    assert len(entry.doc.splitlines()) > 3, "the docstring gives formula and edge cases"
    assert entry.sources
    assert entry.standards
    text = entry.differs_from_source
    assert text.endswith(".")
    assert len(text) > 50
    if {"embedder", "token_encoder"} & set(entry.needs):
        assert BUNDLED_NAME in text
    if entry.prompts and entry.id != "byop":
        assert "worded by Assay" in text
    if any(metric.name == "generation_failures" for metric in entry.metrics):
        assert "generation_failures" in text or "retrieval_failures" in text


def test_prompt_ids_are_unique() -> None:
    texts: dict[str, set[str]] = {}
    for prompt in chain.from_iterable(entry.prompts for entry in JUDGED):
        texts.setdefault(prompt.id.replace(".", "_"), set()).add(prompt.text)
    assert {name: found for name, found in texts.items() if len(found) > 1} == {}


# Worked examples


def used(entry: Evaluator, example: Example) -> set[str]:
    return set(entry.parameters.model_validate(dict(example.parameters)).used(entry.resources))


def worked_examples() -> list[Any]:
    return [
        pytest.param(entry, example, id=f"{entry.id}: {example.name}")
        for entry in EVERY
        for example in entry.examples
        if used(entry, example) <= {"judge", "classifier", *STAND_INS}
    ]


@pytest.mark.parametrize(("entry", "example"), worked_examples())
def test_a_worked_example_gives_its_numbers(entry: Evaluator, example: Example, server: JudgeServer) -> None:
    """Those with a judge ask it over HTTP."""
    if "judge" not in used(entry, example):
        assert not list(laws.of_example(entry, example, stand_ins))
        return
    case = Case.of(**example.given)
    server.clear()
    server.say(lambda request: True, as_said(example.judge))
    result = judged(entry, case, server, **example.parameters)
    assert not entry.missing_inputs(case)
    assert result.status is example.status, result.reason
    assert example.expect or example.status is not Status.OK
    assert result.status is not Status.NOT_APPLICABLE or set(result.values.values()) <= {None}
    assert example.judge or not server.calls, "a judge was asked of whom the example says nothing"
    for metric, expected in example.expect.items():
        assert entry.with_parameters(entry.parameters(**example.parameters)).metric(metric)
        value = result.values.get(metric)
        if expected is None or value is None:
            assert value == expected
        else:
            assert math.isclose(value, expected, abs_tol=example.tolerance), f"{metric}: {value}, not {expected}"


@named(entry for entry in EVERY if any(example.judge for example in entry.examples))
def test_a_reply_that_cannot_be_read_is_a_parse_failure(entry: Evaluator, server: JudgeServer) -> None:
    """What stands in the run is the status with the reason, and no number but the count of parse failures."""
    example = next(example for example in entry.examples if example.judge and example.status is Status.OK)
    server.clear()
    server.say(lambda request: True, '{"replies": [{"id": 1, "verdict": "y')
    result = judged(entry, Case.of(**example.given), server, **example.parameters)
    assert server.calls
    assert result.status is Status.PARSE_FAILURE
    assert "the judge's reply" in (result.reason or "")
    assert {name for name, value in result.values.items() if value is not None} <= {"parse_failures"}


# Random inputs


@named(BY_CASE)
@AT_RANDOM
@given(chance=CHANCE)
def test_every_case_has_a_value_in_range_or_a_reason_and_the_same_twice(entry: Evaluator, chance: Random) -> None:
    assert not list(laws.of_case(entry, random_case(chance), stand_ins))


@named(entry for entry in BY_CASE if entry.shape == "batch")
@AT_RANDOM
@given(chance=CHANCE)
def test_a_batch_gives_each_case_what_it_gets_alone(entry: Evaluator, chance: Random) -> None:
    parameters = entry.parameters.model_validate({})
    cases = [case for case in (random_case(chance) for _ in range(4)) if not entry.missing_inputs(case)]
    made = entry(Cases.of(cases), parameters, **stand_ins(entry, parameters)) if cases else []
    for place, case in enumerate(cases):
        one = entry.settle(made.at(place) if isinstance(made, ScoreColumns) else made[place])
        alone = laws.score_of(entry, case, stand_ins)
        assert (one.status, one.reason) == (alone.status, alone.reason)
        assert dict(one.values) == pytest.approx(dict(alone.values), abs=1e-9)


@named(BY_DATA_SET)
@AT_RANDOM
@given(chance=CHANCE)
def test_every_aggregate_has_a_value_in_range_or_a_reason_in_any_order(entry: Evaluator, chance: Random) -> None:
    suite, outputs = random_data_set(chance, entry.tasks[0])
    assert not list(laws.findings_complaints(entry, suite, laws.findings_of(entry, suite, outputs, stand_ins)))
    assert not list(laws.of_order(entry, suite, outputs, chance, stand_ins))


@named({entry.id: entry for entry in (*BY_CASE, *JUDGED) if entry.shape != "dataset"}.values())
def test_a_missing_input_is_noticed(entry: Evaluator) -> None:
    assert not list(laws.missing_input_complaints(entry, stand_ins))
    if set(entry.inputs) <= FULL.keys():
        for name in entry.inputs:
            less = {key: value for key, value in FULL.items() if key not in entry.accepted(name)}
            assert entry.missing_inputs(Case.of(**less)) == [name]


RETRIEVAL = [entry for entry in EVERY if "retrieved_contexts" in entry.inputs]
FREE_OF_NOISE = {"relevant_noise_sensitivity", "irrelevant_noise_sensitivity"}  # nothing misled the answer
NO_SHARE = {"hallucination_contexts": "nothing was retrieved: there is nothing to contradict"}
CUTOFF = {"context_mrr": {"mrr_relevant_chunk_threshold": 0.7}}


@named(RETRIEVAL)
def test_nothing_retrieved_earns_nothing_and_is_not_left_out(entry: Evaluator) -> None:
    """The worst value there is, so that a retriever never gains by finding nothing; an unknown retrieval has no value.

    An answer that says that there is not enough information is right for autonuggetizer.
    """
    case = Case.of(**FULL | {"retrieved_contexts": []})
    assert not entry.missing_inputs(case)
    assert entry.missing_inputs(case._replace(retrieved_contexts=Case().retrieved_contexts)) == ["retrieved_contexts"]
    parameters = entry.parameters.model_validate(CUTOFF.get(entry.id, {}))
    worst = 1.0 if entry.primary.direction is Direction.LOWER and entry.id not in FREE_OF_NOISE else 0.0
    found = set()
    for seed in range(9):
        if entry in JUDGED:
            result = score(entry, case._asdict(), ScriptedJudge(at_random(seed)), parameters)
        else:
            result = laws.score_of(entry, case, stand_ins, parameters)
        found.add(result.values.get(entry.primary.name, result.reason))
    if entry.id in NO_SHARE:
        assert found == {NO_SHARE[entry.id]}
    elif entry.id == "autonuggetizer":
        assert found == {0.0, 0.5, 1.0}
    else:
        assert worst in found
        assert {value for value in found if not isinstance(value, str)} == {worst}


# Judges


@named(entry for entry in JUDGED if entry.id not in OWN_PROMPT)
def test_its_prompts_are_declared_and_short(entry: Evaluator) -> None:
    """All that is asked is declared, so that a page can show and edit it; nothing in them breaks the frame."""
    judge = ScriptedJudge(at_random(1))
    texts = [prompt.text for prompt in entry.prompts]
    assert entry.prompts
    for seed in range(5):
        judge.answer = at_random(seed)
        score(entry, FULL, judge)
    assert {request.text.partition("\n\n<")[0] for request in judge.calls} <= set(texts)
    assert {request.step for request in judge.calls} <= {prompt.id.replace(".", "_") for prompt in entry.prompts}
    for text in texts:
        assert len(text) <= LONGEST_PROMPT
        assert text.strip() == text
        assert "{" not in text
        assert "</" not in text
    assert all(request.messages[0]["content"].startswith(FRAME.partition("{")[0]) for request in judge.calls)


@named(entry for entry in JUDGED if entry.id not in OWN_PROMPT)
def test_blank_texts_are_not_asked_about_and_earn_nothing(entry: Evaluator) -> None:
    """No value, or the worst one there is; only what looks for something bad may find nothing."""
    worst, optional = max(entry.primary.low, 0.0), entry.id in PASSES_WHEN_EMPTY
    result = score(entry, BLANK, raising(AssertionError("a blank text was asked about")))
    if result.status is Status.NOT_APPLICABLE:
        assert result.reason
        assert not [value for value in result.values.values() if value is not None]
    else:
        value = result.values[entry.primary.name]
        assert (result.status, value if value is None or not optional else worst) == (Status.OK, worst)
    if "answer" in entry.inputs and not optional:
        result = score(entry, FULL | {"answer": " "}, ScriptedJudge(at_random(3)))
        value = result.values.get(entry.primary.name)
        assert value == worst or (value is None and result.reason)


@named(JUDGED)
@pytest.mark.parametrize("failure", [BudgetSpent("spent"), JudgeDown("down")], ids=["budget", "down"])
def test_what_stops_the_run_is_not_swallowed(entry: Evaluator, failure: JudgeError) -> None:
    with pytest.raises(type(failure)):
        score(entry, FULL, raising(failure))


@named(JUDGED)
def test_whatever_the_judge_says_there_is_a_value_in_range_or_a_reason(entry: Evaluator) -> None:
    """And the same replies give the same score."""
    for seed in seeds(10, 25):
        result = score(entry, FULL, ScriptedJudge(at_random(seed)))
        values = {name: value for name, value in result.values.items() if value is not None}
        for name, value in values.items():
            assert unreadable_value(entry.metric(name), value) is None
        if result.status is Status.OK:
            assert entry.primary.name in values
        else:
            assert result.reason
        json.dumps(result.evidence and result.evidence.record, allow_nan=False)
        assert seed > 2 or result == score(entry, FULL, ScriptedJudge(at_random(seed)))


@named(JUDGED)
def test_what_the_judge_says_is_shown_as_typed_verdicts(entry: Evaluator) -> None:
    """Every score for which a judge was asked has a verdict, and unless neither end is good some hold or do not."""
    holds = set()
    for example in entry.examples:
        if example.status is not Status.OK or "judge" not in used(entry, example):
            continue
        judge = ScriptedJudge(as_said(example.judge))
        result = score(entry, example.given, judge, entry.parameters.model_validate(dict(example.parameters)))
        verdicts = [] if result.evidence is None else [*chain.from_iterable(result.evidence.verdicts.values())]
        items = any(request.step not in ("claims", "opinions") for request in judge.calls)  # else the list was empty
        assert verdicts or not items, example.name
        assert all(verdict.text or verdict.expected for verdict in verdicts)
        holds |= {verdict.holds for verdict in verdicts}
    assert holds & {"yes", "no"} or entry.primary.direction is Direction.NONE


# Evidence


def scores_at_random(entry: Evaluator, seed: int) -> Iterable[CaseScore]:
    if entry in JUDGED:
        return [score(entry, FULL, ScriptedJudge(at_random(seed)))]
    if entry.shape != "dataset":
        return [laws.score_of(entry, random_case(Random(seed)), stand_ins)]
    suite, outputs = random_data_set(Random(seed), entry.tasks[0])
    return laws.findings_of(entry, suite, outputs, stand_ins).cases.values()


@named({entry.id: entry for entry in (*RUNNABLE, *JUDGED)}.values())
def test_its_evidence_says_in_one_sentence_why_the_score_is_what_it_is(entry: Evaluator) -> None:
    """What is stored of it, that is: without groups that have no verdict."""
    for one in chain.from_iterable(scores_at_random(entry, seed) for seed in range(8)):
        if one.status is Status.OK and one.evidence is not None and any(v is not None for v in one.values.values()):
            said = why(Evidence.of_record(one.evidence.record))
            assert re.fullmatch(r"(?s)\S.*\S\.", said), one.evidence
            assert len(said) < 600
