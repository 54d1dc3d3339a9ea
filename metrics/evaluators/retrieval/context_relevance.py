"""Context relevance: the share of the retrieved contexts that help to answer the question."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import BLANK_CONTEXT, EXPECTED, RELEVANCE, context_verdicts, share_score
from metrics.judge.asking import Judge
from metrics.judge.steps import each_context, says_yes

RELEVANT = Prompt(
    "context_relevance.relevant",
    "For each of the CONTEXTS say whether it is relevant to QUESTION. yes: any part of it answers QUESTION or a part "
    "of it, be it a single sentence among others. no: nothing in it helps to answer, also where it is about the same "
    "subject.",
    published={"query": "QUESTION", "context_list": "CONTEXTS"},
)
QUESTION = "When was the Eiffel Tower finished?"
CONTEXTS = [
    "Paris is large. Its tower was finished in 1889.",
    "The Louvre is a museum.",
    "Gustave Eiffel was born in 1832.",
]


@evaluator(
    id="context_relevance",
    title="Context relevance",
    inputs=("question", "retrieved_contexts"),
    prompts=(RELEVANT,),
    version=2,
    metrics=(Metric("context_relevance", "Share of the retrieved contexts that are relevant to the question."),),
    sources=("Valor, after DeepEval",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "one of three contexts is relevant",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS},
            {"context_relevance": 1 / 3},
            judge=(
                ScriptedReply(
                    RELEVANT.id,
                    [
                        {"reason": "Its second sentence tells.", "verdict": "yes"},
                        {"reason": "Another building.", "verdict": "no"},
                        {"reason": "Only the builder.", "verdict": "no"},
                    ],
                ),
            ),
        ),
        Example(
            "blank contexts are irrelevant without asking the judge",
            {"question": QUESTION, "retrieved_contexts": ["", " "]},
            {"context_relevance": 0.0},
        ),
        Example.not_applicable("the question is blank", {"question": "", "retrieved_contexts": CONTEXTS}),
    ),
    differs_from="One of three context relevance evaluators. This one counts contexts; context_relevancy_sentences "
    "counts sentences, so that padding inside a context lowers it; context_relevancy_soft measures similarity, without "
    "a judge. context_precision asks about the expected answer and considers the order.",
    differs_from_source=EXPECTED
    + (
        "The prompt is worded by Assay. A blank context counts as irrelevant and is not shown. Valor sets no "
        "threshold; .75 is Assay's."
    ),
)
async def context_relevance(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the retrieved contexts of which any part is relevant to answering the question.

        context relevance = relevant contexts / contexts

    From 0 to 1. The order of the contexts does not matter. A blank context counts as irrelevant.

    A blank question is not applicable. Evidence: each context with its verdict and the judge's reason.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    data = {"QUESTION": case.question}
    replies = await each_context(judge, RELEVANT, case.retrieved_contexts, data, blank=BLANK_CONTEXT, decides=says_yes)
    return share_score("context_relevance", "contexts", context_verdicts(replies, RELEVANCE), "relevant")
