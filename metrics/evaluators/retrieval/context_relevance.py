"""Context relevance: a judge says which retrieved contexts, or which of their sentences, help to answer."""

from functools import partial

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import (
    BLANK_CONTEXT,
    NOTHING_RETRIEVED,
    RELEVANCE,
    SHARE_IS_EXPECTED,
    context_verdicts,
    item_verdicts,
    share_score,
)
from metrics.evaluators._scripted import example_of, verdicts_reply
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply, each, each_context, says_yes
from metrics.text.sentences import worded_sentences

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
ASKED = {"question": QUESTION, "retrieved_contexts": CONTEXTS}
UNANSWERED = ASKED | {"retrieved_contexts": []}
_of_contexts = partial(example_of, "context_relevance")
_of_sentences = partial(example_of, "context_relevancy_sentences")


@evaluator(
    inputs=("question", "retrieved_contexts"),
    prompts=(RELEVANT,),
    version=3,
    metrics=Metric("context_relevance", "Share of the retrieved contexts that are relevant to the question."),
    sources=("Valor, after DeepEval",),
    standards=("valid and reliable",),
    examples=(
        _of_contexts("one of three contexts is relevant", ASKED, 1 / 3, verdicts_reply(RELEVANT.id, "yes", "no", "no")),
        _of_contexts(
            "blank contexts are irrelevant without asking the judge", ASKED | {"retrieved_contexts": ["", " "]}, 0.0
        ),
        _of_contexts("nothing was retrieved", UNANSWERED, 0.0),
        Example.not_applicable("the question is blank", ASKED | {"question": ""}),
    ),
    differs_from="One of three context relevance evaluators. This one counts contexts; context_relevancy_sentences "
    "counts sentences, so that padding inside a context lowers it; context_relevancy_soft measures similarity, without "
    "a judge. context_precision asks about the expected answer and considers the order.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompt is worded by Assay. A blank context counts as irrelevant and "
    "is not shown; where nothing was retrieved the share is 0. Valor sets no threshold; .75 is Assay's.",
)
async def context_relevance(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the retrieved contexts of which any part is relevant to answering the question.

        context relevance = relevant contexts / contexts

    From 0 to 1. The order of the contexts does not matter. A blank context counts as irrelevant. The score is 0 where
    nothing was retrieved.

    A blank question is not applicable. Evidence: each context with its verdict and the judge's reason.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    if not case.retrieved_contexts:
        return CaseScore({"context_relevance": 0.0}, evidence=Evidence(facts={"note": NOTHING_RETRIEVED}))
    data = {"QUESTION": case.question}
    replies = await each_context(judge, RELEVANT, case.retrieved_contexts, data, blank=BLANK_CONTEXT, decides=says_yes)
    return share_score("context_relevance", "contexts", context_verdicts(replies, RELEVANCE), "relevant")


NEEDED = Prompt(
    "context_relevancy_sentences.relevant",
    "The SENTENCES are those of retrieved passages, in their order. For each say whether it is needed to answer "
    "QUESTION. yes: it answers QUESTION or a part of it, or gives a fact that the answer needs. no: the answer would "
    "lack nothing without it, also where it is about the same subject.",
)
PASSAGES = ["Paris is large. Its tower was finished in 1889.", "The Louvre is a museum. It is old."]


@evaluator(
    title="Context relevancy (sentences)",
    inputs=("question", "retrieved_contexts"),
    prompts=(NEEDED,),
    metrics=Metric(
        "context_relevancy_sentences",
        "Share of the sentences in the retrieved contexts that are relevant to the question.",
    ),
    sources=("H2O Eval Studio, after RAGAS",),
    standards=("valid and reliable",),
    examples=(
        _of_sentences(
            "one of four sentences is relevant",
            ASKED | {"retrieved_contexts": PASSAGES},
            0.25,
            verdicts_reply(NEEDED.id, "no", "yes", "no", "no"),
        ),
        _of_sentences("the contexts have no sentence", ASKED | {"retrieved_contexts": [" ", "***"]}, 0.0),
        _of_sentences("nothing was retrieved", UNANSWERED, 0.0),
        Example.not_applicable("the question is blank", {"question": "", "retrieved_contexts": PASSAGES}),
    ),
    differs_from="One of three context relevance evaluators. This one counts sentences, so long contexts with one good "
    "sentence score low; context_relevance counts contexts; context_relevancy_soft measures similarity, without a "
    "judge.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompt is worded by Assay: the judge gives a verdict on every "
    "sentence, forty a call, where RAGAS has it copy out the relevant ones. Contexts without a sentence, and none at "
    "all, score 0.",
    version=3,
)
async def context_relevancy_sentences(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the sentences in the retrieved contexts that are needed to answer the question.

        context relevancy = relevant sentences / sentences of all contexts

    From 0 to 1; short, focused contexts score high. Sentences are split as in groundedness, in any script; bare list
    numbers and rules are not sentences. The judge sees them in order, forty per call.

    Contexts without a sentence score 0, and so does a case for which nothing was retrieved. A blank question is not
    applicable.
    Evidence: each sentence with the number of its context, verdict and the judge's reason.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    found = [
        (number, sentence)
        for number, context in enumerate(case.retrieved_contexts, 1)
        for sentence in worded_sentences(context)
    ]
    if not found:
        note = "the retrieved contexts have no sentence" if case.retrieved_contexts else NOTHING_RETRIEVED
        return CaseScore({"context_relevancy_sentences": 0.0}, evidence=Evidence(facts={"note": note}))
    numbers, sentences = zip(*found, strict=True)
    replies = await each(judge, NEEDED, YesNoReply, sentences, {"QUESTION": case.question}, name="SENTENCES")
    judged = item_verdicts(sentences, replies, RELEVANCE, numbers)
    return share_score("context_relevancy_sentences", "sentences", judged, "relevant")
