"""BYOP, bring your own prompt: your own question to the judge about each case."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, create_model, field_validator, model_validator

from metrics.core.evaluator import (
    CaseScore,
    Example,
    Metric,
    Parameters,
    ScriptedReply,
    Status,
    evaluator,
    not_applicable,
)
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score, counting_unreadable
from metrics.judge.asking import Judge, Reply
from metrics.judge.custom_prompts import BLOCKS, Mode, checked_levels, checked_prompt, instructions, material

PASS_GRADE = 0.5
BOOLEAN = "Give the reason first; verdict is true where the answer to this is yes or the criterion is met, else false."
GRADED = "Give the reason first; grade is a number from 0, not met at all, to 1, met in full."
LEVELS = "Give the reason first; level is the one label that fits best."
POLITE = "Is {actual_answer} polite, given how {question} was put?"


class _Verdict(Reply):
    reason: str = ""
    verdict: bool


class _Grade(Reply):
    reason: str = ""
    grade: float = Field(ge=0, le=1)


class ByopParameters(Parameters):
    """The prompt, and what the judge may reply."""

    prompt: str = Field(
        "",
        description="Your question or criterion, with placeholders for what the judge is to see: {question}, "
        "{expected_answer}, {contexts}, {actual_answer}.",
    )
    mode: Mode = Field("boolean", description="boolean: true or false; graded: from 0 to 1, or one of the levels.")
    levels: dict[str, float] = Field(
        default_factory=dict,
        description='Labels that the judge chooses from when graded, each with its grade: {"good": 1, "fair": 0.5, '
        '"poor": 0}; none: any number from 0 to 1.',
    )
    pass_grade: float = Field(PASS_GRADE, ge=0, le=1, description="The lowest grade that passes.")

    _checked_levels = field_validator("levels")(checked_levels)

    @field_validator("prompt")
    @classmethod
    def _checked_prompt(cls, prompt: str) -> str:
        return checked_prompt(prompt) if prompt else prompt

    @model_validator(mode="after")
    def _levels_are_grades(self) -> "ByopParameters":
        if self.levels and self.mode != "graded":
            raise ValueError("mode graded where there are levels")
        return self


@evaluator(
    id="byop",
    title="Bring your own prompt",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=(
        *boolean_metrics("meet the criterion of the prompt"),
        Metric("grade", "Mean grade that the judge gave, when graded.", minor=True),
    ),
    sources=("H2O Eval Studio evaluators: BYOP; grades and levels are our own",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: conceptual soundness", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "true or false",
            {"question": "Where is it?", "answer": "Find it yourself."},
            {"passes": 0, "failures": 1, "retrieval_failures": None, "parse_failures": 0, "grade": None},
            parameters={"prompt": POLITE},
            judge=(ScriptedReply("byop", {"reason": "It is curt.", "verdict": False}, {"ACTUAL_ANSWER": "yourself"}),),
        ),
        Example(
            "a grade",
            {"question": "Where is it?", "answer": "Over there."},
            {"passes": 1, "failures": 0, "grade": 0.6},
            parameters={"prompt": POLITE, "mode": "graded"},
            judge=(ScriptedReply("byop", {"reason": "Short.", "grade": 0.6}),),
        ),
        Example(
            "labelled levels and your own pass grade",
            {"question": "Where is it?", "answer": "Over there."},
            {"passes": 0, "failures": 1, "generation_failures": 1, "grade": 0.5},
            parameters={
                "prompt": POLITE, "mode": "graded", "levels": {"kind": 1, "plain": 0.5, "rude": 0}, "pass_grade": 0.8,
            },
            judge=(ScriptedReply("byop", {"reason": "Short.", "level": "plain"}),),
        ),
        Example(
            "the judge replies with a label that is not among the levels",
            {"question": "Where is it?", "answer": "Over there."},
            {"passes": None, "parse_failures": 1, "grade": None},
            parameters={"prompt": POLITE, "mode": "graded", "levels": {"kind": 1, "rude": 0}},
            status=Status.PARSE_FAILURE,
            judge=(ScriptedReply("byop", {"reason": "Short.", "level": "plain"}),),
        ),
        Example.not_applicable(
            "the case lacks something that the prompt shows", {"answer": "Over there."}, parameters={"prompt": POLITE}
        ),
        Example.not_applicable("no prompt yet", {"answer": "Over there."}),
    ),
    differs_from="rubric weighs several dimensions, each with five levels; text_matching and json_schema check rules "
    "without a judge.",
    differs_from_source=(
        "The texts of the case stand below the prompt as marked data instead of in it, so that an answer cannot pass "
        "for a part of the prompt. Contexts are not judged by themselves, so retrieval_failures has no value where "
        "H2O has one. Grades and levels are Assay's addition; H2O has true and false only."
    ),
)  # fmt: skip
@counting_unreadable
async def byop(case: Case, parameters: ByopParameters, judge: Judge) -> CaseScore:
    """The judge's answer to your own prompt about the case: true or false, or a grade.

        boolean: passes = 1 if the judge says true, else 0
        graded:  grade = the judge's grade, from 0 to 1;  passes = 1 if grade ≥ pass_grade (.5)

    The prompt is your instruction to the judge. Each of {question}, {expected_answer}, {contexts} and {actual_answer}
    is replaced by the name of a block of data that follows, so that text written by a model stays data and cannot pass
    for a part of your prompt. Several expected answers, and the contexts, are numbered. With `levels` the judge chooses
    one of your labels, which are never translated.

    A case that lacks something the prompt shows is not applicable. A reply in the wrong form counts only in
    parse_failures. The contexts are not judged separately: retrieval_failures has no value. A prompt with an unknown
    placeholder, or with none, is refused before the run.
    Evidence: the verdict on the answer with the judge's reason.
    """
    if not parameters.prompt:
        return not_applicable("no prompt is given: write one with a placeholder such as {actual_answer}")
    data = material(parameters.prompt, case)
    missing = [f"{{{name}}}" for name, block in BLOCKS.items() if block in data and data[block] is None]
    if missing:
        return not_applicable(f"the case has nothing to show for {' and '.join(missing)} in the prompt")
    form, ending = _form(parameters.mode, tuple(parameters.levels))
    prompt = Prompt("byop", f"{instructions(parameters.prompt)}\n\n{ending}")
    reply = (await judge.ask(prompt, form, data)).model_dump()
    if parameters.mode == "boolean":
        grade, passes, label = None, reply["verdict"], "true" if reply["verdict"] else "false"
    else:
        grade = parameters.levels[reply["level"]] if parameters.levels else reply["grade"]
        passes, label = grade >= parameters.pass_grade, reply.get("level", f"grade {grade:g}")
    judged = Verdict("Answer", yes_or_no(passes), label, reply["reason"])
    facts = {"grade": grade} if parameters.levels else {}
    score = boolean_score(passes, evidence=Evidence({"answer": [judged]}, facts))
    return replace(score, values={**score.values, "grade": grade})


@lru_cache(maxsize=64)
def _form(mode: Mode, levels: tuple[str, ...]) -> tuple[type[Reply], str]:
    """Return the form of the reply, and the last sentence of the prompt, which asks for it."""
    if mode == "boolean":
        return _Verdict, BOOLEAN
    if not levels:
        return _Grade, GRADED
    fields: dict[str, Any] = {"reason": (str, ""), "level": (Literal[levels], ...)}
    return create_model("_Level", __base__=Reply, **fields), LEVELS
