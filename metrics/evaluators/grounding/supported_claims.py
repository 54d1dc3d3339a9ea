"""Claims of an answer that follow from the retrieved contexts (faithfulness), and those that do not (hallucination)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from metrics.core.errors import MissingResource
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Resource, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Verdict
from metrics.core.suite import Case
from metrics.evaluators._classifiers import INFERENCE, classifier_field, only_or_required_label
from metrics.evaluators._judged_items import SHARE_IS_EXPECTED, least_share, share_score
from metrics.evaluators._scripted import claims_reply, entailment_reply
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT, NO_CLAIMS, claims, entailed_verdicts, entailment
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classifier
from metrics.models.hhem import MODEL
from metrics.text.citations import without_sources
from metrics.text.sentences import worded_sentences

SUPER_BOWL = {
    "question": "When was the first Super Bowl held?",
    "answer": "The first Super Bowl was held on January 15, 1967, in Florida.",
    "retrieved_contexts": [
        "The First AFL–NFL World Championship Game, later known as Super Bowl I, was played on January 15, 1967, at "
        "the Los Angeles Memorial Coliseum."
    ],
}
SUPER_BOWL_REPLIES = (
    claims_reply("The first Super Bowl was held on January 15, 1967.", "The first Super Bowl was held in Florida."),
    entailment_reply([1], []),
)
REFUSED = {"answer": "I cannot say.", "retrieved_contexts": ["Paris is the capital of France."]}
ENTAILED = 0.5  # probability of entailment from which a context supports a sentence


class ClaimsParameters(Parameters):
    """Who checks the claims."""

    checker: Literal["judge", "classifier"] = Field(
        "judge",
        description="judge: the run's judge lists the claims and checks them; classifier: a local model checks the "
        "answer's sentences, each taken as one claim.",
    )
    classifier: str = classifier_field(
        "With checker classifier: a model of pairs with a label “entailment” or “consistent”", INFERENCE, MODEL
    )

    def used(self, declared: tuple[Resource, ...]) -> tuple[Resource, ...]:
        """Return only the chosen checker."""
        return tuple(name for name in declared if name == self.checker)


@evaluator(
    inputs=("answer", "retrieved_contexts"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric("faithfulness", "Share of the answer's claims that follow from the retrieved contexts.", primary=True),
        Metric.detail(
            "least_supported",
            "How surely the claim that the contexts support the least follows: the checker's probability, else 1 or 0.",
            title="Least supported claim",
        ),
    ),
    sources=("Valor, after RAGAS", "H2O Eval Studio", "RAG generator metrics"),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        Example("one of two claims is supported", SUPER_BOWL, {"faithfulness": 0.5}, judge=SUPER_BOWL_REPLIES),
        Example(
            "a claim that no context mentions is unsupported",
            {"answer": "Paris is lovely in spring.", "retrieved_contexts": ["Paris is the capital of France.", " "]},
            {"faithfulness": 0.0},
            judge=(claims_reply("Paris is lovely in spring."), entailment_reply([])),
        ),
        Example(
            "contexts that do not exist support nothing",
            {"answer": "Paris is in France.", "retrieved_contexts": ["Berlin is in Germany."]},
            {"faithfulness": 0.0, "least_supported": 0.0},
            judge=(claims_reply("Paris is in France."), entailment_reply([0, 2])),
        ),
        Example(
            "nothing was retrieved",
            {"answer": "Paris is lovely in spring.", "retrieved_contexts": []},
            {"faithfulness": 0.0},
            judge=(claims_reply("Paris is lovely in spring."),),
        ),
        Example.not_applicable("a refusal makes no claim", REFUSED, judge=(claims_reply(),)),
        Example.not_applicable("the judge is not asked about an empty answer", REFUSED | {"answer": " "}),
    ),
    differs_from="hallucination_claims is 1 − faithfulness; hallucination_contexts counts contexts that the answer "
    "contradicts; groundedness compares sentences by similarity, without a judge; answer_correctness checks the claims "
    "against the expected answer instead of the contexts.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. A claim that no context mentions counts "
    "against the answer, as in Valor and RAGAS (DeepEval counts it for). An answer that makes no claim is not "
    "applicable, contexts that are all blank give 0; the sources mention neither. With `checker` = classifier "
    "sentences stand for claims.",
    version=3,
)
async def faithfulness(
    case: Case, parameters: ClaimsParameters, judge: Judge | None = None, classifier: Classifier | None = None
) -> CaseScore:
    """The share of the answer's claims that the retrieved contexts state or plainly imply.

        faithfulness = supported claims / claims

    From 0 to 1. A judge lists the claims of the answer, then decides for each which contexts support it. A claim that
    the contexts contradict and one that they do not mention both count as unsupported; if contexts disagree, one that
    supports the claim is enough. Their order does not matter. A true claim that no context contains is unsupported.

    One claim that does not follow makes an answer wrong, however many others do: `least_supported` is the judge's
    probability of the verdict on the claim that the contexts support the least; of a judge that tells none, 1 if all
    claims are supported, else 0.

    With `checker` "classifier" every sentence of the answer is one claim, and a context supports it if the model's
    probability of entailment is .5 or more; `least_supported` is then the lowest of the sentences' highest. A sentence
    with two facts, or one that only refers ("It was."), is judged as it is, and pleasantries count as claims.

    If all contexts are blank, or nothing was retrieved, both are 0. An answer that makes no claim (empty, or a
    refusal) is not applicable.
    Evidence: each claim with its verdict, the judge's reason (or the highest probability) and the supporting contexts
    (numbers from 1).
    """
    judged, facts = await _check_claims(faithfulness.id, case, parameters, judge, classifier)
    if not judged:
        return not_applicable(NO_CLAIMS)
    score = share_score("faithfulness", "claims", judged, "supported", facts=facts)
    least = min((one.facts["probability"] for one in judged if "probability" in one.facts), default=least_share(judged))
    return replace(score, values={**score.values, "least_supported": least})


@evaluator(
    title="Hallucination (claims)",
    inputs=("answer", "retrieved_contexts"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=Metric.lower(
        "hallucination_claims", "Share of the answer's claims that do not follow from the retrieved contexts."
    ),
    sources=("RAG generator metrics",),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        Example("one of two claims is supported", SUPER_BOWL, {"hallucination_claims": 0.5}, judge=SUPER_BOWL_REPLIES),
        Example(
            "the only claim is contradicted",
            {
                "question": "What is the capital of Brazil?",
                "answer": "The capital of Brazil is Florida.",
                "retrieved_contexts": ["Brazil is a country in South America. Its capital is Brasília."],
            },
            {"hallucination_claims": 1.0},
            judge=(claims_reply("The capital of Brazil is Florida."), entailment_reply([])),
        ),
        Example.not_applicable("a refusal makes no claim", REFUSED, judge=(claims_reply(),)),
    ),
    differs_from="One of five hallucination evaluators. This one is 1 − faithfulness, over the claims of the answer; "
    "hallucination_contexts counts contexts that the answer contradicts, so an invention that no context mentions "
    "costs nothing there; hallucination_hhem asks a classifier about the answer as a whole, higher is better; "
    "relevant_noise_sensitivity and irrelevant_noise_sensitivity count only wrong claims that a context led to.",
    differs_from_source=SHARE_IS_EXPECTED + "Lower is better, as in the source; its own example counts an unsupported "
    "claim among the supported by a slip. The prompts are worded by Assay. With `checker` = classifier sentences stand "
    "for claims. The source sets no threshold; .25 is Assay's.",
    version=4,
)
async def hallucination_claims(
    case: Case, parameters: ClaimsParameters, judge: Judge | None = None, classifier: Classifier | None = None
) -> CaseScore:
    """The share of the answer's claims that the retrieved contexts neither state nor plainly imply.

        hallucination = unsupported claims / claims = 1 − faithfulness

    From 0, every claim is supported, to 1, none is; lower is better. A claim is unsupported if the contexts contradict
    it or do not mention it. The judge is asked the same as for faithfulness, and only once for both.

    `checker` "classifier" takes every sentence of the answer as one claim, as for faithfulness.

    If all contexts are blank, or nothing was retrieved, the score is 1. An answer without a claim is not applicable.
    Evidence: each claim with its verdict, the judge's reason (or the highest probability) and the supporting contexts
    (numbers from 1).
    """
    judged, facts = await _check_claims(hallucination_claims.id, case, parameters, judge, classifier)
    if not judged:
        return not_applicable(NO_CLAIMS)
    return share_score("hallucination_claims", "claims", judged, "unsupported", "no", facts)


async def _check_claims(
    evaluator: str, case: Case, parameters: ClaimsParameters, judge: Judge | None, classifier: Classifier | None
) -> tuple[Sequence[Verdict], dict[str, Any]]:
    """Return the checker's verdict on each claim of the answer, and the provenance of a model. MissingResource."""
    if parameters.checker == "classifier":
        if classifier is None:
            raise MissingResource("a classifier is to check the sentences, and none is chosen")
        return await asyncio.to_thread(_classify_sentences, evaluator, case, classifier)
    if judge is None:
        raise MissingResource("a judge is to check the claims, and none is chosen")
    stated = await claims(judge, case.answer, case.question)
    entailed = await entailment(judge, stated, case.retrieved_contexts)
    return entailed_verdicts(stated, entailed, case.retrieved_contexts), {}


def _classify_sentences(evaluator: str, case: Case, classifier: Classifier) -> tuple[Sequence[Verdict], dict[str, Any]]:
    """Return a verdict for each sentence of the answer, and the provenance of the model."""
    sentences = worded_sentences(without_sources(case.answer or ""))
    contexts = [(number, text) for number, text in enumerate(case.retrieved_contexts, 1) if text.strip()]
    pairs = [(text, sentence) for sentence in sentences for _, text in contexts]
    [made] = classifiers.classify_groups(classifier, [pairs])
    place = only_or_required_label(classifier, evaluator, *classifiers.SUPPORTING)
    table = classifiers.probabilities(classifier, made.logits)[:, place].reshape(len(sentences), len(contexts))
    judged: list[Verdict] = []
    for sentence, row in zip(sentences, table, strict=True):
        supporting = [number for (number, _), value in zip(contexts, row, strict=True) if value >= ENTAILED]
        facts = {"probability": round(float(row.max(initial=0.0)), 6)}
        words = "supported", "unsupported"
        judged.append(Verdict.of(sentence, bool(supporting), words, contexts=supporting, facts=facts))
    return judged, classifiers.provenance(classifier, made.truncated)
