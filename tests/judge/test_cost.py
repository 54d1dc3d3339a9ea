"""What the claim-based evaluators cost: a question that several of them have is asked once."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.scripted import ScriptedJudge, answers
from tests.judge.server import Request, items_of
from tests.models.word_vectors import WordVectors

FIVE = ("faithfulness", "answer_relevance", "context_precision", "context_recall", "answer_correctness")
CLAIM_BASED = (
    *FIVE, "answer_correctness_weighted", "ragas", "hallucination_claims", "relevant_noise_sensitivity",
    "irrelevant_noise_sensitivity",
)  # fmt: skip
ANSWER_CLAIMS = [f"The Eiffel Tower has property number {number} of the answer, in full." for number in range(6)]
EXPECTED_CLAIMS = [f"The Eiffel Tower has property number {number} of the expected answer." for number in range(5)]
CASE = Case.of(
    question="What can you tell me about the Eiffel Tower in Paris, its height and its history?",
    expected_answers=[" ".join(EXPECTED_CLAIMS)],
    answer=" ".join(ANSWER_CLAIMS),
    retrieved_contexts=[
        f"{name}: " + "The Eiffel Tower was built of wrought iron for the world fair of 1889. " * 5 + "It is high."
        for name in ("First", "Second", "Third")
    ],
)
SCRIPT: dict[str, Any] = {
    "claims": lambda request: {
        "claims": EXPECTED_CLAIMS if "expected answer" in request.data["TEXT"] else ANSWER_CLAIMS
    },
    "entailment": lambda request: [{"reason": "so", "supported_by": [1]}] * items_of(request, "CLAIMS"),
    "answer_relevance.relevant": lambda request: [{"reason": "so", "verdict": "yes"}] * items_of(request, "CLAIMS"),
    "answer_relevancy.questions": [{"question": "What?", "evasive": "no"}] * 3,
    "context_precision.useful": [{"reason": "so", "verdict": "yes"}] * 3,
}


def asked(names: Sequence[str]) -> list[Request]:
    """The different requests of a run of those evaluators over the case: what is left after the cache."""
    judge = ScriptedJudge(answers(SCRIPT))

    async def run() -> None:
        for name in names:
            entry = evaluators()[name]
            given = {resource: {"judge": judge, "embedder": WordVectors()}[resource] for resource in entry.needs}
            score = await entry(CASE, entry.parameters(), **given)
            assert score.values[name] is not None

    asyncio.run(run())
    return list(judge.distinct.values())


def characters(requests: Sequence[Request]) -> int:
    return sum(request.characters for request in requests)


def test_the_case_is_of_the_size_that_the_budget_is_for() -> None:
    assert [len(context) for context in CASE.retrieved_contexts] == pytest.approx([400] * 3, rel=0.1)


def test_five_metrics_take_8_calls_and_17_500_characters() -> None:
    requests = asked(FIVE)
    assert len(requests) <= 8
    assert characters(requests) <= 17_500


def test_together_they_cost_less_than_half_of_what_they_cost_apart() -> None:
    together = asked(CLAIM_BASED)
    apart = [asked([name]) for name in CLAIM_BASED]
    assert len(together) <= 0.45 * sum(map(len, apart))
    assert characters(together) <= 0.5 * sum(map(characters, apart))


def test_claims_of_an_expected_answer_are_shared_by_all_models() -> None:
    judge = ScriptedJudge(answers(SCRIPT))
    recall = evaluators()["context_recall"]
    for model in ("a", "b"):
        case = Case.of(
            model=model, question=CASE.question, expected_answers=CASE.expected_answers, retrieved_contexts=[model]
        )
        asyncio.run(recall(case, recall.parameters(), judge))
    assert sorted(request.step for request in judge.distinct.values()) == ["claims", "entailment", "entailment"]
