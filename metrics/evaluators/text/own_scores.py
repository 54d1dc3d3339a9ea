"""Own scores: numbers that came with the outputs, from a program of one's own or another tool."""

import math
import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, field_validator, model_validator

from metrics.core.evaluator import (
    CaseScore,
    Direction,
    Example,
    Metric,
    Parameters,
    Status,
    not_applicable,
    unreadable_value,
)
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.fields import REASON
from metrics.core.suite import Case
from metrics.text.agents.dialogue import cut

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
SHOWN_CHARACTERS = 300
WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


class OwnScore(BaseModel):
    """A column of scores and what its numbers mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: str = Field("", description="The column of the outputs; empty: the name of the score.")
    description: str = ""
    low: FiniteFloat | None = Field(0.0, description="Least value; none: open.")
    high: FiniteFloat | None = Field(1.0, description="Greatest value; none: open.")
    direction: Literal["higher", "lower", "none"] = "higher"
    threshold: FiniteFloat | None = None
    binary: bool = False
    minor: bool = False
    unit: str = ""

    @model_validator(mode="after")
    def _in_order(self) -> "OwnScore":
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low {self.low:g} below high {self.high:g}")
        return self

    def metric(self, name: str, primary: bool) -> Metric:
        """Return the metric of these numbers."""
        return Metric(
            name, self.description or f"{name}, as it was logged.",
            -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high,
            Direction(self.direction), self.threshold, self.binary, primary, self.minor, unit=self.unit,
        )  # fmt: skip


class OwnScoresParameters(Parameters):
    """Which columns of the outputs are scores."""

    scores: dict[str, OwnScore] = Field(
        {},
        description="The scores by name, the main one first: column, description, low and high (null: open), direction "
        "(higher, lower, none), threshold, binary, minor, unit. Empty: every column score.NAME of the outputs.",
    )

    @field_validator("scores")
    @classmethod
    def _named(cls, scores: dict[str, OwnScore]) -> dict[str, OwnScore]:
        wrong = [name for name in scores if not NAME.fullmatch(name)]
        if wrong:
            raise ValueError(f"names of letters, digits, _, - and . that begin with a letter, not {', '.join(wrong)}")
        return scores

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each column, the first one primary; the `declared` one where none is named."""
        if not self.scores:
            return declared
        return tuple(one.metric(name, place == 0) for place, (name, one) in enumerate(self.scores.items()))


CASE = {"answer": "Paris", "metadata": {"tone": "4", "tone.reason": "polite"}}
TONE = {"column": "tone", "low": 1, "high": 5, "threshold": 3}


@evaluator(
    tasks=("text", "agent"),
    inputs=("answer",),
    synonyms=("custom metric", "human scores", "feedback"),
    default_needs=("own_scores",),
    has_thresholds=False,
    metrics=Metric("score", "A number that came with the output."),
    sources=("OpenTelemetry GenAI conventions: an evaluation's name, score and explanation",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example("the number of a column", CASE, {"score": 4.0}, parameters={"scores": {"score": TONE}}),
        Example(
            "yes or no", {"answer": "Paris", "metadata": {"score": "yes"}}, {"score": 1.0},
            parameters={"scores": {"score": {"binary": True}}},
        ),
        Example(
            "a number outside its range is no value", CASE, {"score": None},
            parameters={"scores": {"score": TONE | {"high": 3}}}, status=Status.PARSE_FAILURE,
        ),
        Example.not_applicable("no number came with the output", {"answer": "Paris"},
                               parameters={"scores": {"score": TONE}}),
    ),
    differs_from="The other evaluators compute their numbers; this one takes those that came with the outputs.",
    differs_from_source="The numbers are taken as they are; nothing in them depends on Assay but intervals and ranks.",
)  # fmt: skip
def own_scores(case: Case, parameters: OwnScoresParameters) -> CaseScore:
    """The numbers that came with the output: scores of a program of one's own, of people or of another tool.

    Each entry of `scores` names a column of the outputs, or metadata of the cases, and says what its numbers mean:
    range, better end, threshold, whether it is yes or no. Range and direction decide colours and problems; without a
    finite range the colours compare the models with one another. true and yes count as 1, false and no as 0.

    A case without the number has no value of this score. If none of its scores can be read, or one is outside its
    range, the case is a parse failure that says why. A column NAME.reason, where there is one, is the reason shown
    beside the number.

    Without `scores` the columns score.NAME of the outputs are taken, as metrics.log and Open RAG Eval's result CSVs
    have them and any file may: one called score.EVALUATOR.METRIC means what that metric means; the range of others is 0
    to 1 where all values are, else open.
    """
    if not parameters.scores:
        return not_applicable("no column is named; name the columns of the outputs in the parameter scores")
    values: dict[str, float | None] = {}
    absent, wrong = [], []
    verdicts = []
    for place, (name, own) in enumerate(parameters.scores.items()):
        column = own.column or name
        text = case.metadata.get(column)
        metric = own.metric(name, place == 0)
        values[name] = None
        if text is None:
            absent.append(name)
            continue
        value = number_in(text)
        if value is None:
            wrong.append(f"{name} is {cut(repr(text), SHOWN_CHARACTERS)}, no number")
            continue
        if problem := unreadable_value(metric, value):
            wrong.append(problem)
            continue
        values[name] = value
        limit = metric.threshold if metric.threshold is not None else 0.5 if metric.binary else None
        holds = None if limit is None or metric.direction is Direction.NONE else metric.passes(value, limit)
        label = text if text.strip().casefold() in WORDS else f"{value:.6g}"
        verdicts.append(Verdict(metric.name, yes_or_no(holds), label, case.metadata.get(column + REASON, "")))
    evidence = Evidence({"scores": verdicts}) if verdicts else None
    if wrong:
        return CaseScore(values, Status.PARSE_FAILURE, "; ".join(wrong), evidence)
    reason = f"no {' and no '.join(absent)} came with the output" if absent else None
    return CaseScore(values, Status.OK if verdicts else Status.NOT_APPLICABLE, reason, evidence)


def number_in(text: str) -> float | None:
    """Return the number that a cell holds, true and yes as 1, false and no as 0; None where it holds none."""
    if text.strip().casefold() in WORDS:
        return WORDS[text.strip().casefold()]
    try:
        return float(text)
    except ValueError:
        return None
