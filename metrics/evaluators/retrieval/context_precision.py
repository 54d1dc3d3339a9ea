"""Context precision: how early the contexts that help to reach the expected answer appear in the ranking."""

from metrics.core.evaluator import CaseScore, Example, Metric, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Pair, Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import BLANK_CONTEXT
from metrics.evaluators.retrieval._references import (
    AGAINST_CONTEXTS,
    NO_EXPECTED_ANSWER,
    NO_REFERENCE_CONTEXTS,
    AgainstParameters,
    holds,
    reference_contexts,
)
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply, each_context, says_yes, together
from metrics.stats.classification.ranked_precision import average_precision

USEFUL = Prompt(
    "context_precision.useful",
    "For each of the CONTEXTS say whether it is useful for arriving at EXPECTED as the answer to QUESTION. yes: it "
    "holds something of what EXPECTED says, or a fact from which a part of it follows. no: EXPECTED could be written "
    "as well without it, also where it is about the same subject.",
    (
        Pair(
            {
                "QUESTION": "Who built the lighthouse of Ardle, and when?",
                "EXPECTED": "Jon Marle built it in 1821.",
                "CONTEXTS": [
                    "The lighthouse of Ardle was first lit in 1821, the year in which it was built.",
                    "The lighthouse of Ardle has 140 steps.",
                ],
            },
            {
                "replies": [
                    {"id": 1, "reason": "It gives the year.", "verdict": "yes"},
                    {"id": 2, "reason": "The answer says nothing of steps.", "verdict": "no"},
                ]
            },
        ),
    ),
    {
        "query": "QUESTION",
        "context": "CONTEXTS",
        "context_list": "CONTEXTS",
        "answer": "EXPECTED",
        "groundtruth": "EXPECTED",
    },
)
QUESTION = "Who wrote Faust?"
GOETHE = "Johann Wolfgang von Goethe."
CONTEXTS = [
    "Faust is a play by Goethe.",
    "Faust Vrančić was an inventor.",
    "A fist.",
    "Goethe published Faust in 1808.",
]


def _replies(verdicts: str, expected: str = GOETHE) -> ScriptedReply:
    replies = [{"reason": "", "verdict": "yes" if letter == "y" else "no"} for letter in verdicts]
    return ScriptedReply(USEFUL.id, replies, {"EXPECTED": expected})


def _example(name: str, verdicts: str, value: float) -> Example:
    given = {"question": QUESTION, "expected_answers": [GOETHE], "retrieved_contexts": CONTEXTS}
    return Example(name, given, {"context_precision": value}, judge=(_replies(verdicts),))


@evaluator(
    id="context_precision",
    title="Context precision",
    inputs=("question", "expected_answers", "retrieved_contexts"),
    instead={"expected_answers": "reference_contexts"},
    prompts=(USEFUL,),
    version=3,
    metrics=(
        Metric("context_precision", "Average precision of the ranked contexts: whether the useful ones come first."),
    ),
    sources=("Valor, after RAGAS and DeepEval", "H2O Eval Studio"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        _example("the first and the fourth context are useful", "ynny", 0.75),
        _example("the second and the fourth context are useful", "nyny", 0.5),
        _example("no context is useful", "nnnn", 0.0),
        Example(
            "a context counts if it is useful for either expected answer",
            {"question": QUESTION, "expected_answers": [GOETHE, "In 1808."], "retrieved_contexts": CONTEXTS},
            {"context_precision": 0.75},
            judge=(_replies("ynnn"), _replies("nnny", "1808")),
        ),
        Example(
            "a blank context keeps its rank and is useless",
            {"question": QUESTION, "expected_answers": [GOETHE], "retrieved_contexts": [" ", CONTEXTS[0]]},
            {"context_precision": 0.5},
            judge=(_replies("y"),),
        ),
        Example(
            "of two contexts that hold a reference context, one does so word for word",
            {
                "question": QUESTION,
                "expected_answers": [GOETHE],
                "retrieved_contexts": CONTEXTS[1:],
                "reference_contexts": ["Goethe published  Faust in 1808."],
            },
            {"context_precision": 1 / 3},
            judge=(_replies("nn", "1808"),),
        ),
        Example(
            "the reference contexts are not used",
            {
                "question": QUESTION,
                "expected_answers": [GOETHE],
                "retrieved_contexts": CONTEXTS,
                "reference_contexts": ["Goethe published Faust in 1808."],
            },
            {"context_precision": 0.75},
            parameters={"against": "expected_answers"},
            judge=(_replies("ynny"),),
        ),
        Example(
            "the reference contexts suffice",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS[:2], "reference_contexts": CONTEXTS[:1]},
            {"context_precision": 1.0},
            judge=(_replies("n", CONTEXTS[0]),),
        ),
        Example.not_applicable(
            "expected answers are wanted, and there are none",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS, "reference_contexts": CONTEXTS},
            parameters={"against": "expected_answers"},
        ),
        Example.not_applicable(
            "the expected answer is blank",
            {"question": QUESTION, "expected_answers": [" "], "retrieved_contexts": CONTEXTS},
        ),
    ),
    differs_from="context_relevance asks only about the question and ignores the order; context_recall asks how much "
    "of the expected answer the contexts contain; context_mrr finds the first relevant context by similarity.",
    differs_from_source=(
        "The prompt is worded by Assay. Where a case has reference contexts, they suffice and take the place of the "
        "expected answers, which the sources know only. A blank context keeps its rank and is useless. With several "
        "expected answers a context is useful if it is for any, as in Valor; H2O knows one. The threshold .75 is H2O's."
    ),
)
async def context_precision(case: Case, parameters: AgainstParameters, judge: Judge) -> CaseScore:
    """How early the useful contexts appear: the mean of precision@k over the ranks k of the useful ones.

        precision@k = useful among the first k / k
        context precision = Σ precision@k · v_k / Σ v_k,  v_k = 1 if context k is useful, else 0

    From 0 to 1. A judge decides for each context whether it helps to arrive at the expected answer. The order matters:
    the contexts are taken as ranked, best first. With several expected answers, the judge is asked about each, and a
    context is useful if it is useful for any.

    Where the case has `reference_contexts`, the passages that should have been retrieved, they are compared with in
    place of the expected answers (`against`), which the case then does not need: a retrieved context that holds one
    word for word, or is a part of one, is useful without asking; any other is useful if it holds something of what a
    reference context says.

    Without a useful context the score is 0. A blank context keeps its rank and is useless. A blank question, or
    expected answers that are all blank, are not applicable.
    Evidence: each context with its verdict, the judge's reason and, if it is useful, for which expected answer or
    reference context (number from 1); what was compared with, where it is the reference contexts.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    wanted = reference_contexts(case, parameters)
    if wanted is None:
        name = "expected_answer"
        nothing = "every expected answer is blank" if case.expected_answers else NO_EXPECTED_ANSWER
        expected = [(number, text) for number, text in enumerate(case.expected_answers, 1) if text.strip()]
    else:
        name, nothing, expected = "reference_context", NO_REFERENCE_CONTEXTS, list(wanted.items())
    if not expected:
        return not_applicable(nothing)
    asked = await together(_useful(case, text, judge, certain=wanted is not None) for _, text in expected)
    contexts = []
    for number, replies in enumerate(zip(*asked, strict=True), 1):
        useful = [place for place, reply in enumerate(replies) if reply.verdict == "yes"]
        contexts.append(
            Verdict(
                f"Context {number}",
                yes_or_no(bool(useful)),
                "useful" if useful else "useless",
                replies[useful[0] if useful else 0].reason,
                (("contexts", number),),
                facts={name: expected[useful[0]][0]} if useful else {},
            )
        )
    value = average_precision([context.holds == "yes" for context in contexts])
    facts = {} if wanted is None else AGAINST_CONTEXTS
    return CaseScore({"context_precision": value}, evidence=Evidence({"contexts": contexts}, facts))


async def _useful(case: Case, expected: str, judge: Judge, *, certain: bool) -> tuple[YesNoReply, ...]:
    """Return for each context whether it is useful for what is expected.

    `certain`: a context that holds the expected text, or is a part of it, is useful without asking.
    """
    whole = YesNoReply(id=0, verdict="yes", reason="it holds the reference context, or a part of it, word for word")
    known = {
        place
        for place, context in enumerate(case.retrieved_contexts)
        if certain and context.strip() and (holds(context, expected) or holds(expected, context))
    }
    left = ["" if place in known else context for place, context in enumerate(case.retrieved_contexts)]
    replies = await each_context(
        judge, USEFUL, left, {"QUESTION": case.question, "EXPECTED": expected},
        blank=BLANK_CONTEXT, decides=says_yes, divided="EXPECTED",
    )  # fmt: skip
    return tuple(whole if place in known else reply for place, reply in enumerate(replies))
