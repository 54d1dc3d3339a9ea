"""Fact check: whether the answer holds false information, by an agent that may search."""

import asyncio
from typing import Any

from pydantic import Field

from metrics.core.errors import Unreadable
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.search_tools import SearchTool, open_tools

LONGEST_FINDING = 4_000  # characters of one search's result that the judge is shown
NO_TOOL = "none"
SEARCH = Prompt(
    "fact_check.search",
    "ANSWER, given to QUESTION, is to be checked for false information. Choose the next search that would help most: "
    f"the name of one of the TOOLS, and a query. FINDINGS are the searches so far. tool is {NO_TOOL} if they are "
    "enough or no search can help.",
)
FACT_CHECK = Prompt(
    "fact_check",
    "Check the facts: does ANSWER, given to QUESTION, hold false information? Go by FINDINGS, the searches made, where "
    "there are any, else by what you know. evaluation_summary says briefly what was checked and what is false. "
    "evaluation_score: 1, nothing in it is false; 0.75, a slip beside the point; 0.5, something false, though the main "
    "point is right; 0.25, the main point is false, something else is right; 0, all that matters is false; or a number "
    "between two of these. answer is the answer as it should be.",
    published={"actual_answer": "ANSWER"},
)


class FactCheckParameters(Parameters):
    """Which search tools the judge may use, and how often."""

    tools: tuple[str, ...] = Field(
        (), description="Names of installed search tools; none: the judge relies on what it knows, and nothing is sent."
    )
    max_searches: int = Field(3, ge=1, le=20, description="Maximum number of searches for one case.")
    max_dataset_rows: int | None = Field(
        None, ge=1, description="Check only this many cases from the start of the suite; empty: all."
    )

    def reads_beside_content(self) -> tuple[str, ...]:
        """Return the place in the suite, where cases are limited by it."""
        return () if self.max_dataset_rows is None else ("position",)


class _Search(Reply):
    reason: str = ""
    tool: str
    query: str = ""


class _Evaluation(Reply):
    evaluation_summary: str = ""
    evaluation_score: float = Field(ge=0, le=1)
    answer: str = ""


QUESTION = "Who wrote Dracula, and when?"


@evaluator(
    tasks=("text", "agent"),
    inputs=("question", "answer"),
    synonyms=("hallucination", "truthfulness", "web search"),
    prompts=(FACT_CHECK, SEARCH),
    metrics=Metric("fact_check", "How free of false information the answer is."),
    sources=("H2O Eval Studio evaluators: Fact-check (agent-based)",),
    standards=("valid and reliable", "accountable and transparent", "LLM09 misinformation"),
    examples=(
        Example(
            "half of the answer is wrong",
            {"question": QUESTION, "answer": "Bram Stoker, in 1920."},
            {"fact_check": 0.5},
            judge=(
                ScriptedReply(
                    "fact_check",
                    {
                        "evaluation_summary": "The author is right, the year is 1897.",
                        "evaluation_score": 0.5,
                        "answer": "Bram Stoker, in 1897.",
                    },
                ),
            ),
        ),
        Example(
            "the case comes after the last row to check",
            {"question": QUESTION, "answer": "Bram Stoker.", "position": 10},
            {"fact_check": None},
            parameters={"max_dataset_rows": 10},
            status=Status.SKIPPED,
        ),
        Example("nothing to check", {"question": QUESTION, "answer": ""}, {"fact_check": 0.0}),
    ),
    differs_from="answer_correctness compares with an expected answer, faithfulness with the retrieved contexts; this "
    "one relies on what the judge knows or finds.",
    differs_from_source="The run's judge decides, with whatever search tools are installed, none by default; H2O sends "
    "the answer to an agent on its own server that searches the internet. The prompts are worded by Assay and describe "
    "five points of the scale, of which H2O describes the ends; the reply has H2O's fields, the summary first. H2O's "
    "parameters of its server do not exist here. Higher is better, as in H2O, whose text calls the number the share of "
    "false information.",
    version=3,
)
async def fact_check(case: Case, parameters: FactCheckParameters, judge: Judge) -> CaseScore:
    """How free of false information the answer is, according to a judge that may search before it decides.

        fact_check = evaluation_score, from 0 (it fails) to 1 (nothing in it is false)
        .75: a slip beside the point;  .5: something false, the main point right;  .25: the main point false

    The judge replies with {answer, evaluation_score, evaluation_summary}. With `tools` it first searches, one query at
    a time and at most `max_searches`, and decides by the results. Assay ships no tools: without any, the judge relies
    on what it knows, and the evidence says so. Judges tend to overestimate their knowledge.

    A tool is a function that a package provides (see metrics.judge.search_tools); its results are data to the judge. A
    failed search counts as a finding. Searches are repeated when a case is scored again, so a replay needs the tools to
    return the same results. If a tool is not installed, the cases are skipped with the reason and how to install it.
    Cases from `max_dataset_rows` on are skipped for every model. An empty answer has 0.
    Evidence: the verdict on the answer (it holds from the threshold on), the corrected answer, the tools, and each
    search with its result.
    """
    limit = parameters.max_dataset_rows
    if limit is not None and case.position >= limit:
        reason = f"row {case.position + 1} of the suite is beyond max_dataset_rows, {limit}"
        return CaseScore({}, Status.SKIPPED, reason)
    if not (case.answer or "").strip():
        return output_failure("the answer is empty")
    tools = open_tools(parameters.tools)
    findings = await _search(case, tools, parameters.max_searches, judge) if tools else []
    data = {
        "QUESTION": case.question,
        "ANSWER": case.answer,
        "FINDINGS": [_finding_text(finding) for finding in findings] or None,
    }
    reply = await judge.ask(FACT_CHECK, _Evaluation, data)
    value = reply.evaluation_score
    holds = fact_check.holds(value, parameters)
    facts = {
        "corrected_answer": reply.answer,
        "tools": list(tools),
        "searches": findings,
        "basis": "searches" if findings else "the judge's own knowledge",
    }
    judged = Verdict("Answer", holds, f"score {value:g}", reply.evaluation_summary)
    return CaseScore({"fact_check": value}, evidence=Evidence({"answer": [judged]}, facts))


async def _search(case: Case, tools: dict[str, SearchTool], most: int, judge: Judge) -> list[dict[str, Any]]:
    """Return the searches that the judge asked for, with their results."""
    described = [f"{name}: {tool.description}" for name, tool in tools.items()]
    findings: list[dict[str, Any]] = []
    while len(findings) < most:
        data = {
            "QUESTION": case.question,
            "ANSWER": case.answer,
            "TOOLS": described,
            "FINDINGS": [_finding_text(finding) for finding in findings] or "(none yet)",
        }
        wanted = await judge.ask(SEARCH, _Search, data)
        if wanted.tool == NO_TOOL:
            break
        if wanted.tool not in tools:
            raise Unreadable(f"the judge asked for a tool {wanted.tool!r}; there are {', '.join(tools)}")
        try:
            found = await asyncio.to_thread(tools[wanted.tool].search, wanted.query)
        except Exception as failure:
            found = f"(the search failed: {failure})"
        findings.append({"tool": wanted.tool, "query": wanted.query, "found": found[:LONGEST_FINDING]})
    return findings


def _finding_text(finding: dict[str, Any]) -> str:
    return f"{finding['tool']}: {finding['query']}\n{finding['found']}"
