"""Answer correctness: the claims of an answer compared with those of the expected answers."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from pydantic import Field, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._scripted import claims_reply, entailment_reply, example_of
from metrics.judge import steps
from metrics.judge.asking import Judge
from metrics.models.embedder import Embedder, compare, provenance


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """The answer compared with one expected answer: a verdict for each claim of either, and the F1 of the counts.

    tp  claims of the answer that the expected answer supports      fp  the other claims of the answer
    fn  claims of the expected answer that the answer does not support
    F1 = tp / (tp + ½ (fp + fn)), 0 without a true positive
    """

    number: int  # of the expected answer, from 1
    claims: tuple[Verdict, ...]  # of the answer
    reference_claims: tuple[Verdict, ...]

    @property
    def counts(self) -> dict[str, int]:
        """tp, fp and fn."""
        tp = sum(claim.holds == "yes" for claim in self.claims)
        fn = sum(claim.holds == "no" for claim in self.reference_claims)
        return {"tp": tp, "fp": len(self.claims) - tp, "fn": fn}

    @property
    def f1(self) -> float:
        """F1 of the claims."""
        tp, fp, fn = self.counts.values()
        return tp / (tp + 0.5 * (fp + fn)) if tp else 0.0

    @property
    def evidence(self) -> Evidence:
        """The claims of both sides with their verdicts, which expected answer it is, and the counts."""
        return Evidence(
            {"claims": self.claims, "reference_claims": self.reference_claims},
            {"expected_answer": self.number, **self.counts},
        )


async def match_claims(judge: Judge, case: Case) -> list[ClaimMatch] | CaseScore:
    """Compare the answer with every expected answer that makes a claim; not applicable where none does."""
    stated, expected = await steps.answer_and_references(judge, case.answer, case.expected_answers, case.question)
    if not expected:
        return not_applicable(steps.NO_REFERENCE_CLAIMS)
    return await steps.together(_match(judge, stated, reference) for reference in expected)


async def _match(judge: Judge, stated: tuple[str, ...], reference: steps.Reference) -> ClaimMatch:
    right, present = await steps.together(
        [steps.entailment(judge, stated, reference.claims), steps.entailment(judge, reference.claims, stated)]
    )
    return ClaimMatch(
        reference.number,
        steps.entailed_verdicts(stated, right, reference.claims, "reference_claims"),
        steps.entailed_verdicts(reference.claims, present, stated, "claims"),
    )


EIFFEL = {
    "question": "Tell me about the Eiffel Tower.",
    "expected_answers": ["It stands in Paris, was finished in 1889, is made of iron, is 330 m high and was Eiffel's."],
    "answer": "Eiffel's company built it, in Paris. It is an iron tower. It was finished in 1899.",
}
RIGHT = ["Eiffel's company built the Eiffel Tower.", "The Eiffel Tower is in Paris.", "The Eiffel Tower is of iron."]
WRONG = "The Eiffel Tower was finished in 1899."
TRUTH = [
    "The Eiffel Tower stands in Paris.",
    "The Eiffel Tower was finished in 1889.",
    "The Eiffel Tower is made of iron.",
    "The Eiffel Tower is 330 m high.",
    "The Eiffel Tower was Eiffel's.",
]
EIFFEL_REPLIES = (  # tp 3, fp 1, fn 2
    claims_reply(*RIGHT, WRONG, text="1899"),
    claims_reply(*TRUTH, text="1889"),
    entailment_reply([5], [1], [3], [], CLAIMS="1899"),
    entailment_reply([2], [], [3], [], [1], CLAIMS="1889"),
)
_example = partial(example_of, "answer_correctness")
REFUSED = (claims_reply(text="I do not know."), claims_reply(*TRUTH))


@evaluator(
    inputs=("answer", "expected_answers"),
    prompts=(steps.CLAIMS, steps.ENTAILMENT),
    metrics=Metric(
        "answer_correctness", "F1 of the answer's claims: supported by the expected answer's, and covering them."
    ),
    sources=("Valor, after RAGAS",),
    standards=("valid and reliable", "outcomes analysis", "LLM09 misinformation"),
    examples=(
        _example("three claims are right, one is wrong, two are missing", EIFFEL, 2 / 3, *EIFFEL_REPLIES),
        _example(
            "the best of several expected answers counts",
            {**EIFFEL, "expected_answers": ["It is in Rome.", "It is in Paris."], "answer": "In Paris."},
            1.0,
            claims_reply("The Eiffel Tower is in Rome.", text="It is in Rome."),
            claims_reply("It is in Paris.", text="It is in Paris."),
            claims_reply("The tower is in Paris.", text="In Paris."),
            entailment_reply([], CONTEXTS="Rome"),
            entailment_reply([], CLAIMS="Rome"),
            entailment_reply([1]),
        ),
        _example(
            "no claim is right",
            {**EIFFEL, "answer": "In Rome."},
            0.0,
            claims_reply("The Eiffel Tower is in Rome.", text="In Rome."),
            claims_reply(*TRUTH[:1]),
            entailment_reply([]),
        ),
        _example("a refusal", {**EIFFEL, "answer": "I do not know."}, 0.0, *REFUSED),
        _example("an empty answer", {**EIFFEL, "answer": ""}, 0.0, *REFUSED),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**EIFFEL, "expected_answers": ["It depends."]},
            judge=(claims_reply(text="It depends."), claims_reply(WRONG)),
        ),
    ),
    differs_from="One of two answer correctness evaluators: answer_correctness_weighted mixes this F1 with the "
    "similarity of the texts. faithfulness checks the same claims against the contexts; answer_semantic_similarity "
    "compares the texts without claims.",
    differs_from_source="The prompts are worded by Assay, and the judge also sees the question, to complete bare "
    "answers. Valor says nothing of texts without claims: an answer without one scores 0, an expected answer without "
    "one is left out. Valor sets no threshold; .75 is Assay's.",
    version=2,
)
async def answer_correctness(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """How well the answer says what the expected answer says, no less and no more: F1 of their claims.

        tp  claims of the answer that the expected answer supports      fp  claims of the answer that it does not
        fn  claims of the expected answer that the answer does not support
        correctness = tp / (tp + ½ (fp + fn))

    From 0 to 1. A judge lists the claims of both texts, using the question to complete bare answers ("Paris." states
    what the question asks for), then decides which claims of one side follow from those of the other. Whatever the
    answer adds counts as a false positive, true or not. With several expected answers, the highest score counts.

    The score is 0 without a true positive, so an empty answer and a refusal score 0. Expected answers that make no
    claim are left out; if none makes any, the case is not applicable.
    Evidence: the claims of both sides, each with verdict, reason and the claims of the other side that support it;
    which expected answer counted; tp, fp and fn.
    """
    matches = await match_claims(judge, case)
    if isinstance(matches, CaseScore):
        return matches
    best = max(matches, key=lambda match: match.f1)
    return CaseScore({"answer_correctness": best.f1}, evidence=best.evidence)


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
    title="Answer correctness (weighted)",
    inputs=("answer", "expected_answers"),
    prompts=(steps.CLAIMS, steps.ENTAILMENT),
    metrics=Metric(
        "answer_correctness_weighted",
        "Weighted mean of the F1 of the claims and the cosine of answer and expected answer.",
        low=-1.0,
    ),
    sources=("H2O Eval Studio, after RAGAS",),
    standards=("valid and reliable", "outcomes analysis", "LLM09 misinformation"),
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
            judge=(claims_reply("The Eiffel Tower is in Paris."), entailment_reply([1])),
        ),
        Example("an empty answer", {**EIFFEL, "answer": ""}, {"answer_correctness_weighted": 0.0}, judge=REFUSED),
        Example.not_applicable(
            "no expected answer makes a claim", {**EIFFEL, "expected_answers": [" "]}, judge=EIFFEL_REPLIES
        ),
    ),
    differs_from="One of two answer correctness evaluators: answer_correctness is the F1 of the claims alone and needs "
    "no embeddings; answer_semantic_similarity is the cosine alone.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of H2O's BAAI/bge-small-en-v1.5, to which its threshold .75 belongs; each model gets its own "
    "by calibration. The prompts are worded by Assay. The cosine is not cut off at 0, so the lowest score is −1 and "
    "not 0. An empty answer scores 0.",
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
