"""Answer correctness: F1 of the answer's claims against the claims of the expected answer."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.answers._claim_match import match_claims
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT

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
    ScriptedReply("claims", {"claims": [*RIGHT, WRONG]}, {"TEXT": "1899"}),
    ScriptedReply("claims", {"claims": TRUTH}, {"TEXT": "1889"}),
    ScriptedReply(
        "entailment",
        [
            {"reason": "Both name Eiffel.", "supported_by": [5]},
            {"reason": "Paris.", "supported_by": [1]},
            {"reason": "Iron.", "supported_by": [3]},
            {"reason": "1889, not 1899.", "supported_by": []},
        ],
        {"CLAIMS": "1899"},
    ),
    ScriptedReply(
        "entailment",
        [
            {"reason": "Paris.", "supported_by": [2]},
            {"reason": "1899, not 1889.", "supported_by": []},
            {"reason": "Iron.", "supported_by": [3]},
            {"reason": "No height.", "supported_by": []},
            {"reason": "Eiffel's company.", "supported_by": [1]},
        ],
        {"CLAIMS": "1889"},
    ),
)
REFUSED = (
    ScriptedReply("claims", {"claims": []}, {"TEXT": "I do not know."}),
    ScriptedReply("claims", {"claims": TRUTH}),
)


@evaluator(
    id="answer_correctness",
    title="Answer correctness",
    inputs=("answer", "expected_answers"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric(
            "answer_correctness", "F1 of the answer's claims: supported by the expected answer's, and covering them."
        ),
    ),
    sources=("Valor, after RAGAS",),
    standards=(
        "NIST AI RMF: valid and reliable",
        "SR 11-7: outcomes analysis",
        "OWASP LLM Top 10: LLM09 misinformation",
    ),
    examples=(
        Example(
            "three claims are right, one is wrong, two are missing",
            EIFFEL,
            {"answer_correctness": 2 / 3},
            judge=EIFFEL_REPLIES,
        ),
        Example(
            "the best of several expected answers counts",
            {**EIFFEL, "expected_answers": ["It is in Rome.", "It is in Paris."], "answer": "In Paris."},
            {"answer_correctness": 1.0},
            judge=(
                ScriptedReply("claims", {"claims": ["The Eiffel Tower is in Rome."]}, {"TEXT": "It is in Rome."}),
                ScriptedReply("claims", {"claims": ["It is in Paris."]}, {"TEXT": "It is in Paris."}),
                ScriptedReply("claims", {"claims": ["The tower is in Paris."]}, {"TEXT": "In Paris."}),
                ScriptedReply("entailment", [{"supported_by": []}], {"CONTEXTS": "Rome"}),
                ScriptedReply("entailment", [{"supported_by": []}], {"CLAIMS": "Rome"}),
                ScriptedReply("entailment", [{"supported_by": [1]}]),
            ),
        ),
        Example(
            "no claim is right",
            {**EIFFEL, "answer": "In Rome."},
            {"answer_correctness": 0.0},
            judge=(
                ScriptedReply("claims", {"claims": ["The Eiffel Tower is in Rome."]}, {"TEXT": "In Rome."}),
                ScriptedReply("claims", {"claims": TRUTH[:1]}),
                ScriptedReply("entailment", [{"supported_by": []}]),
            ),
        ),
        Example("a refusal", {**EIFFEL, "answer": "I do not know."}, {"answer_correctness": 0.0}, judge=REFUSED),
        Example("an empty answer", {**EIFFEL, "answer": ""}, {"answer_correctness": 0.0}, judge=REFUSED),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**EIFFEL, "expected_answers": ["It depends."]},
            judge=(
                ScriptedReply("claims", {"claims": []}, {"TEXT": "It depends."}),
                ScriptedReply("claims", {"claims": [WRONG]}),
            ),
        ),
    ),
    differs_from="One of two answer correctness evaluators: answer_correctness_weighted mixes this F1 with the "
    "similarity of the texts. faithfulness checks the same claims against the contexts; answer_semantic_similarity "
    "compares the texts without claims.",
    differs_from_source=(
        "The prompts are worded by Assay, and the judge also sees the question, to complete bare answers. Valor says "
        "nothing of texts without claims: an answer without one scores 0, an expected answer without one is left out. "
        "Valor sets no threshold; .75 is Assay's."
    ),
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
