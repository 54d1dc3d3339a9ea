"""Answer correctness (weighted): the weighted mean of the F1 of the claims and the similarity of the texts."""

import asyncio
from dataclasses import replace

from pydantic import Field, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.answers._claim_match import match_claims
from metrics.evaluators.answers.answer_correctness import EIFFEL, EIFFEL_REPLIES, REFUSED
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT
from metrics.models.embedder import Embedder, compare, provenance


class WeightedParameters(Parameters):
    """The weights of the two parts."""

    factuality_weight: float = Field(0.75, ge=0, allow_inf_nan=False, description="Weight of the F1 of the claims.")
    similarity_weight: float = Field(0.25, ge=0, allow_inf_nan=False, description="Weight of the cosine of the texts.")

    @model_validator(mode="after")
    def _something_weighs(self) -> "WeightedParameters":
        if not self.factuality_weight + self.similarity_weight:
            raise ValueError("both weights are 0; at least one must be above 0")
        return self


@evaluator(
    id="answer_correctness_weighted",
    title="Answer correctness (weighted)",
    inputs=("answer", "expected_answers"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric(
            "answer_correctness_weighted",
            "Weighted mean of the F1 of the claims and the cosine of answer and expected answer.",
            low=-1.0,
        ),
    ),
    sources=("H2O Eval Studio, after RAGAS",),
    standards=(
        "NIST AI RMF: valid and reliable",
        "SR 11-7: outcomes analysis",
        "OWASP LLM Top 10: LLM09 misinformation",
    ),
    examples=(
        Example(
            "all the weight on the claims: three are right, one is wrong, two are missing",
            EIFFEL,
            {"answer_correctness_weighted": 2 / 3},
            parameters={"similarity_weight": 0},
            judge=EIFFEL_REPLIES,
        ),
        Example(
            "the answer is the expected answer",
            {**EIFFEL, "answer": EIFFEL["expected_answers"][0]},
            {"answer_correctness_weighted": 1.0},
            judge=(
                ScriptedReply("claims", {"claims": ["The Eiffel Tower is in Paris."]}),
                ScriptedReply("entailment", [{"reason": "The same.", "supported_by": [1]}]),
            ),
        ),
        Example("an empty answer", {**EIFFEL, "answer": ""}, {"answer_correctness_weighted": 0.0}, judge=REFUSED),
        Example.not_applicable(
            "no expected answer makes a claim", {**EIFFEL, "expected_answers": [" "]}, judge=EIFFEL_REPLIES
        ),
    ),
    differs_from="One of two answer correctness evaluators: answer_correctness is the F1 of the claims alone and needs "
    "no embeddings; answer_semantic_similarity is the cosine alone.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of H2O's BAAI/bge-small-en-v1.5, to which its threshold .75 belongs; each model gets its own by "
        "calibration. The prompts are worded by Assay. The cosine is not cut off at 0, so the lowest score is −1 and "
        "not 0. An empty answer scores 0."
    ),
    version=2,
)
async def answer_correctness_weighted(
    case: Case, parameters: WeightedParameters, judge: Judge, embedder: Embedder
) -> CaseScore:
    """How well the answer says what the expected answer says, by its claims and by the similarity of the texts.

        correctness = (w_f · F1 + w_s · cos(emb(answer), emb(expected))) / (w_f + w_s),  w_f = .75, w_s = .25
        F1 = tp / (tp + ½ (fp + fn)),  0 without a true positive

    The claims are counted as in answer_correctness, and the judge is asked only once for both; the cosine is that of
    answer_semantic_similarity. At most 1; below 0 only if the texts are dissimilar and no claim is right. Because
    any two texts in one language have some similarity, few answers score near 0: compare scores of one embedding
    model only. With several expected answers, the highest score counts.

    An empty answer scores 0. Expected answers that make no claim are left out; if none makes any, the case is not
    applicable.
    Evidence: that of answer_correctness, the F1, the cosine, the embedding model and the sha256 of its weights.
    """
    matches = await match_claims(judge, case)
    if isinstance(matches, CaseScore):
        return matches
    answer = [case.answer] if case.answer and case.answer.strip() else []
    expected = [case.expected_answers[match.number - 1] for match in matches]
    [compared] = await asyncio.to_thread(list, compare(embedder, [(answer, expected if answer else [])]))
    cosines = [float(value) for value in compared.cosines[0]] if answer else [0.0] * len(matches)
    w_f, w_s = parameters.factuality_weight, parameters.similarity_weight
    value, best, cosine = max(
        (
            ((w_f * match.f1 + w_s * cosine) / (w_f + w_s), match, cosine)
            for match, cosine in zip(matches, cosines, strict=True)
        ),
        key=lambda candidate: candidate[0],
    )
    facts = {"f1": best.f1, "cosine": round(cosine, 6), **provenance(embedder, compared)}
    evidence = replace(best.evidence, facts={**best.evidence.facts, **facts})
    return CaseScore({"answer_correctness_weighted": value}, evidence=evidence)
