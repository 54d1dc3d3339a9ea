"""No-answer: whether the model tried to answer the question or declined to."""

from metrics.core.evaluator import CaseScore, Direction, Example, Metric, Parameters, Said, evaluator
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
    tasks=("text",),
    inputs=("question", "answer"),
    resources=("judge",),
    prompts=(ATTEMPTED,),
    metrics=(
        Metric(
            "no_answer",
            "Share of questions answered: 1 where the model tried, 0 where it gave no answer.",
            direction=Direction.NONE,
            threshold=None,
            binary=True,
            primary=True,
        ),
    ),
    sources=("O",),
    standards=("NIST AI RMF: valid and reliable", "NIST AI RMF: accountable and transparent"),
    examples=(
        Example(
            "a wrong answer is one",
            {"question": QUESTION, "answer": "It was Mary Shelley."},
            {"no_answer": 1.0},
            judge=(Said("no_answer", {"reason": "It names an author.", "attempted": "yes"}),),
        ),
        Example(
            "the model declines",
            {"question": QUESTION, "answer": "The documents do not say who wrote it."},
            {"no_answer": 0.0},
            judge=(Said("no_answer", {"reason": "It names nobody.", "attempted": "no"}),),
        ),
        Example("silence", {"question": QUESTION, "answer": " "}, {"no_answer": 0.0}),
    ),
    differs_from="answer_relevance and answer_correctness judge what was answered; this one whether anything was.",
)
async def no_answer(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:  # noqa: ARG001
    """Whether the model tried to answer the question: 1 attempted, 0 declined. The mean is the share answered.

        no_answer = 1 where a judge says that the answer attempts the question, else 0

    Right or wrong does not matter. Of an unanswerable question 0 is the good outcome, of another one 1, so the metric
    has no direction and no threshold. A partial or hedged answer is an attempt; a question back, or talk of something
    else, is none. An empty answer is none, unasked.
    Evidence: the verdict and the judge's reason.
    Source: Open RAG Eval's no-answer metric, whose "questions answered" this mean is.
    """
    if not (case.answer or "").strip():
        return CaseScore({"no_answer": 0.0}, evidence={"attempted": "no", "reason": "the answer is empty"})
    said = await judge.ask(ATTEMPTED, _Attempted, {"QUESTION": case.question, "ANSWER": case.answer})
    return CaseScore({"no_answer": float(said.attempted == "yes")}, evidence=said.model_dump())
