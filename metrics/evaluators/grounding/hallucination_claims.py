"""Hallucination (claims): the share of the answer's claims that the retrieved contexts do not support."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from metrics.core.errors import MissingResource
from metrics.core.evaluator import (
    CaseScore,
    Direction,
    Example,
    Metric,
    Parameters,
    Resource,
    Said,
    Status,
    evaluator,
    not_applicable,
)
from metrics.core.suite import Case
from metrics.evaluators.grounding.faithfulness import SUPER_BOWL, SUPER_BOWL_SAID
from metrics.evaluators.grounding.hallucination_hhem import SUPPORTING
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT, NO_CLAIMS, claims, entailed_rows, entailment
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classifies
from metrics.text.sentences import worded_sentences

ENTAILED = 0.5  # probability from which on a classifier's context supports a sentence


class ClaimsParameters(Parameters):
    """Who checks the claims."""

    checker: Literal["judge", "classifier"] = Field(
        "judge",
        description="judge: the run's judge lists the claims and checks them; classifier: a local model checks the "
        "answer's sentences, each taken for one claim.",
    )
    classifier: str = Field(
        "",
        description="With checker classifier: a model of pairs with a label “entailment” or “consistent”: a local "
        "folder or the name of a model on the hub, which is downloaded; empty: the run's.",
    )

    def used(self, declared: tuple[Resource, ...]) -> tuple[Resource, ...]:
        """Return the checker alone."""
        return tuple(name for name in declared if name == self.checker)


@evaluator(
    id="hallucination_claims",
    title="Hallucination (claims)",
    tasks=("text",),
    inputs=("answer", "retrieved_contexts"),
    resources=("judge", "classifier"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric(
            "hallucination_claims",
            "Share of the answer's claims that do not follow from the retrieved contexts.",
            direction=Direction.LOWER,
            threshold=0.25,
            primary=True,
        ),
    ),
    sources=("R",),
    standards=("NIST AI RMF: valid and reliable", "OWASP LLM09: misinformation"),
    examples=(
        Example("one claim of two is supported", SUPER_BOWL, {"hallucination_claims": 0.5}, judge=SUPER_BOWL_SAID),
        Example(
            "the only claim is contradicted",
            {
                "question": "What is the capital of Brazil?",
                "answer": "The capital of Brazil is Florida.",
                "retrieved_contexts": ["Brazil is a country in South America. Its capital is Brasília."],
            },
            {"hallucination_claims": 1.0},
            judge=(
                Said("claims", {"claims": ["The capital of Brazil is Florida."]}),
                Said("entailment", [{"reason": "The capital is Brasília.", "supported_by": []}]),
            ),
        ),
        Example(
            "a refusal claims nothing",
            {"answer": "I cannot say.", "retrieved_contexts": ["Paris is the capital of France."]},
            {"hallucination_claims": None},
            status=Status.NOT_APPLICABLE,
            judge=(Said("claims", {"claims": []}),),
        ),
    ),
    differs_from="One of five hallucinations. This one is 1 − faithfulness, over the claims of the answer; "
    "hallucination_contexts counts contexts that the answer contradicts, so an invention that no context speaks of "
    "costs nothing there; hallucination_hhem asks a classifier about the answer as a whole, higher being better; "
    "relevant_noise_sensitivity and irrelevant_noise_sensitivity count only wrong claims that a context led to.",
)
async def hallucination_claims(
    case: Case, parameters: ClaimsParameters, judge: Judge | None = None, classifier: Classifies | None = None
) -> CaseScore:
    """The share of the answer's claims that the retrieved contexts neither state nor plainly imply.

        hallucination = unsupported claims / claims = 1 − faithfulness

    From 0, every claim is supported, to 1, none is; lower is better. A claim is unsupported where the contexts
    contradict it and where they do not touch it. The judge is asked what faithfulness asks, and only once for both.

    With `checker` "classifier" every sentence of the answer is one claim, and a context supports it where the model's
    probability of entailment is .5 or more. A sentence with two facts, or one that only refers ("It was."), is then
    judged as it stands, and pleasantries count as claims.

    Contexts that are all blank support nothing (1). An answer without a claim: not applicable.
    Evidence: each claim with its verdict, the judge's reason (or the highest probability) and the supporting contexts
    (numbers from 1). Source: RAG generator metrics.
    """
    facts: dict[str, Any] = {}
    if parameters.checker == "judge":
        if judge is None:
            raise MissingResource("a judge is to check the claims, and none is chosen")
        stated: Sequence[str] = await claims(judge, case.answer, case.question)
        rows = entailed_rows(stated, await entailment(judge, stated, case.retrieved_contexts))
    else:
        if classifier is None:
            raise MissingResource("a classifier is to check the sentences, and none is chosen")
        rows, facts = await asyncio.to_thread(_classified, case, classifier)
    if not rows:
        return not_applicable(NO_CLAIMS)
    unsupported = sum(row["verdict"] == "unsupported" for row in rows)
    evidence = {"claims": rows, "unsupported": unsupported, **facts}
    return CaseScore({"hallucination_claims": unsupported / len(rows)}, evidence=evidence)


def _classified(case: Case, classifier: Classifies) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the evidence per sentence of the answer, and which model it is owed to."""
    sentences = worded_sentences(case.answer or "")
    contexts = [(number, text) for number, text in enumerate(case.retrieved_contexts, 1) if text.strip()]
    pairs = [(text, sentence) for sentence in sentences for _, text in contexts]
    [made] = classifiers.classify_groups(classifier, [pairs])
    only = len(classifier.labels) == 1
    place = 0 if only else classifiers.require_label(classifier, "hallucination_claims", *SUPPORTING)
    table = classifiers.probabilities(classifier, made.logits)[:, place].reshape(len(sentences), len(contexts))
    rows: list[dict[str, Any]] = []
    for sentence, row in zip(sentences, table, strict=True):
        supporting = [number for (number, _), value in zip(contexts, row, strict=True) if value >= ENTAILED]
        rows.append(
            {
                "claim": sentence,
                "verdict": "supported" if supporting else "unsupported",
                "probability": round(float(row.max(initial=0.0)), 6),
                "contexts": supporting,
            }
        )
    return rows, classifiers.provenance(classifier, made.truncated)
