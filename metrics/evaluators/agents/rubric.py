"""Rubric: an agent's answer rated in several dimensions, combined into one number."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Holds, Verdict
from metrics.core.prompt import Prompt
from metrics.core.rounding import at_least, exact_sum
from metrics.core.suite import Case
from metrics.evaluators._scripted import claims_reply
from metrics.evaluators.agents._rating import LEVELS, OWN_LEVELS, rate_dimensions
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.grading import expected_grade
from metrics.judge.rubrics import DIMENSIONS, FACTUAL, USUAL, Dimension, Dimensions, Levels
from metrics.judge.steps import CLAIMS, NO_CLAIMS, claims, each
from metrics.text.agents.traces import TraceError, efficiency, steps_of
from metrics.text.citations import cited_parts, passage_names

PASS_MARK = 0.7
SHOWN_TRACE = 12_000  # characters of a trace that the judge is shown
WASTED = {
    "wasted_calls": "Share of the tool calls that are redundant, failed or looping, counted in the trace.",
    "redundant_calls": "Share of the tool calls that repeat one whose result was known: same tool, same arguments.",
    "failed_calls": "Share of the tool calls that ended in an error.",
    "looping_calls": "Share of the tool calls that repeat a cycle of calls which runs at least 3 times in a row.",
}
HOLDS: Mapping[str, Holds] = {"excellent": "yes", "good": "yes", "acceptable": "unknown", "poor": "no", "failed": "no"}
MISSING = "missing"  # in place of a level: the case lacks what the dimension needs, and that scores 0
LINK = re.compile(r"https?://\S")
FAILS_BELOW = 0.5  # the score below which a level of one's own does not hold
ACCURACY = Prompt(
    "rubric.accuracy",
    "Hold each of the CLAIMS of an answer against EXPECTED, the ground truth. importance: major, if the conclusion "
    "rests on it, else minor. accuracy: excellent, it matches; good, a slip that changes nothing; acceptable, right in "
    "the main, inexact; poor, a significant error; failed, fundamentally wrong; unknown, if EXPECTED neither says nor "
    "rules it out.",
)


class RubricParameters(Parameters):
    """The rubric."""

    rubric: str = Field(
        "", description="A rubric saved in the workspace, by its id; its dimensions are kept with the run."
    )
    dimensions: Dimensions = Field(
        DIMENSIONS,
        description="The dimensions: name, weight, what the levels mean, and inputs of which a case needs one.",
    )
    levels: Levels = Field(
        dict(USUAL),
        description="The score of each level, from 0 to 1, where a dimension has none of its own: 2 to 10 labels, or "
        "some of the usual five, of which the others keep their scores.",
    )
    zero_if_missing: bool = Field(
        True,
        description="Whether dimensions that say so score 0 where a case lacks what they need, of the default ones "
        "citation_accuracy and source_quality; false: they are left out, and the others' weights scaled to 1.",
    )
    major_weight: float = Field(
        2.0, ge=1, le=100, description="Weight of a major claim in factual_accuracy; a minor one weighs 1."
    )

    @model_validator(mode="before")
    @classmethod
    def _found(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("rubric") and "dimensions" not in values:
            raise ValueError(f"a rubric saved in the workspace, not {values['rubric']!r}")
        return values

    @field_validator("levels", mode="before")
    @classmethod
    def _completed(cls, levels: Any) -> Any:
        usual = isinstance(levels, Mapping) and all(label in USUAL for label in levels)
        return {**USUAL, **levels} if usual else levels

    @field_validator("dimensions")
    @classmethod
    def _not_reserved(cls, dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        taken = [one.name for one in dimensions if one.name in ("rubric", "passed", *WASTED)]
        if taken:
            raise ValueError(f"another name than {', '.join(taken)}: a metric has it")
        return dimensions

    def levels_of(self, dimension: Dimension) -> dict[str, float]:
        """Return the score of each level of a dimension."""
        return dimension.levels or self.levels

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each dimension, beside those that every rubric has."""
        known = {metric.name: metric for metric in declared}
        usual = {one.name: one.model_copy(update={"zero_if_missing": False}) for one in DIMENSIONS}
        own = [  # what is missing is scored otherwise by earlier versions, in the same metrics
            known[one.name]
            if one.model_copy(update={"zero_if_missing": False}) == usual.get(one.name)
            else Metric(one.name, one.description, threshold=PASS_MARK)
            for one in self.dimensions
        ]
        whole, passed, *rest = (metric for metric in declared if metric.name not in usual)
        return (whole, passed, *own, *rest)


class _Accuracy(ItemReply):
    reason: str = ""
    importance: Literal["major", "minor"]
    accuracy: Literal["excellent", "good", "acceptable", "poor", "failed", "unknown"]


class _Row(NamedTuple):
    """A dimension that was rated."""

    dimension: Dimension
    level: str
    score: float
    likely: Mapping[str, Any]
    reason: str


class _Rating(NamedTuple):
    """The dimensions that were rated, why others were not, by name, and the verdicts on the claims."""

    rows: Sequence[_Row]
    unrated: Mapping[str, str]
    claims: Sequence[Verdict]


TASK = {"question": "When did the Eiffel Tower open?", "answer": "It opened in 1889 [1].", "expected_answers": ["1889"]}
FULL = TASK | {"retrieved_contexts": ["The tower opened on 31 March 1889."], "trace": '{"steps": [{"tool": "search"}]}'}
CLAIM = claims_reply("The Eiffel Tower opened in 1889.")


def _levels(*labels: str) -> ScriptedReply:
    return ScriptedReply("rubric.levels", [{"reason": "", "level": label} for label in labels])


def _accuracy(*pairs: tuple[str, str]) -> ScriptedReply:
    return ScriptedReply(
        "rubric.accuracy",
        [{"reason": "", "importance": importance, "accuracy": accuracy} for importance, accuracy in pairs],
    )


@evaluator(
    title="Agent rubric",
    tasks=("agent", "text"),
    inputs=("question", "answer"),
    synonyms=("own criterion", "custom", "criteria", "llm as a judge"),
    prompts=(LEVELS, OWN_LEVELS, ACCURACY, CLAIMS),
    metrics=(
        Metric("rubric", "Weighted mean of the dimensions.", threshold=PASS_MARK, primary=True),
        Metric("passed", "Share of cases whose rubric is at the threshold or above.", threshold=PASS_MARK, binary=True),
        Metric(FACTUAL, "How well the claims match the expected answer, major ones counting more.", minor=True),
        Metric("completeness", "How much of what was asked for is covered.", minor=True),
        Metric("citation_accuracy", "How well citations match what they are cited for.", minor=True),
        Metric("source_quality", "How primary and reliable the sources are.", minor=True),
        Metric("tool_efficiency", "How well tools were chosen, and how economically they were used.", minor=True),
        *(Metric.lower(name, description, minor=True) for name, description in WASTED.items()),
    ),
    sources=("Agent evaluation reference: rubric",),
    standards=("valid and reliable", "accountable and transparent", "LLM06 excessive agency"),
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
            "no citation and no source fail: .8 in all else is .60 of 1; left out, it would be .80",
            TASK | {"answer": "It opened in 1889.", "trace": FULL["trace"]},
            {"rubric": 0.6, "passed": 0, "citation_accuracy": 0.0, "source_quality": 0.0},
            judge=(CLAIM, _accuracy(("major", "good")), _levels("good", "good")),
        ),
        Example(
            "a major claim counts twice, an unknown one not at all; what is missing is left out where that is chosen",
            TASK | {"answer": "It opened in 1889."},
            {"factual_accuracy": 2 / 3, "completeness": 1.0, "citation_accuracy": None, "tool_efficiency": None,
             "wasted_calls": None, "rubric": 0.45 / 0.55, "passed": 1},
            parameters={"zero_if_missing": False},
            judge=(
                claims_reply("It opened in 1889.", "It opened in June.", "It is tall."),
                _accuracy(("major", "excellent"), ("minor", "failed"), ("minor", "unknown")),
                _levels("excellent"),
            ),
        ),
        Example(
            "your own rubric",
            TASK,
            {"rubric": 0.75, "passed": 0, "brevity": 1.0, "completeness": 0.5},
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
        Example(
            "a dimension with levels of its own, and one that scores 0 where the case has no citation",
            TASK | {"answer": "It opened in 1889."},
            {"rubric": 0.25, "passed": 0, "tone": 0.5, "citation_accuracy": 0.0},
            parameters={
                "dimensions": [
                    {"name": "tone", "weight": 1, "description": "Kind.",
                     "levels": {"kind": 1, "plain": 0.5, "rude": 0}},
                    {"name": "citation_accuracy", "weight": 1, "description": "Right.", "needs_any": ["citations"],
                     "zero_if_missing": True},
                ],
            },
            judge=(ScriptedReply("rubric.own_levels", [{"reason": "", "level": "plain"}]),),
        ),
    ),
    differs_from="agent_sanity checks the files an agent made, step_alignment compares its steps with expected ones; "
    "byop asks one question of your own.",
    differs_from_source="The source leaves the rating of a dimension open; here a judge does it, with prompts worded "
    "by Assay. Missing citations and sources score 0, as in the source; accuracy without an expected answer and tools "
    "without a trace, of which it says nothing, are left out and the other weights scaled to 1. A major claim weighs "
    "2, a minor one 1; the source gives no figures. The shares of wasted tool calls are counted beside the rubric and "
    "are Assay's addition.",
    version=3,
)  # fmt: skip
async def rubric(case: Case, parameters: RubricParameters, judge: Judge) -> CaseScore:
    """How good an agent's answer is by a rubric: levels in several dimensions, combined into one number.

        rubric = Σ weight · score / Σ weight,  over the dimensions that can be rated
        passed = 1 if rubric ≥ .7 (or the given `threshold`), else 0

    Factual accuracy .30, completeness .25, citation accuracy .15, source quality .10, tool efficiency .20. Levels:
    excellent 1, good .8, acceptable .6, poor .3, failed 0; where the judge tells the probabilities of the levels, a
    dimension scores Σ P(level) · score(level).

    A dimension is rated if the case has what it needs: an expected answer for factual accuracy, a trace for the tools;
    without it, it is left out and the weights of the others are scaled to 1. Citations and sources need retrieved
    contexts or citations (given, or a marker or link in the answer); without any, both are failed: 0, unasked. With
    `zero_if_missing` false they are left out, too, which raises the score of an answer that cites nothing. Factual
    accuracy is the mean level of the answer's claims compared with the expected answer, a major claim counting twice
    (`major_weight`). Claims that it neither states nor rules out are left out; if no claim remains, it is not rated.

    A rubric of your own has its own dimensions, weights, texts and levels, for all dimensions or for each; it is saved
    with the run, and each dimension is a metric with its mean. Its dimensions score 0 where a case lacks what they need
    only if they say `zero_if_missing`. With other levels than the five, factual accuracy is rated as a whole. Up to
    12,000 characters of a trace are shown to the judge. If no dimension can be rated, the case is not applicable. An
    empty answer scores 0 without asking the judge, in no dimension.

    In addition to the judge's rating of the tools, shares of the tool calls are counted in the trace: redundant (the
    same tool with the same arguments as an earlier call that did not fail), failed (the trace has an error for the
    call), looping (the second and later turns of a cycle of up to 20 calls that runs at least 3 times in a row), and
    wasted, which is any of the three. They are not part of the rubric; without a call in the trace they have no value.
    Evidence: each dimension with level, score, weight and reason, or why it was not rated; the claims; the counts of
    the calls. Source: the agent evaluation reference.
    """
    wasted, counts = _count_wasted(case.trace)
    if not (case.answer or "").strip():
        empty = "the answer is empty"
        nothing = {"rubric": 0.0, "passed": 0.0, **wasted}
        return CaseScore(nothing, reason=empty, evidence=Evidence(facts={"note": empty, "tool_calls": counts}))
    rating = await _rate(case, parameters, judge)
    evidence = Evidence(
        {"dimensions": [_verdict(row) for row in rating.rows], "claims": rating.claims},
        {"unrated": rating.unrated, "trace_cut": max(0, len(case.trace or "") - SHOWN_TRACE), "tool_calls": counts},
    )
    if not rating.rows:
        return not_applicable("no dimension of the rubric can be rated", evidence)
    scores = {row.dimension.name: row.score for row in rating.rows}
    weights = [row.dimension.weight for row in rating.rows]
    overall = exact_sum(row.dimension.weight * row.score for row in rating.rows) / exact_sum(weights)
    mark = rubric.threshold(rubric.primary, parameters)
    assert mark is not None
    known = {dimension.name: scores.get(dimension.name) for dimension in parameters.dimensions}
    values = {"rubric": overall, "passed": float(at_least(overall, mark)), **known, **wasted}
    reasons = [f"{name}: {why}" for name, why in rating.unrated.items()] + [f"tool calls: {counts}"] * (not wasted)
    return CaseScore(values, reason="; ".join(reasons) or None, evidence=evidence)


async def _rate(case: Case, parameters: RubricParameters, judge: Judge) -> _Rating:
    """Return the rating of every dimension for which the case has what it needs."""
    needed = {
        entry.name: f"the case has no {' or '.join(need.replace('_', ' ') for need in entry.needs_any)}"
        for entry in parameters.dimensions
        if entry.needs_any and not any(_has(case, need) for need in entry.needs_any)
    }
    worth = {entry.name: parameters.levels_of(entry) for entry in parameters.dimensions if entry.name not in needed}
    by_claims = bool(case.expected_answers) and worth.get(FACTUAL, {}).keys() == USUAL.keys()
    others = [one for one in parameters.dimensions if one.name in worth and not (one.name == FACTUAL and by_claims)]
    shown = {entry.shown(worth[entry.name]): tuple(worth[entry.name]) for entry in others}
    ratings = await rate_dimensions(judge, shown, _material(case))
    found = {
        entry.name: _Row(entry, reply.level, *expected_grade(reply, "level", worth[entry.name]), reply.reason)
        for entry, reply in zip(others, ratings, strict=True)
    }
    stated = await claims(judge, case.answer, case.question) if by_claims else ()
    expected = {"EXPECTED": case.expected_answers}
    checked = await each(judge, ACCURACY, _Accuracy, stated, expected, name="CLAIMS")
    found |= {
        entry.name: _Row(entry, MISSING, 0.0, {}, f"{needed[entry.name]}, which scores 0")
        for entry in parameters.dimensions
        if entry.name in needed and entry.zero_if_missing and parameters.zero_if_missing
    }
    unrated = {name: why for name, why in needed.items() if name not in found}
    if by_claims:
        facts, levels = next(one for one in parameters.dimensions if one.name == FACTUAL), worth[FACTUAL]
        score = _accuracy_score(checked, levels, parameters.major_weight)
        if score is None:
            unrated[FACTUAL] = "the expected answer says nothing about the claims" if checked else NO_CLAIMS
        else:
            nearest = min(levels, key=lambda level: abs(levels[level] - score))
            found[FACTUAL] = _Row(facts, nearest, score, {}, "the mean of the claims")
    judged = [
        Verdict(
            claim, HOLDS.get(one.accuracy, "unknown"), one.accuracy, one.reason, facts={"importance": one.importance}
        )
        for claim, one in zip(stated, checked, strict=True)
    ]
    return _Rating([found[one.name] for one in parameters.dimensions if one.name in found], unrated, judged)


def _has(case: Case, need: str) -> bool:
    """Return whether the case has what a dimension needs; citations may be markers or links in the answer."""
    if getattr(case, need) or need != "citations":
        return bool(getattr(case, need))
    found = cited_parts(case.answer or "", case.context_ids)
    return found.reading != "none" or bool(found.stray or found.listed or LINK.search(case.answer or ""))


def _material(case: Case) -> dict[str, str | Sequence[str] | None]:
    """Return what the judge is shown of a case."""
    return {
        "TASK": case.question,
        "EXPECTED": case.expected_answers or None,
        "SOURCES": _sources(case) or None,
        "CITATIONS": case.citations or None,
        "TRACE": (case.trace or "")[:SHOWN_TRACE] or None,
        "ANSWER": case.answer or "",
    }


def _verdict(row: _Row) -> Verdict:
    level, score = row.level, row.score
    holds = HOLDS.get(level) or ("yes" if score >= PASS_MARK else "no" if score < FAILS_BELOW else "unknown")
    facts = {"weight": row.dimension.weight, "score": score, **row.likely}
    return Verdict(row.dimension.name, holds, level, row.reason, facts=facts)


def _count_wasted(trace: str | None) -> tuple[dict[str, float], dict[str, int] | str]:
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


def _accuracy_score(checked: Sequence[_Accuracy], worth: Mapping[str, float], major: float) -> float | None:
    """Return the mean score of the claims' levels, major ones weighing `major`; None if no claim could be rated."""
    known = [
        (worth[claim.accuracy], major if claim.importance == "major" else 1.0)
        for claim in checked
        if claim.accuracy != "unknown"
    ]
    total = exact_sum(weight for _, weight in known)
    return exact_sum(score * weight for score, weight in known) / total if known else None


def _sources(case: Case) -> list[str]:
    """Return the retrieved contexts, each with its id in front if they have ids, by which the answer may cite them."""
    if not any(case.context_ids):
        return list(case.retrieved_contexts)
    names = passage_names(len(case.retrieved_contexts), case.context_ids)
    return [f"(id {name}) {text}" if name else text for name, text in zip(names, case.retrieved_contexts, strict=True)]
