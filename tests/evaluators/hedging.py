"""An evaluator as somebody else might write one: its own prompt, and verdicts in words that Assay has never seen."""

from typing import Literal

from metrics.core.evaluator import CaseScore, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import ItemReply, Judge

HEDGING = Prompt("hedging", "Is each of the SENTENCES hedged or plain?")


class _Hedging(ItemReply):
    reason: str = ""
    style: Literal["hedged", "plain"]


@evaluator(
    id="hedging",
    title="Hedging",
    inputs=("answer",),
    prompts=(HEDGING,),
    metrics=(Metric("plain", "Share of the sentences that are plain.", primary=True),),
)
async def hedging(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the answer's sentences that are plain."""
    sentences = (case.answer or "").split("; ")
    replies = await judge.each(HEDGING, _Hedging, sentences, name="SENTENCES")
    judged = [
        Verdict(sentence, yes_or_no(reply.style == "plain"), reply.style, reply.reason)
        for sentence, reply in zip(sentences, replies, strict=True)
    ]
    return CaseScore(
        {"plain": sum(one.holds == "yes" for one in judged) / len(judged)}, evidence=Evidence({"sentences": judged})
    )
