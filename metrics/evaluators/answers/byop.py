"""BYOP, bring your own prompt: your own question to the judge about each case."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import Field, create_model, field_validator, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Data, Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import boolean_metrics, boolean_score, counting_unreadable
from metrics.judge import custom_prompts
from metrics.judge.asking import Judge, Reply
from metrics.judge.grading import expected_grade

PASS_GRADE = 0.5
NO_GRADE = "true or false was asked for, not a grade"
ANSWER = custom_prompts.BLOCKS["actual_answer"]
BOOLEAN = "Give the reason first; verdict is true where the answer to this is yes or the criterion is met, else false."
GRADED = (
    "Give the reason first; grade is a number from 0 to 1: 0 not met at all, 0.25 met in a small part, 0.5 met by "
    "half, 0.75 met for the most part, 1 met in full, or between two of these."
)
LEVELS = "Give the reason first; level is the one label that fits best:"
OWN = "Does {actual_answer}, as an answer to {question}, meet every one of {criteria}?"  # of cases with criteria
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
        "{expected_answer}, {contexts}, {actual_answer}, {criteria}. Empty: whether the answer meets the case's "
        "criteria.",
    )
    mode: custom_prompts.Mode = Field(
        "boolean", description="boolean: true or false; graded: from 0 to 1, or one of the levels."
    )
    levels: dict[str, float] = Field(
        default_factory=dict,
        description='Labels that the judge chooses from when graded, each with its grade: {"good": 1, "fair": 0.5, '
        '"poor": 0}; none: any number from 0 to 1.',
    )
    meanings: dict[str, str] = Field(
        default_factory=dict,
        description='What each level means, as the judge is told: {"good": "greets and thanks"}; none: its grade.',
    )
    pass_grade: float = Field(PASS_GRADE, ge=0, le=1, description="The lowest grade that passes.")
    check_contexts: bool = Field(
        True,
        description="Ask the same about the retrieved contexts in place of {actual_answer}, to attribute failures to "
        "retrieval: one more call per case with contexts.",
    )

    _checked_levels = field_validator("levels")(custom_prompts.checked_levels)

    @field_validator("prompt")
    @classmethod
    def _checked_prompt(cls, prompt: str) -> str:
        return custom_prompts.checked_prompt(prompt) if prompt else prompt

    @model_validator(mode="after")
    def _levels_are_grades(self) -> "ByopParameters":
        custom_prompts.checked_meanings(self.meanings, self.levels)
        if self.levels and self.mode != "graded":
            raise ValueError("mode graded where there are levels")
        return self


@evaluator(
    title="Bring your own prompt",
    tasks=("text", "agent"),
    inputs=("answer",),
    synonyms=("own criterion", "custom prompt", "llm as a judge"),
    metrics=(
        *boolean_metrics("meet the criterion of the prompt"),
        Metric("grade", "Mean grade that the judge gave, when graded.", minor=True),
    ),
    sources=("H2O Eval Studio evaluators: BYOP; grades and levels are our own",),
    standards=("valid and reliable", "conceptual soundness", "outcomes analysis"),
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
                "meanings": {"kind": "it greets, thanks or wishes well", "rude": "it blames or commands"},
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
        Example(
            "the contexts fail too: retrieval caused it",
            {"question": "Where is it?", "answer": "Find it.", "retrieved_contexts": ["Lost things", "Go away."]},
            {"passes": 0, "failures": 1, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
            parameters={"prompt": POLITE},
            judge=(
                ScriptedReply("byop", {"reason": "Curt.", "verdict": False}, {"ACTUAL_ANSWER": "Find it."}),
                ScriptedReply("byop", {"reason": "Rude.", "verdict": False}, {"ACTUAL_ANSWER": "Go away."}),
            ),
        ),
        Example(
            "the contexts pass: generation caused it",
            {"question": "Where is it?", "answer": "Find it.", "retrieved_contexts": ["Kindly ask at the desk."]},
            {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1},
            parameters={"prompt": POLITE},
            judge=(
                ScriptedReply("byop", {"reason": "Curt.", "verdict": False}, {"ACTUAL_ANSWER": "Find it."}),
                ScriptedReply("byop", {"reason": "Kind.", "verdict": True}, {"ACTUAL_ANSWER": "Kindly"}),
            ),
        ),
        Example.not_applicable(
            "the case lacks something that the prompt shows", {"answer": "Over there."}, parameters={"prompt": POLITE}
        ),
        Example.not_applicable("no prompt yet", {"answer": "Over there."}),
        Example(
            "no prompt: the case's own criteria",
            {"question": "Where is it?", "answer": "Over there.", "criteria": ["Is polite.", "Names the street."]},
            {"passes": 0, "failures": 1, "retrieval_failures": None},
            judge=(ScriptedReply("byop", {"reason": "No street.", "verdict": False}, {"CRITERIA": "Names the"}),),
        ),
    ),
    version=3,
    differs_from="rubric weighs several dimensions, each with five levels; text_matching and json_schema check rules "
    "without a judge.",
    differs_from_source="The texts of the case stand below the prompt as marked data instead of in it, so that an "
    "answer cannot pass for a part of the prompt. generation_failures leaves out failures whose contexts fail too, so "
    "that a failure has one cause; H2O gives it as equal to all failures. Grades and levels are Assay's addition; H2O "
    "has true and false only. Where the judge tells the probabilities of the levels, the grade is the expected one.",
)  # fmt: skip
@counting_unreadable
async def byop(case: Case, parameters: ByopParameters, judge: Judge) -> CaseScore:
    """The judge's answer to your own prompt about the case: true or false, or a grade.

        boolean: passes = 1 if the judge says true, else 0
        graded:  grade = the judge's grade, from 0 to 1;  passes = 1 if grade ≥ pass_grade (.5)

    The prompt is your instruction to the judge. Each of {question}, {expected_answer}, {contexts}, {actual_answer} and
    {criteria} is replaced by the name of a block of data that follows, so that text written by a model stays data and
    cannot pass for a part of your prompt. Several expected answers, contexts and criteria are numbered. Without a
    prompt the judge says whether the answer meets every one of the case's criteria; the contexts are then not asked
    about, and a case without criteria is not applicable. With `levels` the judge chooses one of your labels, which are
    never translated; it is told what each means (`meanings`), else its grade. Without levels the prompt ends in what 0,
    .25, .5, .75 and 1 stand for.

    The same is asked about the retrieved contexts, numbered in place of {actual_answer} (`check_contexts`): a failure
    is attributed to retrieval if they fail too, else to generation. Without contexts, or if the prompt does not show
    the answer, retrieval_failures has no value.

    A case that lacks something the prompt shows is not applicable. A reply in the wrong form counts only in
    parse_failures. A prompt with an unknown placeholder, or with none, is refused before the run.
    Evidence: the verdict on the answer, and that on the contexts, each with the judge's reason.
    """
    if not parameters.prompt and case.criteria:
        parameters = parameters.model_copy(update={"prompt": OWN, "check_contexts": False})
    if not parameters.prompt:
        return not_applicable("no prompt is given, and the case has no criteria")
    data = custom_prompts.material(parameters.prompt, case)
    missing = [f"{{{name}}}" for name, block in custom_prompts.BLOCKS.items() if block in data and data[block] is None]
    if missing:
        return not_applicable(f"the case has nothing to show for {' and '.join(missing)} in the prompt")
    grade, judged = await _judge_text("Answer", parameters, judge, data)
    verdicts, contexts_pass = {"answer": [judged]}, None
    if parameters.check_contexts and ANSWER in data and any(text.strip() for text in case.retrieved_contexts):
        _, contexts = await _judge_text("Contexts", parameters, judge, {**data, ANSWER: case.retrieved_contexts})
        verdicts["retrieved_contexts"], contexts_pass = [contexts], contexts.holds == "yes"
    facts = {"grade": grade} if parameters.levels else {}
    score = boolean_score(judged.holds == "yes", contexts_pass, Evidence(verdicts, facts))
    reason = score.reason or (NO_GRADE if grade is None else None)
    return replace(score, values={**score.values, "grade": grade}, reason=reason)


async def _judge_text(name: str, parameters: ByopParameters, judge: Judge, data: Data) -> tuple[float | None, Verdict]:
    """Return the judge's grade, None for true or false, and its verdict on what stands in place of the answer."""
    form, ending = _form(parameters.mode, tuple(parameters.levels))
    if parameters.levels:
        ending = f"{ending} {custom_prompts.shown_levels(parameters.levels, parameters.meanings)}."
    prompt = Prompt("byop", f"{custom_prompts.instructions(parameters.prompt)}\n\n{ending}")
    said = await judge.ask(prompt, form, data)
    reply = said.model_dump()
    if parameters.mode == "boolean":
        return None, Verdict(name, yes_or_no(reply["verdict"]), str(reply["verdict"]).lower(), reply["reason"])
    grade, facts = expected_grade(said, "level", parameters.levels) if parameters.levels else (reply["grade"], {})
    label = reply.get("level", f"grade {grade:g}")
    return grade, Verdict(name, yes_or_no(grade >= parameters.pass_grade), label, reply["reason"], facts=facts)


@lru_cache(maxsize=64)
def _form(mode: custom_prompts.Mode, levels: tuple[str, ...]) -> tuple[type[Reply], str]:
    """Return the form of the reply, and the last sentence of the prompt, which asks for it."""
    if mode == "boolean":
        return _Verdict, BOOLEAN
    if not levels:
        return _Grade, GRADED
    fields: dict[str, Any] = {"reason": (str, ""), "level": (Literal[levels], ...)}
    return create_model("_Level", __base__=Reply, **fields), LEVELS
