"""Summarization (judge): whether a summary is good or bad, according to a judge."""

from typing import Literal

from metrics.core.evaluator import CaseScore, Example, Parameters, ScriptedReply, Status, evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score, counting_unreadable
from metrics.judge.asking import Judge, Reply

SUMMARY = Prompt(
    "summarization_judge",
    "Is SUMMARY a good or a bad summary of SOURCE? good: it holds the key points of SOURCE, nothing that SOURCE does "
    "not say, and is clearly shorter and readable. bad: it misses a key point, adds or distorts something, copies "
    "SOURCE or talks of something else.",
)


class _Quality(Reply):
    reason: str = ""
    summary: Literal["good", "bad"]


SOURCE = "The ferry was cancelled on Monday because of a storm. Passengers were put up in hotels and left on Tuesday."
GOOD_SUMMARY = {"source_text": SOURCE, "answer": "A storm stopped Monday's ferry, so passengers left on Tuesday."}


@evaluator(
    id="summarization_judge",
    title="Summarization (judge)",
    inputs=("source_text", "answer"),
    prompts=(SUMMARY,),
    metrics=boolean_metrics("are good summaries of the source text"),
    sources=("H2O Eval Studio evaluators: Summarization (Judge)",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "a good summary",
            GOOD_SUMMARY,
            {"passes": 1, "failures": 0, "retrieval_failures": None, "generation_failures": 0, "parse_failures": 0},
            judge=(ScriptedReply("summarization_judge", {"reason": "Cause and result.", "summary": "good"}),),
        ),
        Example(
            "a bad summary",
            {"source_text": SOURCE, "answer": "The ferry sank."},
            {"passes": 0, "failures": 1, "generation_failures": 1},
            judge=(ScriptedReply("summarization_judge", {"reason": "It did not sink.", "summary": "bad"}),),
        ),
        Example("an empty summary", {"source_text": SOURCE, "answer": " "}, {"passes": 0, "failures": 1}),
        Example(
            "the judge's reply cannot be read",
            {"source_text": SOURCE, "answer": "A storm."},
            {"passes": None, "parse_failures": 1},
            status=Status.PARSE_FAILURE,
            judge=(ScriptedReply("summarization_judge", {"reason": "", "summary": "gut"}),),
        ),
    ),
    differs_from="summary_coherence rates from 1 to 5; summarization_completeness_faithfulness uses local models.",
    differs_from_source=(
        "The prompt is worded by Assay. An empty summary fails without asking the judge. Nothing is retrieved for a "
        "summary: retrieval_failures has no value, where H2O lists one."
    ),
)
@counting_unreadable
async def summarization_judge(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """Whether the answer is a good summary of the source text, according to a judge.

        passes = 1 if the judge calls the summary good, 0 if bad

    A good summary contains the key points, adds and distorts nothing, and is short and readable.

    Nothing is retrieved for a summary: retrieval_failures has no value, and every failure is attributed to generation.
    An empty summary fails without asking the judge; a reply that cannot be read counts only in parse_failures.
    Evidence: the verdict and the judge's reason.
    """
    if not (case.answer or "").strip():
        reply = _Quality(summary="bad", reason="the summary is empty")
    else:
        reply = await judge.ask(SUMMARY, _Quality, {"SOURCE": case.source_text, "SUMMARY": case.answer})
    good = reply.summary == "good"
    judged = Verdict("Summary", yes_or_no(good), reply.summary, reply.reason)
    return boolean_score(good, evidence=Evidence({"summary": [judged]}))
