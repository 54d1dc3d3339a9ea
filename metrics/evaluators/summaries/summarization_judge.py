"""Summarization (judge): whether a summary is good or bad, according to a judge."""

from metrics.core.evaluator import CaseScore, Example, Parameters, ScriptedReply, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score, counting_unreadable
from metrics.evaluators._judged_items import item_verdicts
from metrics.judge.asking import Judge
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
    differs_from_source=(
        "The prompt is worded by Assay, and H2O's good or bad is composed of four criteria, all of which must be met. "
        "An empty summary fails without asking the judge. Nothing is retrieved for a "
        "summary: retrieval_failures has no value, where H2O lists one."
    ),
    version=2,
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
