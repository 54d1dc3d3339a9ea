"""Laws that hold for every evaluator that asks a judge."""

import asyncio
import json
import random
from collections.abc import Awaitable, Iterable, Mapping
from itertools import chain
from typing import Any

import pytest

from metrics.core.errors import BudgetSpent, JudgeDown, JudgeError, Unreadable
from metrics.core.evaluator import CaseScore, Direction, Evaluator, Parameters, Status, unreadable_value
from metrics.core.prompt import FRAME
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.scripted import Answer, ScriptedJudge, as_said
from tests.judge.server import Request
from tests.models.word_vectors import WordVectors

TEXT = "Paris is the capital of France [1]. It has 2 million people [2]."
FULL = {
    "question": "What is the capital of France?",
    "expected_answers": ["Paris.", "Paris, on the Seine."],
    "retrieved_contexts": ["Paris is the capital.", "It has many people.", "Lyon is large."],
    "answer": TEXT,
    "citations": ["1", "2"],
    "conditions": "Paris",
    "source_text": TEXT,
    "trace": '[{"role": "system", "text": "Be kind."}, {"role": "user", "text": "Where?"}, {"tool": "look"}, '
    '{"role": "assistant", "text": "In Paris."}]',
    "attack_goal": "The answer names a city.",
    "tags": ["should-answer"],
}
BLANK = {name: [" ", "\n"] if isinstance(value, list) else " \t" for name, value in FULL.items()} | {
    "tags": FULL["tags"]
}
PASSES_WHEN_EMPTY = {"bias", "toxicity", "sexism", "stereotypes", "contact_information"}  # nothing said, nothing bad
PARAMETERS = {  # with which an evaluator that can do otherwise asks a judge
    "byop": {"prompt": "Is {actual_answer} polite?"},
    "g_eval": {"criterion": "Polite answers greet the customer.", "steps": ["Look for a greeting."]},
    "language_mismatch": {"detector": "judge"},
    "topic_adherence": {"topics": ["Paris"]},
}
OWN_PROMPT = {"byop", "g_eval"}  # the user's
STAND_INS = {"judge", "embedder"}
LONGEST_PROMPT = 1_200  # characters of instructions: they are sent with every call


def parameters_of(entry: Evaluator) -> Parameters:
    return entry.parameters.model_validate(PARAMETERS.get(entry.id, {}))


def used(entry: Evaluator) -> set[str]:
    return set(parameters_of(entry).used(entry.resources))


JUDGED = [entry for entry in evaluators().values() if "judge" in used(entry) and used(entry) <= STAND_INS]


def named(entries: Iterable[Evaluator]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in entries])


def score(
    entry: Evaluator, given: Mapping[str, Any], judge: ScriptedJudge, parameters: Parameters | None = None
) -> CaseScore:
    chosen = parameters or parameters_of(entry)
    resources = {"judge": judge, "embedder": WordVectors()}
    needed = {name: resources[name] for name in chosen.used(entry.resources)}
    result: CaseScore = asyncio.run(awaited(entry(Case.of(**given), chosen, **needed)))
    return result


async def awaited(score: CaseScore | Awaitable[CaseScore]) -> CaseScore:
    return score if isinstance(score, CaseScore) else await score


def raising(failure: Exception) -> Answer:
    def answer(request: Request) -> Any:
        raise failure

    return answer


def at_random(seed: int) -> Answer:
    """Any reply that fits the schema it is asked for, an entry per item."""
    chance = random.Random(seed)

    def value(schema: Mapping[str, Any], definitions: Mapping[str, Any], items: int) -> Any:
        if "$ref" in schema:
            return value(definitions[schema["$ref"].rpartition("/")[2]], definitions, items)
        if "anyOf" in schema:
            return value(chance.choice(schema["anyOf"]), definitions, items)
        if "enum" in schema or "const" in schema:
            return chance.choice(schema.get("enum") or [schema["const"]])
        if schema.get("type") == "object":
            return {name: value(part, definitions, items) for name, part in schema["properties"].items()}
        if schema.get("type") == "array":
            kind = schema["items"]
            own = definitions.get(kind.get("$ref", "").rpartition("/")[2], kind)
            if "id" in own.get("properties", {}):
                rows = [value(kind, definitions, items) for _ in range(items)]
                return [{**row, "id": number} for number, row in enumerate(rows, 1)]
            return [value(kind, definitions, items) for _ in range(chance.randint(0, 4))]
        if schema.get("type") in ("integer", "number"):
            return chance.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 5)))
        if schema.get("type") == "boolean":
            return chance.random() < 0.5
        return chance.choice(["", " ", "A sentence.", "東京。", "x" * 500])

    def answer(request: Request) -> Any:
        schema = request.schema or {}
        last = list(request.data.values())[-1] if request.data else ""
        items = sum(line.startswith("[") for line in last.splitlines())
        return value(schema, schema.get("$defs", {}), items)

    return answer


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


def test_prompt_ids_are_unique() -> None:
    texts: dict[str, set[str]] = {}
    for entry in JUDGED:
        for prompt in entry.prompts:
            texts.setdefault(prompt.id.replace(".", "_"), set()).add(prompt.text)
    assert {name: found for name, found in texts.items() if len(found) > 1} == {}


@named(JUDGED)
def test_a_missing_input_is_noticed(entry: Evaluator) -> None:
    for name in entry.inputs:
        given = {key: value for key, value in FULL.items() if key not in entry.accepted(name)}
        assert entry.missing_inputs(Case.of(**given)) == [name]


@named(entry for entry in JUDGED if entry.id not in OWN_PROMPT)
def test_blank_texts_are_not_asked_about_and_earn_nothing(entry: Evaluator) -> None:
    """No value, or the worst one there is; only what looks for something bad may find nothing."""
    judge = ScriptedJudge(raising(AssertionError("a blank text was asked about")))
    result = score(entry, BLANK, judge)
    if result.status is Status.NOT_APPLICABLE:
        assert result.reason
        assert not [value for value in result.values.values() if value is not None]
        return
    assert result.status is Status.OK
    value = result.values[entry.primary.name]
    assert value is not None
    if entry.id not in PASSES_WHEN_EMPTY:
        assert value == max(entry.primary.low, 0.0)


@named(entry for entry in JUDGED if "answer" in entry.inputs and entry.id not in PASSES_WHEN_EMPTY | OWN_PROMPT)
def test_a_blank_answer_earns_nothing(entry: Evaluator) -> None:
    result = score(entry, FULL | {"answer": " "}, ScriptedJudge(at_random(3)))
    value = result.values.get(entry.primary.name)
    assert value in (None, max(entry.primary.low, 0.0))
    assert value is not None or result.reason


@named(JUDGED)
def test_replies_that_cannot_be_read_make_no_number(entry: Evaluator) -> None:
    """The failure goes on to the engine, or the evaluator says so itself; either way there is no value."""
    try:
        result = score(entry, FULL, ScriptedJudge(raising(Unreadable("the reply is not JSON"))))
    except Unreadable:
        return
    assert result.status is Status.PARSE_FAILURE
    assert "the reply is not JSON" in (result.reason or "")
    assert {name for name, value in result.values.items() if value is not None} <= {"parse_failures"}


@named(JUDGED)
@pytest.mark.parametrize("failure", [BudgetSpent("spent"), JudgeDown("down")], ids=["budget", "down"])
def test_what_stops_the_run_is_not_swallowed(entry: Evaluator, failure: JudgeError) -> None:
    with pytest.raises(type(failure)):
        score(entry, FULL, ScriptedJudge(raising(failure)))


@named(JUDGED)
def test_whatever_the_judge_says_there_is_a_value_in_range_or_a_reason(entry: Evaluator) -> None:
    for seed in range(25):
        result = score(entry, FULL, ScriptedJudge(at_random(seed)))
        found = {name: value for name, value in result.values.items() if value is not None}
        for name, value in found.items():
            assert unreadable_value(entry.metric(name), value) is None
        if result.status is Status.OK:
            assert entry.primary.name in found
        else:
            assert result.reason
        json.dumps(result.evidence and result.evidence.record, allow_nan=False)


@named(JUDGED)
def test_what_the_judge_says_is_shown_as_typed_verdicts(entry: Evaluator) -> None:
    """Every score for which a judge was asked has a verdict, and unless neither end is good some hold or do not."""
    holds = set()
    for example in entry.examples:
        parameters = entry.parameters.model_validate(dict(example.parameters))
        if example.status is not Status.OK or "judge" not in parameters.used(entry.resources):
            continue
        judge = ScriptedJudge(as_said(example.judge))
        result = score(entry, example.given, judge, parameters)
        verdicts = [] if result.evidence is None else [*chain.from_iterable(result.evidence.verdicts.values())]
        assert verdicts or not judge.calls or not asked_about_items(judge), example.name
        assert all(verdict.text or verdict.expected for verdict in verdicts)
        holds |= {verdict.holds for verdict in verdicts}
    assert holds & {"yes", "no"} or entry.primary.direction is Direction.NONE


def asked_about_items(judge: ScriptedJudge) -> bool:
    """Whether the judge was asked for more than a list of claims or opinions, which was empty."""
    return any(request.step not in ("claims", "opinions") for request in judge.calls)


@named(JUDGED)
def test_the_same_replies_give_the_same_score(entry: Evaluator) -> None:
    for seed in range(5):
        assert score(entry, FULL, ScriptedJudge(at_random(seed))) == score(entry, FULL, ScriptedJudge(at_random(seed)))
