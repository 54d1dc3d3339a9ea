"""What both noise sensitivity evaluators count: the wrong claims of an answer and the contexts they come from."""

from metrics.core.evaluator import CaseScore, Input, Metric, not_applicable
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    CLAIMS,
    ENTAILMENT,
    NO_CLAIMS,
    NO_REFERENCE_CLAIMS,
    answer_and_references,
    entailment,
    together,
    with_quote,
)

INPUTS: tuple[Input, ...] = ("answer", "expected_answers", "retrieved_contexts")
PROMPTS = (CLAIMS, ENTAILMENT)
STANDARDS = (
    "NIST AI RMF: valid and reliable",
    "NIST AI RMF: secure and resilient",
    "OWASP LLM Top 10: LLM08 vector and embedding weaknesses",
    "OWASP LLM Top 10: LLM09 misinformation",
)


def noise_metrics(name: str, contexts: str) -> tuple[Metric, ...]:
    """Return the one metric of a noise sensitivity; `contexts` names those that the wrong claims come from."""
    description = f"Share of the answer's claims that are incorrect and follow from {contexts}."
    return (Metric.lower(name, description),)


async def noise_sensitivity(
    judge: Judge, case: Case, metric: str, *, relevant: bool, exclusive: bool = False
) -> CaseScore:
    """Return the share of the answer's claims that are incorrect and entailed by a relevant (or an irrelevant) context.

    A claim is correct if the claims of any expected answer support it; a context is relevant if it supports a claim of
    any expected answer. `exclusive`: a claim that contexts of the other kind entail too does not count. The questions
    to the judge are those of answer_correctness, context_recall and faithfulness.
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
    by_references, by_contexts = others[: len(expected)], others[len(expected) :]
    useful = {number for entries in by_contexts for entry in entries for number in entry.supported_by}
    claims = []
    for claim, entry, answers in zip(stated, entailed, zip(*by_references, strict=True), strict=True):
        decisive = next((answer for answer in answers if answer.supported_by), answers[0])
        correct = bool(decisive.supported_by)
        kinds = {(number in useful) is relevant for number in entry.supported_by}
        noise = not correct and (kinds == {True} if exclusive else True in kinds)
        verdict = Verdict(
            claim,
            yes_or_no(correct),
            "correct" if correct else "incorrect",
            decisive.reason,
            tuple(("contexts", number) for number in entry.supported_by),
            facts={"noise": noise},
        )
        named = [case.retrieved_contexts[number - 1] for number in entry.supported_by]
        claims.append(with_quote(verdict, entry.quote, named))
    misled = sum(claim.facts["noise"] for claim in claims)
    numbers = range(1, len(case.retrieved_contexts) + 1)
    facts = {
        "misled": misled,
        "relevant_contexts": [number for number in numbers if number in useful],
        "irrelevant_contexts": [number for number in numbers if number not in useful],
    }
    return CaseScore({metric: misled / len(claims)}, evidence=Evidence({"claims": claims}, facts))
