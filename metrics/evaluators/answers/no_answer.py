"""No-answer: whether the model tried to answer the question or declined to."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.steps import YesNo

ATTEMPTED = Prompt(
    "no_answer",
    "Does ANSWER try to answer QUESTION? yes: it gives an answer, or a part of one, be it wrong, hedged or short. no: "
    "it declines, says that it does not know or that its sources do not tell, asks back, or talks of something else.",
)


class _Attempted(Reply):
    reason: str = ""
    attempted: YesNo


QUESTION = "Who wrote Dracula?"


@evaluator(
    id="no_answer",
    title="No-answer",
    inputs=("question", "answer"),
    prompts=(ATTEMPTED,),
    metrics=(
        Metric.neutral(
            "no_answer", "Share of questions answered: 1 if the model tried, 0 if it gave no answer.", binary=True
        ),
    ),
    sources=("Open RAG Eval: no-answer",),
    standards=(
        "NIST AI RMF: valid and reliable",
        "NIST AI RMF: accountable and transparent",
        "OWASP LLM Top 10: LLM09 misinformation",
    ),
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
    differs_from_source=(
        "The prompt is worded by Assay. The result is 1 or 0 instead of yes or no. An empty answer is no attempt and "
        "is not shown to the judge."
    ),
)
async def no_answer(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Whether the model tried to answer the question: 1 attempted, 0 declined. The mean is the share answered.

        no_answer = 1 if a judge says that the answer attempts the question, else 0

    Right or wrong does not matter. For an unanswerable question 0 is the good outcome, for any other 1, so the metric
    has no direction and no threshold. A partial or hedged answer is an attempt; asking back or changing the subject is
    not. An empty answer is not an attempt; the judge is not asked. The mean is Open RAG Eval's "questions answered".
    Evidence: the verdict, attempted or declined, and the judge's reason.
    """
    attempted, reason = False, "the answer is empty"
    if (case.answer or "").strip():
        reply = await judge.ask(ATTEMPTED, _Attempted, {"QUESTION": case.question, "ANSWER": case.answer})
        attempted, reason = reply.attempted == "yes", reply.reason
    judged = Verdict("Answer", "unknown", "attempted" if attempted else "declined", reason)
    return CaseScore({"no_answer": float(attempted)}, evidence=Evidence({"answer": [judged]}))
