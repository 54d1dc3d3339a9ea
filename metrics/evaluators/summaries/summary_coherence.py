"""Summary coherence: how good a summary is as a whole, from 1 to 5."""

from typing import Literal

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators.summaries.summarization_judge import GOOD_SUMMARY, SOURCE
from metrics.judge.asking import Judge, Reply
from metrics.judge.grading import expected_grade

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
    id="summary_coherence",
    title="Summary coherence",
    inputs=("source_text", "answer"),
    prompts=(COHERENCE,),
    metrics=(
        Metric(
            "summary_coherence",
            "Quality of the summary as a whole, an integer from 1 to 5.",
            low=1.0,
            high=5.0,
            threshold=4.0,
        ),
    ),
    sources=("Valor", "Liu et al. 2023, G-Eval, appendix A (arXiv:2303.16634)"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
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
    differs_from_source=(
        "The prompt is worded by Assay, after the same appendix, and describes every level, where the source describes "
        "the best alone. An empty summary is rated 1 without asking the judge. Where the judge tells the probabilities "
        "of the ratings, they weight the ratings, as in G-Eval; else the judge's integer counts, as in Valor. "
        "Valor sets no threshold; 4 is Assay's."
    ),
    version=2,
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
