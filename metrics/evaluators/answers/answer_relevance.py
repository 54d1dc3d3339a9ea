"""Answer relevance: the share of the answer's statements that are relevant to the question."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Pair, Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED, RELEVANCE, item_verdicts, share_score
from metrics.judge.asking import Judge
from metrics.judge.steps import CLAIMS, NO_CLAIMS, YesNoReply, claims, each

RELEVANT = Prompt(
    "answer_relevance.relevant",
    "The CLAIMS are those of an answer to QUESTION. For each say whether it is relevant. yes: it answers QUESTION or a "
    "part of it, or tells something about what is asked that helps whoever asks (a condition, a reason, a detail, a "
    "caveat). no: it is about something else, though it share words with QUESTION. Whether the claim is true does not "
    "matter.",
    (
        Pair(
            {
                "QUESTION": "When does the Kestrel sail to Skerra?",
                "CLAIMS": [
                    "The Kestrel sails to Skerra at eight and at four.",
                    "In storms the Kestrel stays in port.",
                    "Skerra has a school with ninety pupils.",
                ],
            },
            {
                "replies": [
                    {"id": 1, "reason": "The times that were asked for.", "verdict": "yes"},
                    {"id": 2, "reason": "A condition of its sailing.", "verdict": "yes"},
                    {"id": 3, "reason": "The school is another subject.", "verdict": "no"},
                ]
            },
        ),
    ),
    {"query": "QUESTION", "statements": "CLAIMS"},
)
QUESTION = "What is the capital city of Brazil?"
CONTEXT_OF_BRAZIL = [
    "The capital city of Brazil is Brasília.",
    "Brasília replaced Rio de Janeiro as the capital in 1960.",
    "Florida is a state in the USA.",
]


@evaluator(
    id="answer_relevance",
    title="Answer relevance",
    inputs=("question", "answer"),
    prompts=(CLAIMS, RELEVANT),
    metrics=(Metric("answer_relevance", "Share of the answer's statements that are relevant to the question."),),
    sources=("Valor, after DeepEval", "RAG generator metrics: response relevancy, LLM based"),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "two of three statements are relevant",
            {
                "question": QUESTION,
                "answer": "The capital city of Brazil is Brasília. It replaced Rio de Janeiro as the capital in 1960. "
                "Florida is a state in the USA.",
            },
            {"answer_relevance": 2 / 3},
            judge=(
                ScriptedReply("claims", {"claims": CONTEXT_OF_BRAZIL}),
                ScriptedReply(
                    RELEVANT.id,
                    [
                        {"reason": "The answer.", "verdict": "yes"},
                        {"reason": "Background of the capital.", "verdict": "yes"},
                        {"reason": "Another country.", "verdict": "no"},
                    ],
                ),
            ),
        ),
        Example(
            "a wrong answer can be relevant",
            {"question": QUESTION, "answer": "Rio."},
            {"answer_relevance": 1.0},
            judge=(
                ScriptedReply("claims", {"claims": ["The capital city of Brazil is Rio."]}),
                ScriptedReply(RELEVANT.id, [{"reason": "It names a capital.", "verdict": "yes"}]),
            ),
        ),
        Example.not_applicable(
            "a refusal makes no statement",
            {"question": QUESTION, "answer": "I do not know."},
            judge=(ScriptedReply("claims", {"claims": []}),),
        ),
        Example.not_applicable("the question is blank", {"question": " ", "answer": "Brasília."}),
    ),
    differs_from="One of three answer relevance evaluators. This one counts statements and does not notice what the "
    "answer lacks; answer_relevancy embeds questions that the answer would answer; answer_relevancy_sentence embeds "
    "the answer's sentences. None of them checks whether the answer is right: answer_correctness does.",
    differs_from_source=EXPECTED
    + (
        "The prompts are worded by Assay. An answer that states nothing is not applicable; the sources do not mention "
        "it. Valor sets no threshold; .75 is Assay's."
    ),
    version=2,
)
async def answer_relevance(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the answer's statements that are relevant to the question.

        relevance = relevant statements / statements

    From 0 to 1. A judge lists the claims of the answer, then decides for each whether it answers the question or helps
    to answer it. Padding lowers the score, mistakes do not.

    An answer that states nothing (empty, or a refusal) and a blank question are not applicable.
    Evidence: each statement with its verdict and the judge's reason.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    stated = await claims(judge, case.answer, case.question)
    if not stated:
        return not_applicable(NO_CLAIMS)
    replies = await each(judge, RELEVANT, YesNoReply, stated, {"QUESTION": case.question}, name="CLAIMS")
    return share_score("answer_relevance", "claims", item_verdicts(stated, replies, RELEVANCE), "relevant")
