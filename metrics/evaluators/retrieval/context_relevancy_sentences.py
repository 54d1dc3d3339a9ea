"""Context relevancy (sentences): the share of the sentences of the retrieved contexts that help to answer."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED, RELEVANCE, item_verdicts, share_score
from metrics.evaluators.retrieval.context_relevance import QUESTION
from metrics.judge.asking import Judge
from metrics.judge.steps import YesNoReply, each
from metrics.text.sentences import worded_sentences

RELEVANT = Prompt(
    "context_relevancy_sentences.relevant",
    "The SENTENCES are those of retrieved passages, in their order. For each say whether it is needed to answer "
    "QUESTION. yes: it answers QUESTION or a part of it, or gives a fact that the answer needs. no: the answer would "
    "lack nothing without it, also where it is about the same subject.",
)
CONTEXTS = ["Paris is large. Its tower was finished in 1889.", "The Louvre is a museum. It is old."]


@evaluator(
    id="context_relevancy_sentences",
    title="Context relevancy (sentences)",
    inputs=("question", "retrieved_contexts"),
    prompts=(RELEVANT,),
    metrics=(
        Metric(
            "context_relevancy_sentences",
            "Share of the sentences in the retrieved contexts that are relevant to the question.",
        ),
    ),
    sources=("H2O Eval Studio, after RAGAS",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "one of four sentences is relevant",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS},
            {"context_relevancy_sentences": 0.25},
            judge=(
                ScriptedReply(
                    RELEVANT.id, [{"verdict": "no"}, {"verdict": "yes"}, {"verdict": "no"}, {"verdict": "no"}]
                ),
            ),
        ),
        Example.not_applicable(
            "the contexts have no sentence", {"question": QUESTION, "retrieved_contexts": [" ", "***"]}
        ),
        Example.not_applicable("the question is blank", {"question": "", "retrieved_contexts": CONTEXTS}),
    ),
    differs_from="One of three context relevance evaluators. This one counts sentences, so long contexts with one good "
    "sentence score low; context_relevance counts contexts; context_relevancy_soft measures similarity, without a "
    "judge.",
    differs_from_source=EXPECTED
    + (
        "The prompt is worded by Assay: the judge gives a verdict on every sentence, forty a call, where RAGAS has it "
        "copy out the relevant ones. A set of contexts without a sentence is not applicable."
    ),
    version=2,
)
async def context_relevancy_sentences(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the sentences in the retrieved contexts that are needed to answer the question.

        context relevancy = relevant sentences / sentences of all contexts

    From 0 to 1; short, focused contexts score high. Sentences are split as in groundedness, in any script; bare list
    numbers and rules are not sentences. The judge sees them in order, forty per call.

    A blank question, or contexts without a sentence, are not applicable.
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
        return not_applicable("the retrieved contexts have no sentence")
    numbers, sentences = zip(*found, strict=True)
    replies = await each(judge, RELEVANT, YesNoReply, sentences, {"QUESTION": case.question}, name="SENTENCES")
    judged = item_verdicts(sentences, replies, RELEVANCE, numbers)
    return share_score("context_relevancy_sentences", "sentences", judged, "relevant")
