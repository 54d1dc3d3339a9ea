"""Hallucination (contexts): the share of the retrieved contexts that the answer contradicts."""

from typing import Literal

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._judged_items import NOTHING_RETRIEVED, SHARE_IS_EXPECTED, context_verdicts, share_score
from metrics.evaluators._scripted import verdicts_reply
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import each_context, with_quote

CONTRADICTION = Prompt(
    "hallucination_contexts.contradiction",
    "For each of the CONTEXTS say whether ANSWER contradicts it. contradict: something that ANSWER says and something "
    "that the context says cannot both be true, of the same thing at the same time (another number, name, date, place "
    "or order of events, or one denies what the other states). agree: everything else, also where ANSWER says more, "
    "says less, is vague, or speaks of other things. Take each context at face value; your own "
    "knowledge does not count. QUESTION, where given, only tells what ANSWER refers to. quote: the few "
    "words of the context that ANSWER contradicts, copied letter by letter; empty where it agrees.",
    published={"text": "ANSWER", "context_list": "CONTEXTS"},
)


class _Contradiction(ItemReply):
    reason: str = ""
    quote: str = ""
    verdict: Literal["agree", "contradict"]


def _contradicts(reply: _Contradiction) -> bool:
    return reply.verdict == "contradict"


MOON = {
    "answer": "Neil Armstrong walked on the Moon in 1971.",
    "retrieved_contexts": [
        "Neil Armstrong was an American astronaut.",
        "On 20 July 1969 Armstrong became the first person to walk on the Moon.",
        "Later missions explored the lunar highlands.",
    ],
}


@evaluator(
    title="Hallucination (contexts)",
    inputs=("answer", "retrieved_contexts"),
    prompts=(CONTRADICTION,),
    metrics=Metric.lower("hallucination_contexts", "Share of the retrieved contexts that the answer contradicts."),
    sources=("Valor, after DeepEval",),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        Example(
            "one of three contexts is contradicted",
            MOON,
            {"hallucination_contexts": 1 / 3},
            judge=(verdicts_reply(CONTRADICTION.id, "agree", "contradict", "agree"),),
        ),
        Example(
            "a blank context counts but cannot be contradicted",
            {"answer": MOON["answer"], "retrieved_contexts": [" ", MOON["retrieved_contexts"][1]]},
            {"hallucination_contexts": 0.5},
            judge=(verdicts_reply(CONTRADICTION.id, "contradict"),),
        ),
        Example.not_applicable(
            "the judge is not asked about an empty answer",
            {"answer": "", "retrieved_contexts": MOON["retrieved_contexts"]},
        ),
    ),
    differs_from="One of five hallucination evaluators. This one is a share of contexts and counts only open "
    "contradiction; hallucination_claims and faithfulness are shares of the answer's claims and count whatever the "
    "contexts do not support; hallucination_hhem asks a classifier about answer and contexts as a whole, higher is "
    "better.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompt is worded by Assay. An empty answer, or contexts that are "
    "blank or none, are not applicable; Valor does not mention them. Valor sets no threshold; .25 is Assay's.",
    version=2,
)
async def hallucination_contexts(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the retrieved contexts that the answer directly contradicts.

        hallucination = contradicted contexts / contexts

    From 0, none is contradicted, to 1; lower is better. A context is contradicted only if it and the answer cannot both
    be true. What an answer makes up beyond the contexts is not noticed here: faithfulness detects it.

    A blank context counts and cannot be contradicted. An empty answer, contexts that are all blank, and a case for
    which nothing was retrieved are not applicable: there is nothing to contradict.
    Evidence: each context with its verdict and the judge's reason.
    """
    if not (case.answer or "").strip():
        return not_applicable("the answer is empty: it contradicts nothing")
    if not any(context.strip() for context in case.retrieved_contexts):
        what = "every retrieved context is blank" if case.retrieved_contexts else NOTHING_RETRIEVED
        return not_applicable(f"{what}: there is nothing to contradict")
    data = {"QUESTION": case.question or None, "ANSWER": case.answer}
    blank = _Contradiction(id=0, verdict="agree", reason="the context is blank")
    contexts = case.retrieved_contexts
    replies = await each_context(
        judge, CONTRADICTION, contexts, data, blank=blank, decides=_contradicts, divided="ANSWER"
    )
    judged = [
        with_quote(verdict, reply.quote, [context] if reply.verdict == "contradict" else [])
        for verdict, reply, context in zip(
            context_verdicts(replies, {"agree": "agree", "contradict": "contradict"}),
            replies,
            case.retrieved_contexts,
            strict=True,
        )
    ]
    return share_score("hallucination_contexts", "contexts", judged, "contradicted", "no")
