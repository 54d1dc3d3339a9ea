"""Summaries by a judge: good or bad by four criteria, and coherence from 1 to 5."""

from typing import Literal

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score, counting_unreadable
from metrics.evaluators._judged_items import item_verdicts
from metrics.judge.asking import Judge, Reply
from metrics.judge.grading import expected_grade
from metrics.judge.steps import YesNoReply

SUMMARY = Prompt(
    "summarization_judge",
    "Does SUMMARY, a summary of SOURCE, meet each of the CRITERIA? Judge each on its own: a fault under one does not "
    "count under another. yes: SUMMARY meets it, apart from trifles. no: it does not.",
)
CRITERIA = {
    "coverage": "SUMMARY holds the key points of SOURCE; none that a reader needs is missing.",
    "faithfulness": "All that SUMMARY says follows from SOURCE; nothing is added or distorted.",
    "brevity": "SUMMARY is clearly shorter than SOURCE instead of copying it.",
    "readability": "SUMMARY can be read and understood without SOURCE.",
}


SOURCE = "The ferry was cancelled on Monday because of a storm. Passengers were put up in hotels and left on Tuesday."
GOOD_SUMMARY = {"source_text": SOURCE, "answer": "A storm stopped Monday's ferry, so passengers left on Tuesday."}


def _replies(verdicts: str) -> tuple[ScriptedReply, ...]:
    replies = [{"reason": "", "verdict": "yes" if letter == "y" else "no"} for letter in verdicts]
    return (ScriptedReply(SUMMARY.id, replies),)


@evaluator(
    title="Summarization (judge)",
    inputs=("source_text", "answer"),
    prompts=(SUMMARY,),
    metrics=boolean_metrics("are good summaries of the source text"),
    sources=("H2O Eval Studio evaluators: Summarization (Judge)",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "a good summary",
            GOOD_SUMMARY,
            {"passes": 1, "failures": 0, "retrieval_failures": None, "generation_failures": 0, "parse_failures": 0},
            judge=_replies("yyyy"),
        ),
        Example(
            "one criterion of four is not met",
            {"source_text": SOURCE, "answer": "A storm sank Monday's ferry; its passengers left on Tuesday."},
            {"passes": 0, "failures": 1, "generation_failures": 1},
            judge=_replies("ynyy"),
        ),
        Example("an empty summary", {"source_text": SOURCE, "answer": " "}, {"passes": 0, "failures": 1}),
        Example(
            "the judge's reply cannot be read",
            {"source_text": SOURCE, "answer": "A storm."},
            {"passes": None, "parse_failures": 1},
            status=Status.PARSE_FAILURE,
            judge=(ScriptedReply(SUMMARY.id, [{"reason": "", "verdict": "gut"}] * 4),),
        ),
    ),
    differs_from="summary_coherence rates from 1 to 5; summarization_completeness_faithfulness uses local models.",
    differs_from_source="The prompt is worded by Assay, and H2O's good or bad is composed of four criteria, all of "
    "which must be met. An empty summary fails without asking the judge. Nothing is retrieved for a summary: "
    "retrieval_failures has no value, where H2O lists one.",
    version=3,
)
@counting_unreadable
async def summarization_judge(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Whether the answer is a good summary of the source text, according to a judge.

        passes = 1 if the judge says that all four criteria are met, else 0

    The criteria, each with a verdict of its own, in one reply: coverage (the key points are there), faithfulness
    (nothing is added or distorted), brevity (clearly shorter than the source), readability (it can be understood
    without the source).

    Nothing is retrieved for a summary: retrieval_failures has no value, and every failure is attributed to generation.
    An empty summary fails without asking the judge; a reply that cannot be read counts only in parse_failures.
    Evidence: the verdict and the judge's reason for each criterion.
    """
    if not (case.answer or "").strip():
        empty = Verdict("Summary", "no", "empty", "the summary is empty")
        return boolean_score(False, evidence=Evidence({"criteria": [empty]}))
    asked = [f"{name}: {meaning}" for name, meaning in CRITERIA.items()]
    data = {"SOURCE": case.source_text, "SUMMARY": case.answer}
    replies = await judge.each(SUMMARY, YesNoReply, asked, data, name="CRITERIA")
    judged = item_verdicts([name.capitalize() for name in CRITERIA], replies, {"yes": "met", "no": "not met"})
    return boolean_score(all(verdict.holds == "yes" for verdict in judged), evidence=Evidence({"criteria": judged}))


COHERENCE = Prompt(
    "summary_coherence",
    "Rate the coherence of SUMMARY, a summary of SOURCE: the quality of its sentences taken together. A coherent "
    "summary is well structured and well organised; it builds from sentence to sentence into one body of information "
    "instead of a heap of it. First read SOURCE carefully for its main topic and key points. Then compare: does "
    "SUMMARY cover them, in a clear and logical order? Then rate. coherence is an integer. 1: incoherent, sentences "
    "without connection, or the main topic missing or wrong. 2: poor, a heap of related statements, or most key "
    "points missing. 3: fair, the main topic and some key points, with gaps in order or connection. 4: good, the key "
    "points in a clear order, with small flaws. 5: excellent, all key points in a clear and logical order, each "
    "sentence building on the one before.",
    published={"Document": "SOURCE", "text": "SOURCE", "Summary": "SUMMARY"},
)


RATINGS = (1, 2, 3, 4, 5)


class _Coherence(Reply):
    reason: str = ""
    coherence: Literal[1, 2, 3, 4, 5]


@evaluator(
    inputs=("source_text", "answer"),
    prompts=(COHERENCE,),
    metrics=Metric(
        "summary_coherence",
        "Quality of the summary as a whole, an integer from 1 to 5.",
        low=1.0,
        high=5.0,
        threshold=4.0,
    ),
    sources=("Valor", "Liu et al. 2023, G-Eval, appendix A (arXiv:2303.16634)"),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "a good summary",
            GOOD_SUMMARY,
            {"summary_coherence": 5.0},
            judge=(ScriptedReply("summary_coherence", {"reason": "Cause and result, in order.", "coherence": 5}),),
        ),
        Example(
            "unconnected fragments",
            {"source_text": SOURCE, "answer": "Hotels. Tuesday. There is a ferry."},
            {"summary_coherence": 2.0},
            judge=(ScriptedReply("summary_coherence", {"reason": "Nothing joins them.", "coherence": "2"}),),
        ),
        Example(
            "the rating is not on the scale",
            {"source_text": SOURCE, "answer": "A storm."},
            {"summary_coherence": None},
            status=Status.PARSE_FAILURE,
            judge=(ScriptedReply("summary_coherence", {"reason": "Superb.", "coherence": 6}),),
        ),
        Example("an empty summary", {"source_text": SOURCE, "answer": ""}, {"summary_coherence": 1.0}),
    ),
    differs_from="summarization_judge says good or bad; summarization_completeness_faithfulness uses local models, "
    "sentence by sentence.",
    differs_from_source="The prompt is worded by Assay, after the same appendix, and describes every level, where the "
    "source describes the best alone. An empty summary is rated 1 without asking the judge. Where the judge tells the "
    "probabilities of the ratings, they weight the ratings, as in G-Eval; else the judge's integer counts, as in "
    "Valor. Valor sets no threshold; 4 is Assay's.",
    version=3,
)
async def summary_coherence(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """How good the summary is as a whole, rated by a judge on an integer scale from 1 to 5.

        summary_coherence ∈ {1, 2, 3, 4, 5}, or Σ P(rating) · rating where the judge tells the probabilities

    5: it covers the key points of the source in a clear and logical order, each sentence building on the one before; 4:
    small flaws; 3: some key points, with gaps in order or connection; 2: a heap of statements, or most key points
    missing; 1: it is incoherent, or about something else. There is no formula: the judge compares the summary with its
    source. The criterion is G-Eval's, for any text instead of news.

    The answer is the summary of the case's source text. An empty one is rated 1 without asking the judge; a reply that
    is not an integer from 1 to 5 is a parse failure.
    Evidence: the rating, which holds from the threshold on, and the judge's reason.
    """
    reply = _Coherence(coherence=1, reason="the summary is empty")
    if (case.answer or "").strip():
        reply = await judge.ask(COHERENCE, _Coherence, {"SOURCE": case.source_text, "SUMMARY": case.answer})
    grade, likely = expected_grade(reply, "coherence", {str(grade): float(grade) for grade in RATINGS})
    holds = summary_coherence.holds(grade, parameters)
    judged = Verdict("Summary", holds, f"{reply.coherence} of 5", reply.reason, facts=likely)
    return CaseScore({"summary_coherence": grade}, evidence=Evidence({"summary": [judged]}))
