"""Hallucination by HHEM: the probability that the answer is consistent with the retrieved contexts."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._classifiers import INFERENCE, classifier_field, only_or_required_label
from metrics.evaluators._judged_items import NOTHING_RETRIEVED
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classifier
from metrics.models.hhem import MODEL

CONTEXT_CHARACTERS = 8_192  # characters of the joined contexts that are read, as in Open RAG Eval
CONTEXTS = ["Der Turm ist alt.", "Der Turm ist hoch und rot."]


class HallucinationParameters(Parameters):
    """How the contexts are read, and by which model."""

    mode: Literal["per_chunk", "joined"] = Field(
        "per_chunk",
        description="per_chunk: each context by itself, and the best one counts; joined: all contexts as one text.",
    )
    classifier: str = classifier_field(
        "HHEM, or another model of pairs with a label “consistent” or “entailment”", MODEL, INFERENCE
    )


@evaluator(
    title="Hallucination: HHEM",
    inputs=("answer", "retrieved_contexts"),
    metrics=Metric("hallucination_hhem", "Probability that the answer is consistent with the retrieved contexts."),
    sources=("H2O Eval Studio (per_chunk)", "Open RAG Eval: hallucination (joined)", "Vectara HHEM-2.1-Open"),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        Example(
            "the better of two contexts counts, with a model that returns the share of the answer's words in a context",
            {"answer": "Turm ist rot schief", "retrieved_contexts": CONTEXTS},
            {"hallucination_hhem": 0.75},
        ),
        Example(
            "joined: words of both contexts count",
            {"answer": "Turm ist alt rot", "retrieved_contexts": CONTEXTS},
            {"hallucination_hhem": 0.98},
            parameters={"mode": "joined"},
        ),
        Example("the contexts are blank", {"answer": "Ja.", "retrieved_contexts": [" "]}, {"hallucination_hhem": 0.0}),
        Example("nothing was retrieved", {"answer": "Ja.", "retrieved_contexts": []}, {"hallucination_hhem": 0.0}),
        Example.not_applicable("the answer is empty", {"answer": " ", "retrieved_contexts": CONTEXTS}),
    ),
    differs_from="hallucination_contexts and hallucination_claims ask a judge, and there lower is better; faithfulness "
    "checks claim by claim; groundedness measures the similarity of sentences.",
    differs_from_source="Higher is better, as in both sources, against the name. `mode` = per_chunk, the default, "
    "takes the best context by itself (H2O); joined is Open RAG Eval's, where the cut at 8,192 characters leaves the "
    "answer whole and is reported. HHEM's weights are used only when chosen, never fetched unasked.",
    version=2,
)
def hallucination_hhem(
    cases: Sequence[Case], parameters: HallucinationParameters, classifier: Classifier
) -> list[CaseScore]:
    """How probable it is, by Vectara's hallucination model, that the answer is consistent with the retrieved contexts.

        per_chunk: score = max over contexts c of  p(consistent | c, answer)
        joined:    score = p(consistent | first 8,192 characters of all contexts, answer)

    From 0 to 1, higher is better, despite the name. The answer is judged as a whole: with per_chunk, an answer that
    combines two contexts is consistent with neither. HHEM can be replaced by any other model of pairs that has a label
    “consistent”, “supported” or “entailment”, or only one label.

    An empty answer is not applicable. If all contexts are blank, or nothing was retrieved, the score is 0.
    Evidence: the probability with each context (numbered from 1) and whether it reaches the threshold, characters or
    texts cut, the model and the sha256 of its weights.
    """
    place = only_or_required_label(classifier, "hallucination_hhem", *classifiers.SUPPORTING)
    premises = [_premises(case, parameters.mode) for case in cases]
    pairs = (
        [(text, case.answer or "") for _, text in read] if (case.answer or "").strip() else []
        for case, read in zip(cases, premises, strict=True)
    )
    scores = []
    for case, read, own in zip(cases, premises, classifiers.classify_groups(classifier, pairs), strict=True):
        if not (case.answer or "").strip():
            scores.append(not_applicable("the answer is empty"))
            continue
        if not read:
            note = "the retrieved contexts are blank" if case.retrieved_contexts else NOTHING_RETRIEVED
            evidence = Evidence(facts={"note": note})
            scores.append(CaseScore({"hallucination_hhem": 0.0}, evidence=evidence))
            continue
        consistent = classifiers.probabilities(classifier, own.logits)[:, place]
        joined = not read[0][0]
        contexts = [
            Verdict.of(
                f"Context {number}",
                hallucination_hhem.holds(value, parameters),
                ("consistent", "inconsistent"),
                contexts=[number],
                facts={"probability": round(float(value), 6)},
            )
            for (number, _), value in zip(read, consistent, strict=True)
            if not joined
        ]
        facts = classifiers.provenance(classifier, own.truncated)
        characters = sum(len(text) + 1 for text in case.retrieved_contexts if text.strip()) - 1
        if joined and characters > CONTEXT_CHARACTERS:
            facts["characters_cut"] = characters - CONTEXT_CHARACTERS
        evidence = Evidence({"contexts": contexts}, facts)
        scores.append(CaseScore({"hallucination_hhem": float(consistent.max())}, evidence=evidence))
    return scores


def _premises(case: Case, mode: str) -> list[tuple[int, str]]:
    """Return the texts that the answer is checked against, with the number of the context, 0 for all of them."""
    worded = [(number, text) for number, text in enumerate(case.retrieved_contexts, 1) if text.strip()]
    if mode == "per_chunk" or not worded:
        return worded
    return [(0, "\n".join(text for _, text in worded)[:CONTEXT_CHARACTERS])]
