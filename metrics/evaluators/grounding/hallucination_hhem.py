"""Hallucination by HHEM: the probability that the answer is consistent with the retrieved contexts."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, evaluator, not_applicable
from metrics.core.suite import Case
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classified, Classifies
from metrics.models.hhem import MODEL

THRESHOLD = 0.75
LONGEST = 8_192  # characters of the joined contexts that are read, as in Open RAG Eval
SUPPORTING = ("consistent", "supported", "entailment")  # what models call the label that is wanted
CONTEXTS = ["Der Turm ist alt.", "Der Turm ist hoch und rot."]


class HallucinationParameters(Parameters):
    """How the contexts are read, and by which model."""

    mode: Literal["per_chunk", "joined"] = Field(
        "per_chunk",
        description="per_chunk: each context by itself, the best one counts; joined: all contexts as one text.",
    )
    classifier: str = Field(
        "",
        description="HHEM, or another model of pairs with a label “consistent” or “entailment”: a local folder or the "
        "name of a model on the hub, which is downloaded; empty: the run's.",
        examples=[MODEL],
    )


@evaluator(
    id="hallucination_hhem",
    title="Hallucination: HHEM",
    tasks=("text",),
    inputs=("answer", "retrieved_contexts"),
    resources=("classifier",),
    metrics=(
        Metric(
            "hallucination_hhem", "Probability that the answer is consistent with the retrieved contexts.",
            threshold=THRESHOLD, primary=True,
        ),
    ),
    sources=("H", "Open RAG Eval: hallucination", "Vectara HHEM-2.1-Open"),
    standards=("NIST AI RMF: valid and reliable", "OWASP LLM09: misinformation"),
    examples=(
        Example(
            "a model that takes the share of the answer's words found in a context: the better of two contexts counts",
            {"answer": "Turm ist rot schief", "retrieved_contexts": CONTEXTS},
            {"hallucination_hhem": 0.75},
        ),
        Example(
            "joined, words of both contexts count",
            {"answer": "Turm ist alt rot", "retrieved_contexts": CONTEXTS},
            {"hallucination_hhem": 0.98},
            parameters={"mode": "joined"},
        ),
        Example("blank contexts carry nothing", {"answer": "Ja.", "retrieved_contexts": [" "]},
                {"hallucination_hhem": 0.0}),
        Example("nothing is said", {"answer": " ", "retrieved_contexts": CONTEXTS}, status=Status.NOT_APPLICABLE),
    ),
    differs_from="hallucination_contexts and hallucination_claims ask a judge, and there lower is better; faithfulness "
    "checks claim by claim; groundedness measures likeness of sentences.",
)  # fmt: skip
def hallucination_hhem(
    cases: Sequence[Case], parameters: HallucinationParameters, classifier: Classifies
) -> list[CaseScore]:
    """How probable it is, by Vectara's hallucination model, that the answer is consistent with the retrieved contexts.

        per_chunk: score = max over contexts c of  p(consistent | c, answer)
        joined:    score = p(consistent | first 8,192 characters of all contexts, answer)

    From 0 to 1, higher is better, though the name says hallucination. The answer is judged whole: with per_chunk, an
    answer that draws on two contexts is consistent with neither. Any other model of pairs that names a label
    “consistent”, “supported” or “entailment”, or that has one label only, will do in HHEM's place.

    An empty answer has nothing to check: not applicable. Contexts without a word carry nothing: 0. Evidence: the
    probability with each context (numbered from 1), characters or texts cut, the model and its weights' sha256.
    Source: H2O Eval Studio (per_chunk), Open RAG Eval (joined); Vectara HHEM-2.1-Open.
    """
    threshold = THRESHOLD if parameters.threshold is None else parameters.threshold
    only = len(classifier.labels) == 1
    place = 0 if only else classifiers.require_label(classifier, "hallucination_hhem", *SUPPORTING)
    premises = [_premises(case, parameters.mode) for case in cases]
    pairs = (
        [(text, case.answer or "") for _, text in read] if (case.answer or "").strip() else []
        for case, read in zip(cases, premises, strict=True)
    )
    made = classifiers.classify_groups(classifier, pairs)
    return [
        _score(case, read, own, classifiers.probabilities(classifier, own.logits)[:, place], classifier, threshold)
        for case, read, own in zip(cases, premises, made, strict=True)
    ]


def _premises(case: Case, mode: str) -> list[tuple[int, str]]:
    """Return what the answer is checked against, each with the number of its context, 0 for all of them."""
    worded = [(number, text) for number, text in enumerate(case.retrieved_contexts, 1) if text.strip()]
    if mode == "per_chunk" or not worded:
        return worded
    return [(0, "\n".join(text for _, text in worded)[:LONGEST])]


def _score(
    case: Case,
    read: Sequence[tuple[int, str]],
    own: Classified,
    consistent: "np.ndarray[Any, Any]",
    model: Classifies,
    threshold: float,
) -> CaseScore:
    if not (case.answer or "").strip():
        return not_applicable("the answer is empty")
    if not read:
        return CaseScore({"hallucination_hhem": 0.0}, evidence={"note": "the retrieved contexts have no word"})
    evidence: dict[str, Any] = {}
    if read[0][0]:
        evidence["contexts"] = [
            {"supported": bool(value >= threshold), "context": number, "consistent": round(float(value), 6)}
            for (number, _), value in zip(read, consistent, strict=True)
        ]
    else:
        whole = sum(len(text) + 1 for text in case.retrieved_contexts if text.strip()) - 1
        if whole > LONGEST:
            evidence["characters_cut"] = whole - LONGEST
    evidence |= classifiers.provenance(model, own.truncated)
    return CaseScore({"hallucination_hhem": float(consistent.max())}, evidence=evidence)
