"""No-answer: whether the model tried to answer the question or declined to."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Pair, Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.steps import YesNo, beginning

ATTEMPTED = Prompt(
    "no_answer",
    "Is ANSWER an attempt to answer QUESTION, or does it say that it cannot? yes: it gives an answer, or a part of "
    "one. no: it only says that it cannot or will not answer, does not know, or found no result or not enough "
    "information; or it only asks back. Whether ANSWER is right, well written or relevant does not matter: a wrong "
    "answer and one that misses the point are attempts too. In doubt, use your best judgement.",
    (
        Pair(
            {"QUESTION": "When was the Ardle bridge built?", "ANSWER": "in 1702 or 1704 i think"},
            {"reason": "It gives a year.", "attempted": "yes"},
        ),
        Pair(
            {"QUESTION": "Who painted the chapel of Skerra?", "ANSWER": "The chapel of Skerra has nine wooden beams."},
            {"reason": "It misses the point, but does not decline.", "attempted": "yes"},
        ),
        Pair(
            {"QUESTION": "How deep is Lake Tarn?", "ANSWER": "Nothing was found about the depth of Lake Tarn."},
            {"reason": "It only says that nothing was found.", "attempted": "no"},
        ),
    ),
    {"query": "QUESTION"},
)


class _Attempted(Reply):
    reason: str = ""
    attempted: YesNo


QUESTION = "Who wrote Dracula?"


@evaluator(
    title="No-answer",
    inputs=("question", "answer"),
    prompts=(ATTEMPTED,),
    metrics=Metric.neutral(
        "no_answer", "Share of questions answered: 1 if the model tried, 0 if it gave no answer.", binary=True,
        title="Questions answered",
    ),
    sources=("Open RAG Eval: no-answer",),
    standards=("valid and reliable", "accountable and transparent", "LLM09 misinformation"),
    examples=(
        Example(
            "a wrong answer is an attempt",
            {"question": QUESTION, "answer": "It was Mary Shelley."},
            {"no_answer": 1.0},
            judge=(ScriptedReply("no_answer", {"reason": "It names an author.", "attempted": "yes"}),),
        ),
        Example(
            "the model declines",
            {"question": QUESTION, "answer": "The documents do not say who wrote it."},
            {"no_answer": 0.0},
            judge=(ScriptedReply("no_answer", {"reason": "It names nobody.", "attempted": "no"}),),
        ),
        Example("an empty answer", {"question": QUESTION, "answer": " "}, {"no_answer": 0.0}),
    ),
    differs_from="answer_relevance and answer_correctness judge the answer; this one only whether there is one.",
    differs_from_source="The prompt is worded by Assay. The result is 1 or 0 instead of yes or no. An answer that only "
    "asks back is no attempt, of which the source does not speak. An empty answer is no attempt and is not shown to "
    "the judge.",
    version=2,
)  # fmt: skip
async def no_answer(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Whether the model tried to answer the question: 1 attempted, 0 declined. The mean is the share answered.

        no_answer = 1 if a judge says that the answer attempts the question, else 0

    Right or wrong does not matter. For an unanswerable question 0 is the good outcome, for any other 1, so the metric
    has no direction and no threshold. A partial, hedged or irrelevant answer is an attempt; only asking back is not. An
    empty answer is not an attempt; the judge is not asked. The mean is Open RAG Eval's "questions answered".
    Evidence: the verdict, attempted or declined, and the judge's reason.
    """
    attempted, reason = False, "the answer is empty"
    if case.answer and case.answer.strip():
        asked = {"QUESTION": case.question}
        data = {**asked, "ANSWER": beginning(judge, case.answer, asked)}
        reply = await judge.ask(ATTEMPTED, _Attempted, data)
        attempted, reason = reply.attempted == "yes", reply.reason
    judged = Verdict("Answer", "unknown", "attempted" if attempted else "declined", reason)
    return CaseScore({"no_answer": float(attempted)}, evidence=Evidence({"answer": [judged]}))
