"""Answer correctness (weighted): F1 of the claims and the likeness of the texts, in a weighted mean."""

import asyncio

from pydantic import Field, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Said, Status, evaluator
from metrics.core.suite import Case
from metrics.evaluators.answers._claim_match import match_claims
from metrics.evaluators.answers.answer_correctness import EIFFEL, EIFFEL_SAID, REFUSED
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT
from metrics.models.embedder import Encoder, compare, provenance


class WeightedParameters(Parameters):
    """What the two parts weigh."""

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
    tasks=("text",),
    inputs=("answer", "expected_answers"),
    resources=("judge", "embedder"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric(
            "answer_correctness_weighted",
            "Weighted mean of the F1 of the claims and the cosine of answer and expected answer.",
            low=-1.0,
            primary=True,
        ),
    ),
    sources=("H",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "all the weight on the claims: tp 3, fp 1, fn 2",
            EIFFEL,
            {"answer_correctness_weighted": 2 / 3},
            parameters={"similarity_weight": 0},
            judge=EIFFEL_SAID,
        ),
        Example(
            "the expected answer itself",
            {**EIFFEL, "answer": EIFFEL["expected_answers"][0]},
            {"answer_correctness_weighted": 1.0},
            judge=(
                Said("claims", {"claims": ["The Eiffel Tower is in Paris."]}),
                Said("entailment", [{"reason": "The same.", "supported_by": [1]}]),
            ),
        ),
        Example("an empty answer", {**EIFFEL, "answer": ""}, {"answer_correctness_weighted": 0.0}, judge=REFUSED),
        Example(
            "no expected answer makes a claim",
            {**EIFFEL, "expected_answers": [" "]},
            {"answer_correctness_weighted": None},
            status=Status.NOT_APPLICABLE,
            judge=EIFFEL_SAID,
        ),
    ),
    differs_from="One of two answer correctnesses: answer_correctness is the F1 of the claims alone and needs no "
    "embeddings; answer_semantic_similarity is the cosine alone.",
)
async def answer_correctness_weighted(
    case: Case, parameters: WeightedParameters, judge: Judge, embedder: Encoder
) -> CaseScore:
    """How far the answer says what the expected answer says, by its claims and by its likeness as a text.

        correctness = (w_f · F1 + w_s · cos(emb(answer), emb(expected))) / (w_f + w_s),  w_f = .75, w_s = .25
        F1 = tp / (tp + ½ (fp + fn)),  0 without a true positive

    The claims are counted as in answer_correctness, and asked about only once for both; the cosine is that of
    answer_semantic_similarity. At most 1; below 0 only where the texts are unlike and no claim is right. With the
    likeness in it no answer in the right language scores near 0, so compare scores of one embedding model only.
    Of several expected answers the one with the highest score counts.

    An empty answer scores 0. Expected answers that make no claim are left out; where none makes any: not applicable.
    Evidence: that of answer_correctness, F1, the cosine, the embedding model and its weights' sha256.
    Source: H2O Eval Studio, after RAGAS.
    """
    matches = await match_claims(judge, case)
    if isinstance(matches, CaseScore):
        return matches
    answer = [case.answer] if case.answer and case.answer.strip() else []
    expected = [case.expected_answers[match.number - 1] for match in matches]
    [likeness] = await asyncio.to_thread(list, compare(embedder, [(answer, expected if answer else [])]))
    cosines = [float(value) for value in likeness.cosines[0]] if answer else [0.0] * len(matches)
    claims_weigh, likeness_weighs = parameters.factuality_weight, parameters.similarity_weight
    value, best, cosine = max(
        (
            ((claims_weigh * match.f1 + likeness_weighs * cosine) / (claims_weigh + likeness_weighs), match, cosine)
            for match, cosine in zip(matches, cosines, strict=True)
        ),
        key=lambda candidate: candidate[0],
    )
    evidence = {**best.evidence, "f1": best.f1, "cosine": round(cosine, 6), **provenance(embedder, likeness)}
    return CaseScore({"answer_correctness_weighted": value}, evidence=evidence)
