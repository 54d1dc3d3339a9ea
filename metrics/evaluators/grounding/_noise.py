"""What both noise sensitivity evaluators count: the wrong claims of an answer and the contexts they come from."""

from dataclasses import dataclass

from metrics.core.evaluator import CaseScore, Direction, Input, Metric, not_applicable
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    CLAIMS,
    ENTAILMENT,
    NO_CLAIMS,
    NO_REFERENCE_CLAIMS,
    Entailment,
    answer_and_references,
    entailment,
    together,
)

INPUTS: tuple[Input, ...] = ("answer", "expected_answers", "retrieved_contexts")
PROMPTS = (CLAIMS, ENTAILMENT)
STANDARDS = ("NIST AI RMF: valid and reliable", "NIST AI RMF: secure and resilient")


def noise_metrics(name: str, contexts: str) -> tuple[Metric, ...]:
    """Return the one metric of a noise sensitivity; `contexts` names those that the wrong claims come from."""
    description = f"Share of the answer's claims that are incorrect and follow from {contexts}."
    return (Metric(name, description, direction=Direction.LOWER, threshold=0.25),)


@dataclass(frozen=True, slots=True)
class Noise:
    """The answer's claims, each with the judge's replies, and the numbers (from 1) of the relevant contexts."""

    stated: tuple[str, ...]
    reasons: tuple[str, ...]  # why a claim is correct or incorrect
    correct: tuple[bool, ...]
    entailed: tuple[Entailment, ...]  # by the contexts
    relevant: frozenset[int]


async def noise(judge: Judge, case: Case) -> Noise | CaseScore:
    """Return which claims of the answer are correct and which contexts are relevant; or why this cannot be decided.

    A claim is correct if the claims of any expected answer support it; a context is relevant if it supports a claim of
    any expected answer. The questions to the judge are those of answer_correctness, context_recall and faithfulness.
    """
    stated, expected = await answer_and_references(judge, case.answer, case.expected_answers, case.question)
    if not stated:
        return not_applicable(NO_CLAIMS)
    if not expected:
        return not_applicable(NO_REFERENCE_CLAIMS)
    entailed, *others = await together(
        [
            entailment(judge, stated, case.retrieved_contexts),
            *(entailment(judge, stated, reference.claims) for reference in expected),
            *(entailment(judge, reference.claims, case.retrieved_contexts) for reference in expected),
        ]
    )
    against, held = others[: len(expected)], others[len(expected) :]
    decisive = [
        next((entry for entry in entries if entry.supported_by), entries[0]) for entries in zip(*against, strict=True)
    ]
    return Noise(
        stated,
        tuple(entry.reason for entry in decisive),
        tuple(bool(entry.supported_by) for entry in decisive),
        entailed,
        frozenset(number for reference in held for entry in reference for number in entry.supported_by),
    )


def sensitivity(metric: str, case: Case, found: Noise, relevant: bool) -> CaseScore:
    """Return the share of the claims that are incorrect and entailed by a context that is `relevant`, or irrelevant."""
    claims: list[Verdict] = []
    misled = 0
    for claim, reason, correct, entry in zip(found.stated, found.reasons, found.correct, found.entailed, strict=True):
        sources = [number for number in entry.supported_by if (number in found.relevant) is relevant]
        noise = not correct and bool(sources)
        misled += noise
        claims.append(
            Verdict(
                claim,
                yes_or_no(correct),
                "correct" if correct else "incorrect",
                reason,
                tuple(("contexts", number) for number in entry.supported_by),
                facts={"noise": noise},
            )
        )
    numbers = range(1, len(case.retrieved_contexts) + 1)
    facts = {
        "misled": misled,
        "relevant_contexts": [number for number in numbers if number in found.relevant],
        "irrelevant_contexts": [number for number in numbers if number not in found.relevant],
    }
    return CaseScore({metric: misled / len(claims)}, evidence=Evidence({"claims": claims}, facts))
