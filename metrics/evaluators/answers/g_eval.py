"""G-Eval: how well the answer meets a criterion of one's own, by steps that the judge derives from it."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import fsum
from typing import Any, Literal, NamedTuple, cast

from pydantic import Field, create_model

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Data, Prompt
from metrics.core.suite import Case
from metrics.judge.asking import Judge, Reply
from metrics.judge.custom_prompts import BLOCKS, material
from metrics.judge.grading import expected_grade
from metrics.judge.steps import together

LONGEST_NAME = 40  # characters of a criterion in the name of its metric
Shown = Literal["question", "expected_answer", "contexts"]
STEPS = Prompt(
    "g_eval.steps",
    "A judge is to rate answers by CRITERION and will be shown what SHOWN lists, nothing else. Write the steps that "
    "the judge follows: three to five, in order, each one sentence that says what to read, to compare or to look for, "
    "in terms of the blocks that SHOWN names. Together they cover all of CRITERION and add nothing to it. No step "
    "about the scale or the form of the reply.",
)
RATE = (
    "Rate {answer} by this criterion, and by nothing else:\n\n{criterion}\n\nWork through these steps first:\n{steps}"
    "\n\nGive the reason, with what the steps brought up; then score, a whole number: {low} if {answer} does not meet "
    "the criterion at all, {high} if it meets it in full, the numbers between for what lies between, in equal steps."
)


class GEvalParameters(Parameters):
    """The criterion, what the judge sees of a case, and the scale."""

    criterion: str = Field(
        "", max_length=4_000, description="What a good answer is: how to tell one that meets it from one that does not."
    )
    criteria: tuple[str, ...] = Field(
        (),
        max_length=10,
        description="Several criteria in place of one: each is rated alone, and is a metric of its own.",
    )
    steps: tuple[str, ...] = Field(
        (),
        max_length=20,
        description="The steps of the evaluation, in order; none: the judge derives them from the criterion, once.",
    )
    shown: tuple[Shown, ...] = Field(
        ("question",), description="What the judge sees beside the answer: question, expected_answer, contexts."
    )
    highest: int = Field(5, ge=2, le=10, description="The highest score of the scale, which begins at 1.")
    samples: int = Field(
        1, ge=1, le=20, description="How often the judge rates each answer; the mean counts. Each is a further call."
    )

    @property
    def rated(self) -> dict[str, str]:
        """The criteria, each by the name of its metric."""
        if not self.criteria:
            return {"g_eval": self.criterion}
        names: list[str] = []
        for text in self.criteria:
            name = "_".join(re.findall(r"[a-z0-9]+", text.casefold()))[:LONGEST_NAME].strip("_") or "criterion"
            names.append(name if name not in names else f"{name}_{len(names) + 1}")
        return dict(zip(names, self.criteria, strict=True))

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each criterion."""
        if not self.criteria:
            return declared
        return tuple(
            replace(
                declared[0],
                name=name,
                description=text,
                title=textwrap.shorten(text, LONGEST_NAME, placeholder=" …"),
                primary=place == 0,
            )
            for place, (name, text) in enumerate(self.rated.items())
        )


class _Rated(NamedTuple):
    """One criterion rated: from 0 to 1, by which steps, with the verdict of each sample."""

    value: float
    steps: list[str]
    verdicts: list[Verdict]


class _Steps(Reply):
    steps: list[str]


POLITE = "Polite answers greet the customer and thank for the question."
GIVEN = {"question": "Where is my parcel?", "answer": "Hello! It left Oslo today. Thank you for asking."}
DERIVED = ScriptedReply("g_eval.steps", {"steps": ["Read ACTUAL_ANSWER.", "Look for a greeting and for thanks."]})


@evaluator(
    title="G-Eval",
    tasks=("text", "agent"),
    inputs=("answer",),
    synonyms=("own criterion", "custom", "criteria", "llm as a judge"),
    prompts=(STEPS,),
    metrics=Metric("g_eval", "How well answers meet the criterion: 0 not at all, 1 in full."),
    sources=("Liu et al. 2023, G-Eval (arXiv:2303.16634)", "DeepEval: G-Eval"),
    standards=("valid and reliable", "conceptual soundness", "outcomes analysis"),
    examples=(
        Example(
            "the judge derives the steps, then rates 4 of 5",
            GIVEN,
            {"g_eval": 0.75},
            parameters={"criterion": POLITE},
            judge=(DERIVED, ScriptedReply("g_eval", {"reason": "It greets and thanks.", "score": 4})),
        ),
        Example(
            "steps and a scale of one's own",
            GIVEN,
            {"g_eval": 1.0},
            parameters={"criterion": POLITE, "steps": ["Look for thanks."], "highest": 3},
            judge=(ScriptedReply("g_eval", {"reason": "It thanks.", "score": 3}),),
        ),
        Example(
            "two criteria, a metric each",
            GIVEN,
            {"thanks": 0.5, "is_short": 0.5},
            parameters={"criteria": ["Thanks!", "Is short."], "steps": ["Read the answer."], "highest": 3},
            judge=(ScriptedReply("g_eval", {"reason": "In part.", "score": 2}),),
        ),
        Example(
            "a score that is not on the scale",
            GIVEN,
            {"g_eval": None},
            parameters={"criterion": POLITE},
            status=Status.PARSE_FAILURE,
            judge=(DERIVED, ScriptedReply("g_eval", {"reason": "Superb.", "score": 6})),
        ),
        Example("an empty answer", GIVEN | {"answer": " "}, {"g_eval": 0.0}, parameters={"criterion": POLITE}),
        Example.not_applicable("no criterion yet", GIVEN),
        Example.not_applicable(
            "the case lacks what the judge is to see",
            GIVEN,
            parameters={"criterion": POLITE, "shown": ["expected_answer"]},
        ),
    ),
    differs_from="byop asks your own prompt as it stands, for true or false or your own levels; rubric rates several "
    "dimensions; this one has the judge plan its steps first and rate on a scale of whole numbers.",
    differs_from_source="The prompts are worded by Assay. The result is scaled to 0 … 1, as in DeepEval, from (score − "
    "1) / (highest − 1); the score itself is in the evidence. Where the judge tells no probabilities its score counts "
    "as it is; the source draws 20 samples there: `samples` does. The steps of a criterion are derived once and serve "
    "all cases and models. The texts of the case are marked data, not a part of the prompt. An empty answer scores 0 "
    "without asking the judge.",
)
async def g_eval(case: Case, parameters: GEvalParameters, judge: Judge) -> CaseScore:
    """How well the answer meets a criterion of your own, by steps that the judge derives from it.

        score  = Σ P(s) · s   over the scores s = 1 … highest, where the judge tells their probabilities; else its score
        g_eval = (score − 1) / (highest − 1),   from 0 to 1

    First the judge turns the criterion into steps; that happens once, and its reply is in the cache of the judge. Then
    it works through them for each answer and fills in a score. Weighting the scores by the probabilities of their
    tokens distinguishes answers that would all get a 4. Providers give them if the judge's setting `probabilities` is
    on; the local judge always does. With `samples` above 1 the mean of so many replies counts.

    Several `criteria` are rated one by one, each as a metric of its own, named after its words.

    A case that lacks something in `shown` is not applicable, nor is any without a criterion. A reply that is no whole
    number of the scale is a parse failure.
    Evidence: the steps, and for each sample the score, which holds from the threshold on, its probabilities and the
    judge's reason.
    """
    criteria = {name: text.strip() for name, text in parameters.rated.items()}
    if not all(criteria.values()):
        return not_applicable("no criterion is given: say what a good answer is")
    data = material("".join(f"{{{name}}}" for name in (*parameters.shown, "actual_answer")), case)
    missing = [name for name in parameters.shown if data[BLOCKS[name]] is None]
    if missing:
        return not_applicable(f"the case has no {' and no '.join(missing)} to show the judge")
    if not (case.answer or "").strip():
        return CaseScore(dict.fromkeys(criteria, 0.0), reason="the answer is empty")
    rated = await together(_rate(judge, text, data, parameters) for text in criteria.values())
    scores = [1 + one.value * (parameters.highest - 1) for one in rated]
    facts = {"steps": [step for one in rated for step in one.steps], "score": scores if len(rated) > 1 else scores[0]}
    ratings = [
        verdict if len(rated) == 1 else replace(verdict, text=criterion)
        for criterion, one in zip(criteria.values(), rated, strict=True)
        for verdict in one.verdicts
    ]
    values = dict(zip(criteria, (one.value for one in rated), strict=True))
    return CaseScore(values, evidence=Evidence({"ratings": ratings}, facts))


async def _rate(judge: Judge, criterion: str, data: Data, parameters: GEvalParameters) -> _Rated:
    """Return how well an answer meets one criterion."""
    steps = list(parameters.steps or await _derive_steps(judge, criterion, data))
    prompt = _prompt(criterion, tuple(steps), parameters.highest)
    form = _form(parameters.highest)
    replies = await together(judge.ask(prompt, form, data, repeat=draw) for draw in range(parameters.samples))
    rated = [_rating_of(reply, parameters) for reply in replies]
    return _Rated(fsum(share for share, _ in rated) / len(rated), steps, [judged for _, judged in rated])


async def _derive_steps(judge: Judge, criterion: str, data: Data) -> Sequence[str]:
    """Return the steps that the judge derives from a criterion; the same question for all cases, so asked once."""
    reply = await judge.ask(STEPS, _Steps, {"CRITERION": criterion, "SHOWN": ", ".join(data)})
    return [step.strip() for step in reply.steps if step.strip()] or ["Compare what you are shown with the criterion."]


def _rating_of(reply: Reply, parameters: GEvalParameters) -> tuple[float, Verdict]:
    """Return the rating of one reply, from 0 to 1, and its verdict."""
    score = reply.model_dump()
    grade, likely = expected_grade(reply, "score", {str(rank): float(rank) for rank in _scale(parameters.highest)})
    value = (grade - 1) / (parameters.highest - 1)
    label = f"{score['score']} of {parameters.highest}"
    return value, Verdict("Answer", g_eval.holds(value, parameters), label, score["reason"], facts=likely)


def _scale(highest: int) -> range:
    return range(1, highest + 1)


def _prompt(criterion: str, steps: tuple[str, ...], highest: int) -> Prompt:
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    text = RATE.format(answer=BLOCKS["actual_answer"], criterion=criterion, steps=listed, low=1, high=highest)
    return Prompt("g_eval", text)


@lru_cache(maxsize=16)
def _form(highest: int) -> type[Reply]:
    """Return the form of a rating on the scale."""
    fields: dict[str, Any] = {"reason": (str, ""), "score": (Literal[tuple(_scale(highest))], ...)}
    return cast(type[Reply], create_model("_Score", __base__=Reply, **fields))
