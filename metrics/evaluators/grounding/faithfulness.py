"""Faithfulness: the share of the answer's claims that follow from the retrieved contexts."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED, share_score
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, ENTAILMENT, NO_CLAIMS, claims, entailed_verdicts, entailment

SUPER_BOWL = {
    "question": "When was the first Super Bowl held?",
    "answer": "The first Super Bowl was held on January 15, 1967, in Florida.",
    "retrieved_contexts": [
        "The First AFL–NFL World Championship Game, later known as Super Bowl I, was played on January 15, 1967, at "
        "the Los Angeles Memorial Coliseum."
    ],
}
SUPER_BOWL_REPLIES = (
    ScriptedReply(
        "claims",
        {"claims": ["The first Super Bowl was held on January 15, 1967.", "The first Super Bowl was held in Florida."]},
    ),
    ScriptedReply(
        "entailment",
        [
            {"reason": "It gives that date.", "supported_by": [1]},
            {"reason": "Los Angeles is not in Florida.", "supported_by": []},
        ],
    ),
)


@evaluator(
    id="faithfulness",
    title="Faithfulness",
    inputs=("answer", "retrieved_contexts"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(Metric("faithfulness", "Share of the answer's claims that follow from the retrieved contexts."),),
    sources=("Valor, after RAGAS", "H2O Eval Studio", "RAG generator metrics"),
    standards=("NIST AI RMF: valid and reliable", "OWASP LLM Top 10: LLM09 misinformation"),
    examples=(
        Example("one of two claims is supported", SUPER_BOWL, {"faithfulness": 0.5}, judge=SUPER_BOWL_REPLIES),
        Example(
            "a claim that no context mentions is unsupported",
            {"answer": "Paris is lovely in spring.", "retrieved_contexts": ["Paris is the capital of France.", " "]},
            {"faithfulness": 0.0},
            judge=(
                ScriptedReply("claims", {"claims": ["Paris is lovely in spring."]}),
                ScriptedReply("entailment", [{"reason": "Nothing on spring.", "supported_by": []}]),
            ),
        ),
        Example(
            "contexts that do not exist support nothing",
            {"answer": "Paris is in France.", "retrieved_contexts": ["Berlin is in Germany."]},
            {"faithfulness": 0.0},
            judge=(
                ScriptedReply("claims", {"claims": ["Paris is in France."]}),
                ScriptedReply("entailment", [{"reason": "See 2.", "supported_by": [0, 2]}]),
            ),
        ),
        Example.not_applicable(
            "a refusal makes no claim",
            {"answer": "I cannot say.", "retrieved_contexts": ["Paris is the capital of France."]},
            judge=(ScriptedReply("claims", {"claims": []}),),
        ),
        Example.not_applicable(
            "the judge is not asked about an empty answer",
            {"answer": " ", "retrieved_contexts": ["Paris is the capital of France."]},
        ),
    ),
    differs_from="hallucination_claims is 1 − faithfulness; hallucination_contexts counts contexts that the answer "
    "contradicts; groundedness compares sentences by similarity, without a judge; answer_correctness checks the claims "
    "against the expected answer instead of the contexts.",
    differs_from_source=EXPECTED
    + (
        "The prompts are worded by Assay. A claim that no context mentions counts against the answer, as in Valor and "
        "RAGAS (DeepEval counts it for). An answer that makes no claim is not applicable, contexts that are all blank "
        "give 0; the sources mention neither."
    ),
    version=2,
)
async def faithfulness(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the answer's claims that the retrieved contexts state or plainly imply.

        faithfulness = supported claims / claims

    From 0 to 1. A judge lists the claims of the answer, then decides for each which contexts support it. A claim that
    the contexts contradict and one that they do not mention both count as unsupported; if contexts disagree, one that
    supports the claim is enough. Their order does not matter. A true claim that no context contains is unsupported.

    If all contexts are blank, the score is 0. An answer that makes no claim (empty, or a refusal) is not applicable.
    Evidence: each claim with its verdict, the judge's reason and the supporting contexts (numbers from 1).
    """
    stated = await claims(judge, case.answer, case.question)
    if not stated:
        return not_applicable(NO_CLAIMS)
    entailed = await entailment(judge, stated, case.retrieved_contexts)
    judged = entailed_verdicts(stated, entailed, case.retrieved_contexts)
    return share_score("faithfulness", "claims", judged, "supported")
