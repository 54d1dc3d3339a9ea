"""Answer relevancy: how similar the question is to questions that the answer would answer."""

import asyncio

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import YesNo, beginning
from metrics.models.embedder import Embedder, compare, provenance

QUESTIONS = Prompt(
    "answer_relevancy.questions",
    "Somebody asked a question and got ANSWER. For each of the DRAWS write one question, complete and in the language "
    "of ANSWER, to which ANSWER as a whole would be the fitting reply; word each draw anew. evasive: yes if ANSWER "
    "is noncommittal: it refuses, does not know or is not sure, dodges, only asks back, or is so vague or ambiguous "
    "that it commits to nothing; else no.",
    published={"response": "ANSWER"},
)


class _Draw(ItemReply):
    question: str
    evasive: YesNo


class RelevancyParameters(Parameters):
    """How many questions the judge writes."""

    questions: int = Field(3, ge=1, le=10, description="How many questions the judge writes for each answer.")


ASKED = "When was the first Super Bowl?"
ANSWER = "The first Super Bowl was held on Jan 15, 1967."


@evaluator(
    id="answer_relevancy",
    title="Answer relevancy",
    inputs=("question", "answer"),
    prompts=(QUESTIONS,),
    metrics=(
        Metric(
            "answer_relevancy",
            "Mean cosine of the question with questions that the judge writes for the answer.",
            low=-1.0,
        ),
    ),
    sources=("H2O Eval Studio, after RAGAS", "RAG generator metrics: response relevancy, string based"),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "every written question is the one that was asked",
            {"question": ASKED, "answer": ANSWER},
            {"answer_relevancy": 1.0},
            judge=(ScriptedReply(QUESTIONS.id, [{"question": ASKED, "evasive": "no"}] * 3),),
        ),
        Example(
            "one evasive draw of two does not make the answer evasive",
            {"question": ASKED, "answer": ANSWER},
            {"answer_relevancy": 1.0},
            parameters={"questions": 2},
            judge=(
                ScriptedReply(
                    QUESTIONS.id, [{"question": ASKED, "evasive": "no"}, {"question": ASKED, "evasive": "yes"}]
                ),
            ),
        ),
        Example(
            "every draw is evasive",
            {"question": ASKED, "answer": "I could not say when the first Super Bowl was."},
            {"answer_relevancy": 0.0},
            judge=(ScriptedReply(QUESTIONS.id, [{"question": ASKED, "evasive": "yes"}] * 3),),
        ),
        Example("an empty answer", {"question": ASKED, "answer": " "}, {"answer_relevancy": 0.0}),
        Example.not_applicable("the question is blank", {"question": " ", "answer": ANSWER}),
    ),
    differs_from="One of three answer relevance evaluators. answer_relevance is the share of relevant statements; "
    "answer_relevancy_sentence compares the question with the answer's own sentences, without a judge. This one drops "
    "both when the answer adds other subjects and when it leaves out what was asked.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of a BGE model such as H2O uses, to which its threshold .75 belongs; each model gets its own by "
        "calibration. The prompt is worded by Assay. The judge writes all N questions in one call, where the sources "
        "ask several times. Where every question is marked evasive the score is 0, as in RAGAS; the sources do not "
        "mention it."
    ),
    version=2,
)
async def answer_relevancy(case: Case, parameters: RelevancyParameters, judge: Judge, embedder: Embedder) -> CaseScore:
    """How well the question could be guessed from the answer: its mean cosine with N questions written for the answer.

        relevancy = 1/N · Σ cos(emb(question), emb(g_i)),  N = 3;  0 where every g_i is marked evasive

    From −1 to 1; unrelated questions are near 0, hardly any below. A judge that sees only the answer writes all N
    questions in one call. What counts as similar depends on the embedding model: compare scores of one model only.
    Whether the answer is right does not matter.

    Of an answer that is longer than the judge's window the beginning is read, which the evidence says. An empty answer
    is evasive and scores 0 without a call. A blank question is not applicable.
    Evidence: each written question with its cosine and whether it was marked evasive, the embedding model and the
    sha256 of its weights.
    """
    question = case.question or ""
    if not question.strip():
        return not_applicable("the question is blank")
    if not case.answer or not case.answer.strip():
        return CaseScore({"answer_relevancy": 0.0}, evidence=Evidence(facts={"note": "the answer is empty"}))
    draws = [f"draw {number}" for number in range(1, parameters.questions + 1)]
    replies = await judge.each(QUESTIONS, _Draw, draws, {"ANSWER": beginning(judge, case.answer)}, name="DRAWS")
    written = [reply.question for reply in replies]
    [compared] = await asyncio.to_thread(list, compare(embedder, [([question], written)]))
    cosines = [float(value) for value in compared.cosines[0]]
    questions = [
        Verdict(
            reply.question,
            yes_or_no(reply.evasive == "no"),
            "evasive" if reply.evasive == "yes" else "answered",
            facts={"cosine": round(cosine, 6)},
        )
        for reply, cosine in zip(replies, cosines, strict=True)
    ]
    evasive = all(reply.evasive == "yes" for reply in replies)
    value = 0.0 if evasive else sum(cosines) / len(cosines)
    evidence = Evidence({"questions": questions}, provenance(embedder, compared))
    return CaseScore({"answer_relevancy": value}, evidence=evidence)
