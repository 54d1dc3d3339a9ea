"""Rubric: an agent's answer rated in several dimensions, combined into one number."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from metrics.core.evaluator import (
    CaseScore,
    Example,
    Metric,
    Parameters,
    ScriptedReply,
    evaluator,
    not_applicable,
)
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import CLAIMS, NO_CLAIMS, claims, each
from metrics.text.agents.traces import TraceError, efficiency, steps_of

PASS_MARK = 0.7
SHOWN_TRACE = 12_000  # characters of a trace that the judge is shown
ROUNDING = 1e-9
FACTUAL = "factual_accuracy"
WASTED = {
    "wasted_calls": "Share of the tool calls that are redundant, failed or looping, counted in the trace.",
    "redundant_calls": "Share of the tool calls that repeat one whose result was known: same tool, same arguments.",
    "failed_calls": "Share of the tool calls that ended in an error.",
    "looping_calls": "Share of the tool calls that repeat a cycle of calls which runs at least 3 times in a row.",
}
Level = Literal["excellent", "good", "acceptable", "poor", "failed"]
HOLDS: Mapping[str, Holds] = {"excellent": "yes", "good": "yes", "poor": "no", "failed": "no"}  # else unknown
Need = Literal["question", "expected_answers", "retrieved_contexts", "citations", "trace"]
LEVELS = Prompt(
    "rubric.levels",
    "Rate ANSWER, an agent's output for TASK, in each of the DIMENSIONS: excellent, good, acceptable, poor or failed, "
    "as the dimension's text describes them. TRACE is what the agent did, SOURCES what it retrieved, CITATIONS what it "
    "cites, EXPECTED what is known to be right, where they are given.",
)
ACCURACY = Prompt(
    "rubric.accuracy",
    "Hold each of the CLAIMS of an answer against EXPECTED, the ground truth. importance: major, if the conclusion "
    "rests on it, else minor. accuracy: excellent, it matches; good, a slip that changes nothing; acceptable, right in "
    "the main, inexact; poor, a significant error; failed, fundamentally wrong; unknown, if EXPECTED neither says nor "
    "rules it out.",
)


class Dimension(BaseModel):
    """One dimension of a rubric: its weight, what its levels mean, and what a case needs for it to be rated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    weight: float = Field(gt=0, le=1000)
    description: str = Field(min_length=1)
    needs_any: tuple[Need, ...] = ()


DIMENSIONS = (
    Dimension(
        name=FACTUAL,
        weight=0.30,
        description="Claims match the ground truth. excellent: all do; good: minor errors that leave the conclusions "
        "standing; acceptable: major claims right, minor ones inexact; poor: significant errors in key claims; failed: "
        "errors that make the output worthless.",
        needs_any=("expected_answers",),
    ),
    Dimension(
        name="completeness",
        weight=0.25,
        description="All that was asked for is covered. excellent: thoroughly; good: with minor gaps; acceptable: the "
        "key aspects, some gaps; poor: major aspects are missing; failed: the heart of the task is not addressed.",
        needs_any=("question",),
    ),
    Dimension(
        name="citation_accuracy",
        weight=0.15,
        description="Citations match what they are cited for. excellent: all accurate and complete; good: minor faults "
        "of form; acceptable: the major ones are accurate; poor: significant problems; failed: missing or wrong.",
        needs_any=("retrieved_contexts", "citations"),
    ),
    Dimension(
        name="source_quality",
        weight=0.10,
        description="Fitting sources were used. excellent: primary and authoritative; good: mostly primary; "
        "acceptable: primary and secondary mixed; poor: mostly secondary or unreliable; failed: no "
        "credible source.",
        needs_any=("retrieved_contexts", "citations"),
    ),
    Dimension(
        name="tool_efficiency",
        weight=0.20,
        description="The right tools, used a reasonable number of times. excellent: the best choice and count; good: "
        "minor inefficiencies; acceptable: the right tools, some redundancy; poor: wrong tools or far too many calls; "
        "failed: severe misuse.",
        needs_any=("trace",),
    ),
)


class LevelScores(BaseModel):
    """The score of each level."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    excellent: float = Field(1.0, ge=0, le=1)
    good: float = Field(0.8, ge=0, le=1)
    acceptable: float = Field(0.6, ge=0, le=1)
    poor: float = Field(0.3, ge=0, le=1)
    failed: float = Field(0.0, ge=0, le=1)


class RubricParameters(Parameters):
    """The rubric."""

    dimensions: tuple[Dimension, ...] = Field(
        DIMENSIONS,
        min_length=1,
        description="The dimensions: name, weight, what the levels mean, and inputs of which a case needs one.",
    )
    levels: LevelScores = Field(LevelScores.model_validate({}), description="The score of each level, from 0 to 1.")
    major_weight: float = Field(
        2.0, ge=1, le=100, description="Weight of a major claim in factual_accuracy; a minor one weighs 1."
    )

    @field_validator("dimensions")
    @classmethod
    def _named_once(cls, dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        if len({dimension.name for dimension in dimensions}) < len(dimensions):
            raise ValueError("a name of its own for each dimension")
        return dimensions


class _Rated(ItemReply):
    reason: str = ""
    level: Level


class _Accuracy(ItemReply):
    reason: str = ""
    importance: Literal["major", "minor"]
    accuracy: Literal["excellent", "good", "acceptable", "poor", "failed", "unknown"]


class _Row(NamedTuple):
    """A dimension that was rated."""

    dimension: Dimension
    level: str
    score: float
    reason: str


TASK = {"question": "When did the Eiffel Tower open?", "answer": "It opened in 1889 [1].", "expected_answers": ["1889"]}
FULL = TASK | {"retrieved_contexts": ["The tower opened on 31 March 1889."], "trace": '{"steps": [{"tool": "search"}]}'}
CLAIM = ScriptedReply("claims", {"claims": ["The Eiffel Tower opened in 1889."]})


def _levels(*labels: str) -> ScriptedReply:
    return ScriptedReply("rubric.levels", [{"reason": "", "level": label} for label in labels])


def _accuracy(*pairs: tuple[str, str]) -> ScriptedReply:
    return ScriptedReply(
        "rubric.accuracy",
        [{"reason": "", "importance": importance, "accuracy": accuracy} for importance, accuracy in pairs],
    )


@evaluator(
    id="rubric",
    title="Agent rubric",
    tasks=("agent", "text"),
    inputs=("question", "answer"),
    prompts=(LEVELS, ACCURACY, CLAIMS),
    metrics=(
        Metric("rubric", "Weighted mean of the dimensions.", threshold=PASS_MARK, primary=True),
        Metric("passed", "Share of cases whose rubric is at the threshold or above.", threshold=PASS_MARK, binary=True),
        Metric(FACTUAL, "How well the claims match the expected answer, major ones counting more.", minor=True),
        Metric("completeness", "How much of what was asked for is covered.", minor=True),
        Metric("citation_accuracy", "How well citations match what they are cited for.", minor=True),
        Metric("source_quality", "How primary and reliable the sources are.", minor=True),
        Metric("tool_efficiency", "How well tools were chosen, and how economically they were used.", minor=True),
        *(
            Metric.lower(name, description, minor=True)
            for name, description in WASTED.items()
        ),
    ),
    sources=("Agent evaluation reference: rubric",),
    standards=(
        "NIST AI RMF: valid and reliable",
        "NIST AI RMF: accountable and transparent",
        "OWASP LLM Top 10: LLM06 excessive agency",
    ),
    examples=(
        Example(
            "all five dimensions rated: 1, .8, .6, .3 and 1",
            FULL,
            {
                "rubric": 0.82, "passed": 1, "factual_accuracy": 1.0, "completeness": 0.8, "citation_accuracy": 0.6,
                "source_quality": 0.3, "tool_efficiency": 1.0,
            },
            judge=(CLAIM, _accuracy(("major", "excellent")), _levels("good", "acceptable", "poor", "excellent")),
        ),
        Example(
            "of six tool calls one fails, and two repeat the call before",
            {
                "question": "Q?", "answer": "A.",
                "trace": '{"steps": [{"tool": "a", "error": "timeout"}, {"tool": "a"}, {"tool": "b"}, {"tool": "c"}, '
                '{"tool": "c"}, {"tool": "c"}]}',
            },
            {"wasted_calls": 0.5, "redundant_calls": 1 / 3, "failed_calls": 1 / 6, "looping_calls": 1 / 3},
            judge=(_levels("good", "poor"),),
        ),
        Example(
            "only factual accuracy and completeness can be rated: .6 and .3",
            TASK,
            {"rubric": 0.255 / 0.55, "passed": 0, "citation_accuracy": None, "tool_efficiency": None,
             "wasted_calls": None},
            judge=(CLAIM, _accuracy(("minor", "acceptable")), _levels("poor")),
        ),
        Example(
            "a major claim counts twice, an unknown one not at all",
            TASK,
            {"factual_accuracy": 2 / 3, "completeness": 1.0, "rubric": 0.45 / 0.55, "passed": 1},
            judge=(
                ScriptedReply("claims", {"claims": ["It opened in 1889.", "It opened in June.", "It is tall."]}),
                _accuracy(("major", "excellent"), ("minor", "failed"), ("minor", "unknown")),
                _levels("excellent"),
            ),
        ),
        Example(
            "your own rubric",
            TASK,
            {"rubric": 0.75, "passed": 0, "completeness": 0.5, "factual_accuracy": None},
            parameters={
                "threshold": 0.8,
                "levels": {"good": 0.5},
                "dimensions": [
                    {"name": "brevity", "weight": 3, "description": "Short."},
                    {"name": "completeness", "weight": 3, "description": "All said."},
                ],
            },
            judge=(_levels("excellent", "good"),),
        ),
    ),
    differs_from="agent_sanity checks the files an agent made, step_alignment compares its steps with expected ones; "
    "byop asks one question of your own.",
)  # fmt: skip
async def rubric(case: Case, parameters: RubricParameters, judge: Judge) -> CaseScore:
    """How good an agent's answer is by a rubric: levels in several dimensions, combined into one number.

        rubric = Σ weight · score / Σ weight,  over the dimensions that can be rated
        passed = 1 if rubric ≥ .7 (or the given `threshold`), else 0

    Factual accuracy .30, completeness .25, citation accuracy .15, source quality .10, tool efficiency .20. Levels:
    excellent 1, good .8, acceptable .6, poor .3, failed 0.

    A dimension is rated if the case has what it needs: an expected answer for factual accuracy, retrieved contexts or
    citations for the citations and sources, a trace for the tools; the weights of the others are scaled to 1. Factual
    accuracy is the mean level of the answer's claims compared with the expected answer, with a major claim counting
    twice (`major_weight`). Claims that it neither states nor rules out are left out; if no claim remains, it is not
    rated.

    Dimensions, weights, texts and levels can be edited and are saved with the run; your own dimensions count in the
    number and appear in the evidence. Up to 12,000 characters of a trace are shown to the judge. If no dimension can be
    rated, the case is not applicable. An empty answer scores 0 without asking the judge, in no dimension.

    In addition to the judge's rating of the tools, shares of the tool calls are counted in the trace: redundant (the
    same tool with the same arguments as an earlier call that did not fail), failed (the trace has an error for the
    call), looping (the second and later turns of a cycle of up to 20 calls that runs at least 3 times in a row), and
    wasted, which is any of the three. They are not part of the rubric; without a call in the trace they have no value.
    Evidence: each dimension with level, score, weight and reason, or why it was not rated; the claims; the counts of
    the calls. Source: the agent evaluation reference.
    """
    wasted, counts = _wasted(case.trace)
    if not (case.answer or "").strip():
        empty = "the answer is empty"
        nothing = {"rubric": 0.0, "passed": 0.0, **wasted}
        return CaseScore(nothing, reason=empty, evidence=Evidence(facts={"note": empty, "tool_calls": counts}))
    present = [
        entry
        for entry in parameters.dimensions
        if not entry.needs_any or any(getattr(case, need) for need in entry.needs_any)
    ]
    unrated = {
        entry.name: f"the case has no {' or '.join(need.replace('_', ' ') for need in entry.needs_any)}"
        for entry in parameters.dimensions
        if entry not in present
    }
    facts = next((entry for entry in present if entry.name == FACTUAL and case.expected_answers), None)
    others = [entry for entry in present if entry is not facts]
    described = [f"{entry.name}: {entry.description}" for entry in others]
    trace = case.trace or ""
    material: dict[str, str | Sequence[str] | None] = {
        "TASK": case.question,
        "EXPECTED": case.expected_answers or None,
        "SOURCES": case.retrieved_contexts or None,
        "CITATIONS": case.citations or None,
        "TRACE": trace[:SHOWN_TRACE] or None,
        "ANSWER": case.answer or "",
    }
    rated = await each(judge, LEVELS, _Rated, described, material, name="DIMENSIONS")
    stated = await claims(judge, case.answer, case.question) if facts else ()
    expected = {"EXPECTED": case.expected_answers}
    checked = await each(judge, ACCURACY, _Accuracy, stated, expected, name="CLAIMS")
    worth = parameters.levels.model_dump()
    rows = [
        _Row(entry, reply.level, worth[reply.level], reply.reason) for entry, reply in zip(others, rated, strict=True)
    ]
    if facts:
        score = _accuracy_score(checked, worth, parameters.major_weight)
        if score is None:
            unrated[FACTUAL] = "the expected answer says nothing about the claims" if checked else NO_CLAIMS
        else:
            nearest = min(worth, key=lambda level: abs(worth[level] - score))
            rows.insert(0, _Row(facts, nearest, score, "the mean of the claims"))
    evidence = Evidence(
        {
            "dimensions": [
                _verdict(entry.name, level, reason, weight=entry.weight, score=score)
                for entry, level, score, reason in rows
            ],
            "claims": [
                _verdict(claim, reply.accuracy, reply.reason, importance=reply.importance)
                for claim, reply in zip(stated, checked, strict=True)
            ],
        },
        {"unrated": unrated, "trace_cut": max(0, len(trace) - SHOWN_TRACE), "tool_calls": counts},
    )
    if not rows:
        return not_applicable("no dimension of the rubric can be rated", evidence)
    scores = {row.dimension.name: row.score for row in rows}
    overall = sum(row.dimension.weight * row.score for row in rows) / sum(row.dimension.weight for row in rows)
    mark = parameters.threshold if parameters.threshold is not None else PASS_MARK
    known = {dimension.name: scores.get(dimension.name) for dimension in DIMENSIONS}
    values = {"rubric": overall, "passed": float(overall >= mark - ROUNDING), **known, **wasted}
    missing = [name for name, value in known.items() if value is None]
    reason = "; ".join(f"{name}: {unrated.get(name, 'not in the rubric')}" for name in missing)
    if not wasted:
        reason += f"{'; ' * bool(reason)}tool calls: {counts}"
    return CaseScore(values, reason=reason or None, evidence=evidence)


def _wasted(trace: str | None) -> tuple[dict[str, float], dict[str, int] | str]:
    """Return the shares of wasted tool calls, and their counts; no shares and why where there is no call to count."""
    if not trace:
        return {}, "the case has no trace"
    try:
        found = efficiency(steps_of(trace))
    except TraceError as failure:
        return {}, str(failure)
    if not found.calls:
        return {}, "none in the trace"
    counts = {name: len(getattr(found, name.removesuffix("_calls"))) for name in WASTED}
    return {name: count / found.calls for name, count in counts.items()}, {"calls": found.calls, **counts}


def _verdict(text: str, level: str, reason: str, **facts: object) -> Verdict:
    return Verdict(text, HOLDS.get(level, "unknown"), level, reason, facts=facts)


def _accuracy_score(checked: Sequence[_Accuracy], worth: Mapping[str, float], major: float) -> float | None:
    """Return the mean score of the claims' levels, major ones weighing `major`; None if no claim could be rated."""
    known = [
        (worth[claim.accuracy], major if claim.importance == "major" else 1.0)
        for claim in checked
        if claim.accuracy != "unknown"
    ]
    total = sum(weight for _, weight in known)
    return sum(score * weight for score, weight in known) / total if known else None
