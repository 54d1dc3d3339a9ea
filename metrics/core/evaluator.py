"""What an evaluator is: its declaration, its parameters, and what it returns. The decorator that makes one of a
function is metrics.core.evaluator_decorator.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from inspect import cleandoc
from typing import Any, ClassVar, Literal, get_args

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from metrics.core.array_types import Bools, Floats
from metrics.core.evidence import Evidence, Holds, yes_or_no
from metrics.core.fields import words_of
from metrics.core.prompt import Prompt
from metrics.core.rounding import NEAR, at_least, at_most, verdict
from metrics.core.suite import Case, Task

Resource = Literal["judge", "embedder", "token_encoder", "classifier", "language_model"]
PLUGINS = "plugins"  # the family of evaluators from outside
JUDGE = "judge"  # the resource that is no local model
EMBEDDER = "embedder"
LOCAL_MODELS = (EMBEDDER, "token_encoder", "classifier", "language_model")  # the resources with weights of their own
Columns = Mapping[str, str | float | int | None]  # of an aggregate, beside its metric and label
Shape = Literal["case", "batch", "dataset"]
Stand = Literal["first", "usual", "last", "aside"]  # where an evaluator's columns stand, in this order
STANDS: tuple[Stand, ...] = get_args(Stand)
Input = str  # a column of FIELDS or a table of TABLES (metrics.core.fields); evaluator_decorator refuses any other


class Status(StrEnum):
    """The outcome of one metric on one case; only OK has a value."""

    OK = "ok"
    NOT_APPLICABLE = "not_applicable"
    PARSE_FAILURE = "parse_failure"
    ERROR = "error"
    SKIPPED = "skipped"


# of a case that the metric applies to and that has no value all the same; NOT_APPLICABLE is the evaluator's definition
MISSING = (Status.PARSE_FAILURE, Status.ERROR, Status.SKIPPED)
MAX_MISSING = 0.02  # share of the cases from which a mean over the others is not taken for the mean over all
GAVE_NOTHING = (
    "the model "  # how the reason begins where a model gave nothing that could be scored: such cases are missing
)
OUTPUT_FAILURE = "output_failure"  # the fact of a failed case that says what is wrong with its output
NO_OUTPUT = GAVE_NOTHING + "has no output for this case"


class Direction(StrEnum):
    """Which end of a metric's range is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Metric:
    """One number that an evaluator computes.

    `low` and `high` bound it (infinite where open); a model on the wrong side of `threshold` has a problem, None means
    no default, as for every metric of an evaluator that uses local weights (see core.calibration); `binary`: a case's
    value is 0 or 1, so the mean is a share; `primary` marks the main one of several; `minor` ones start hidden on the
    leaderboard; `twin_of` lists metrics (evaluator.metric) that, with matching parameters, are the same number under
    another name: side by side they count once; `title` is its name for people where the code in words is a poor one;
    `quantile`: which quantile of the cases' values it is, .5 the median, 0 for none.
    """

    name: str
    description: str
    low: float = 0.0
    high: float = 1.0
    direction: Direction = Direction.HIGHER
    threshold: float | None = 0.75
    binary: bool = False
    primary: bool = False
    minor: bool = False
    unit: str = ""
    twin_of: tuple[str, ...] = ()
    title: str = ""
    quantile: float = 0.0

    @classmethod
    def lower(cls, name: str, description: str, *, threshold: float | None = 0.25, **more: Any) -> "Metric":
        """Return a metric of which less is better."""
        return cls(name, description, direction=Direction.LOWER, threshold=threshold, **more)

    @classmethod
    def neutral(cls, name: str, description: str, **more: Any) -> "Metric":
        """Return a metric of which neither more nor less is better; it has no threshold."""
        return cls(name, description, direction=Direction.NONE, threshold=None, **more)

    @classmethod
    def amount(cls, name: str, description: str, **more: Any) -> "Metric":
        """Return a metric from 0 up, without end, of which less is better; it has no threshold."""
        return cls.lower(name, description, threshold=None, high=math.inf, **more)

    @classmethod
    def detail(cls, name: str, description: str, **more: Any) -> "Metric":
        """Return a minor metric without a threshold."""
        return cls(name, description, threshold=None, minor=True, **more)

    def goodness(self, value: float) -> float | None:
        """Return `value` scaled to 0 (worst) … 1 (best); None without a finite range or a direction."""
        if self.direction is Direction.NONE or not math.isfinite(self.high - self.low):
            return None
        share = (value - self.low) / (self.high - self.low)
        share = min(1.0, max(0.0, share))
        return share if self.direction is Direction.HIGHER else 1.0 - share

    @property
    def failing(self) -> float | None:
        """The value of a case whose output cannot be scored: 0, or the worst there is; None where that is infinite, and
        without a better end.
        """
        if self.direction is Direction.HIGHER:
            return max(self.low, 0.0)
        return self.high if self.direction is Direction.LOWER and math.isfinite(self.high) else None

    @property
    def ends(self) -> tuple[float, float]:
        """The worst and the best end of the range, infinite where it is open; without a better end the low and high."""
        return (self.high, self.low) if self.direction is Direction.LOWER else (self.low, self.high)

    def unreadable(self, values: Floats) -> Bools:
        """Return which values [n] cannot be the metric's: NaN, or outside its range by more than rounding."""
        return ~((values >= self.low - NEAR) & (values <= self.high + NEAR))

    def passes(self, value: float, threshold: float) -> bool:
        """Return whether `value` is on the good side of `threshold`, or on it but for rounding."""
        return (at_most if self.direction is Direction.LOWER else at_least)(value, threshold)

    def verdict(self, value: float | None) -> bool | None:
        """Return whether `value` passes the metric's own threshold; None where nothing says."""
        return verdict(value, self.threshold, self.direction)


class Parameters(BaseModel):
    """Base of every evaluator's parameters, which make the form on the page, the command's flags and the saved spec."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True, coerce_numbers_to_str=True)

    threshold: float | None = Field(
        None, description="Value of the primary metric on whose wrong side a model has a problem; empty: the default."
    )
    thresholds: dict[str, FiniteFloat] = Field(
        default_factory=dict, description="The same for the metrics of these names; each is then shown by default."
    )
    primary: str = Field(
        "", description="The main metric, if not the evaluator's own; that one is then minor.", exclude_if=operator.not_
    )

    retired: ClassVar[Mapping[str, str]] = {}  # parameters of earlier versions: read and ignored, and why

    @model_validator(mode="before")
    @classmethod
    def _drop_retired(cls, values: Any) -> Any:
        return {name: values[name] for name in values if name not in cls.retired} if cls.retired else values

    def is_primary(self, metric: Metric) -> bool:
        """Return whether a metric is the main one with these parameters."""
        return metric.name == self.primary if self.primary else metric.primary

    def measured(self, declared: "tuple[Metric, ...]") -> "tuple[Metric, ...]":
        """Return the metrics that the evaluator then computes; the `declared` ones unless overridden."""
        return declared

    def followed(self) -> tuple[str, ...]:
        """Return the evaluators of the run whose stored scores the evaluator reads; none unless overridden."""
        return ()

    def following(self, others: "Sequence[Evaluator]") -> "Parameters":
        """Return the parameters for a run with these other evaluators; ValueError where it cannot be with them."""
        del others
        return self

    def reads_as_written(self) -> bool:
        """Return whether the evaluator takes texts as they were written; unless overridden in composed characters."""
        return False

    def reads_beside_content(self) -> tuple[str, ...]:
        """Return what a score depends on beside what is asked and answered: `tags`, `position`; unless overridden none.

        A case that was scored before and has changed in nothing else keeps its score.
        """
        return ()

    def used(self, declared: "tuple[Resource, ...]") -> "tuple[Resource, ...]":
        """Return the evaluator's `declared` resources that these parameters need; all of them unless overridden."""
        return declared


@dataclass(frozen=True, slots=True)
class CaseScore:
    """An evaluator's result for one case: a value per metric or the reason for none, and the evidence.

    A metric with a value is `ok`; one that is None takes `status` (`not_applicable` where `status` is OK) and `reason`.
    `by_output`: whether the model's own output is why there is no value, see `Evaluator.settle`.
    TypeError where the evidence is anything but an Evidence: plain records would be shown without their verdicts.
    """

    values: Mapping[str, float | None]
    status: Status = Status.OK
    reason: str | None = None
    evidence: Evidence | None = None
    by_output: bool = False

    def __post_init__(self) -> None:
        """Refuse evidence that no page could read."""
        if self.evidence is not None and not isinstance(self.evidence, Evidence):
            raise TypeError(
                f"evidence is a metrics.core.evidence.Evidence, not {type(self.evidence).__name__}: "
                "a Verdict for each item judged, and facts"
            )


def no_output() -> CaseScore:
    """Return a score without value, because the model has no output for this case."""
    return CaseScore({}, Status.SKIPPED, NO_OUTPUT)


def output_failure(reason: str, evidence: Evidence | None = None) -> CaseScore:
    """Return the score of a case whose output is at fault that nothing can be measured: it cannot be read, or is blank.

    The case counts as failed (see `Evaluator.settle`), so that no model gains by an output that cannot be scored.
    """
    return CaseScore({}, Status.SKIPPED, reason, evidence, by_output=True)


def not_applicable(reason: str, evidence: Evidence | None = None) -> CaseScore:
    """Return a score without value, because the metric does not apply to this case."""
    return CaseScore({}, Status.NOT_APPLICABLE, reason, evidence)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number about a whole data set. `label` None: over all labels; `columns` are the metric's own (iou, …).

    `value` None needs a `reason`; `low` and `high` are the 95 % interval, None where there is none (a `reason` may say
    why); `n` counts what the value rests on (cases, or objects of the label), `unscored` what could not be scored;
    `interval` names the method.
    `replicates` [B] is the value in each bootstrap resample; the cases in a resample must follow from the suite and the
    seed alone, so that two models pair. A run stores those over all labels; a comparison computes those of labels.
    """

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    unscored: int = 0
    label: str | None = None
    reason: str | None = None
    columns: Columns = field(default_factory=dict)
    interval: str | None = None
    replicates: Floats | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Findings:
    """A data-set evaluator's result for one model.

    `cases`: a score per case where that is meaningful, keyed by case_id; `curves`: a table of the evaluator's own
    columns; `matches`: schema MATCHES, then own columns, one row per prediction and per unmatched ground truth.
    """

    aggregates: Sequence[Aggregate]
    cases: Mapping[str, CaseScore] = field(default_factory=dict)
    curves: pa.Table | None = None
    matches: pa.Table | None = None


MATCHES = pa.schema(
    [
        ("case_id", pa.string()),
        ("label", pa.string()),  # of the prediction; of the ground truth where it was missed
        ("kind", pa.string()),  # tp · fp_hallucination · fp_misclassification · fn · ignored …
        ("prediction_id", pa.int64()),
        ("annotation_id", pa.int64()),  # the matched ground truth, or the overlapping one of a misclassification
        ("score", pa.float64()),
        ("iou", pa.float64()),
        ("iou_threshold", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """A judge's reply in a worked example, to the prompt of that id.

    `reply` is the reply to one question, or a list of replies to numbered items, in their order and without ids.
    `about` selects among questions of one prompt: text that the data of that name must contain.
    """

    prompt: str
    reply: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example that the shared test runs: the input, and the values that must come out.

    `given` holds the fields of a Case, or for a data-set evaluator `task`, `cases`, `annotations`, `outputs`,
    `predictions` as lists of records. `expect` maps a metric to its value, None for no value, for a data-set evaluator
    over all labels; `rows` lists the columns that must match and the value. `judge`: its replies; the first that fits.
    """

    name: str
    given: Mapping[str, Any]
    expect: Mapping[str, float | None] = field(default_factory=dict)
    rows: Sequence[Mapping[str, Any]] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    status: Status = Status.OK
    tolerance: float = 1e-6
    judge: Sequence[ScriptedReply] = ()

    @classmethod
    def not_applicable(cls, name: str, given: Mapping[str, Any], **others: Any) -> "Example":
        """Return the example of a case that gets no value because the evaluator does not apply to it."""
        return cls(name, given, status=Status.NOT_APPLICABLE, **others)

    @property
    def expected(self) -> list[Mapping[str, Any]]:
        """The values that must come out, a row each; those of all labels first."""
        return [{"metric": name, "label": None, "value": value} for name, value in self.expect.items()] + [*self.rows]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A registered evaluator: its declaration and the function. Calling it calls the function.

    `metrics` are those of the default parameters; see `with_parameters`. `stand`: where its columns stand in every list
    of metrics: `first` what people choose a model by, whose main metric decides before all others; `last` such as
    calibration; `aside` diagnostics, which start hidden beside others and choose no model.
    """

    id: str
    title: str
    family: str
    tasks: tuple[Task, ...]
    inputs: tuple[Input, ...]
    metrics: tuple[Metric, ...]
    function: Callable[..., Any]
    parameters: type[Parameters]
    shape: Shape
    resources: tuple[Resource, ...] = ()
    sources: tuple[str, ...] = ()
    standards: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    differs_from: str = ""
    differs_from_source: str = ""
    default_needs: tuple[str, ...] = ()
    version: int = 1
    repeats: bool = False
    prompts: tuple[Prompt, ...] = ()
    follows: bool = False
    instead: Mapping[Input, str] = field(default_factory=dict)
    stand: Stand = "usual"
    synonyms: tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's own result."""
        return self.function(*args, **kwargs)

    @property
    def doc(self) -> str:
        """The function's docstring, dedented: definition first, then formula, edge cases, source."""
        return cleandoc(self.function.__doc__ or "")

    @property
    def summary(self) -> str:
        """The first line of the docstring: the definition."""
        return self.doc.partition("\n")[0]

    @property
    def needs(self) -> tuple[Resource, ...]:
        """The resources that it needs with its default parameters."""
        return self.parameters.model_validate({}).used(self.resources)

    @property
    def weighs_cases(self) -> bool:
        """Whether cases weigh in its numbers: all but those of detection alone, whose benchmarks know no weights."""
        return self.tasks != ("detection",)

    def local_models(self, parameters: Parameters) -> list[str]:
        """Return the resources with local weights that it uses with these parameters, by which it is calibrated."""
        return [name for name in parameters.used(self.resources) if name in LOCAL_MODELS]

    def settings(self, parameters: Parameters, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of its models and judge: a parameter named like a resource overrides the given one."""
        own = {name: getattr(parameters, name, None) for name in self.resources}
        return {**given, **{name: value for name, value in own.items() if value}}

    @property
    def place(self) -> int:
        """The sort key of its columns in every list of metrics; equal ones stay in the order chosen."""
        return STANDS.index(self.stand)

    @property
    def primary(self) -> Metric:
        """The evaluator's main metric."""
        return next(metric for metric in self.metrics if metric.primary)

    def metric(self, name: str) -> Metric:
        """Return the metric of that name. Raises KeyError where there is none."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(f"{self.id} has no metric {name!r}; it has {[metric.name for metric in self.metrics]}")

    def accepted(self, name: Input) -> tuple[str, ...]:
        """Return the fields of which an input needs one: its own, and that which may stand in its place, if any."""
        return (name, self.instead[name]) if name in self.instead else (name,)

    def in_words(self, name: Input) -> str:
        """Return an input in words that name every accepted field: `expected answers or reference contexts`."""
        return " or ".join(map(words_of, self.accepted(name)))

    @property
    def input_words(self) -> tuple[str, ...]:
        """The declared inputs in words."""
        return tuple(map(self.in_words, self.inputs))

    def lacking(self, has: Callable[[str], bool]) -> list[Input]:
        """Return the declared inputs of which no accepted field is there; `has` tells whether one is."""
        return [name for name in self.inputs if not any(map(has, self.accepted(name)))]

    def missing_inputs(self, case: Case) -> list[Input]:
        """Return the declared inputs that `case` does not have."""
        return self.lacking(case.has)

    def with_parameters(self, parameters: Parameters) -> "Evaluator":
        """Return the evaluator as these parameters make it: its metrics, each with the threshold in force.

        A minor metric that is given a threshold is shown, and has problems, like any other. A main metric that another
        takes the place of is minor.
        """
        metrics = (
            replace(
                metric,
                threshold=self.threshold(metric, parameters),
                primary=(main := parameters.is_primary(metric)),
                minor=(metric.minor if main == metric.primary else metric.primary)
                and metric.name not in parameters.thresholds,
            )
            for metric in parameters.measured(self.metrics)
        )
        return replace(self, metrics=tuple(metrics))

    def threshold(self, metric: Metric, parameters: Parameters) -> float | None:
        """Return the threshold in force: the one given by name, for the primary metric the parameter, else the metric's
        default if finite and if nothing rests on local weights with these parameters.
        """
        own = parameters.threshold if parameters.is_primary(metric) else None
        given = parameters.thresholds.get(metric.name, own)
        if given is not None:
            return given
        if self.local_models(parameters):
            return None
        return metric.threshold if math.isfinite(metric.threshold or 0.0) else None

    def settle(self, score: CaseScore) -> CaseScore:
        """Return a score with the failing value of every metric that the output itself left without one; the evidence
        says why. A metric without such a value stays without, and the case counts among those that miss a score.
        """
        if not score.by_output:
            return score
        failing = {metric.name: metric.failing for metric in self.metrics}
        failing |= {name: value for name, value in score.values.items() if value is not None}
        own = score.evidence or Evidence()
        evidence = replace(own, facts={**own.facts, OUTPUT_FAILURE: score.reason})
        status = score.status if None in failing.values() else Status.OK
        return replace(score, values=failing, status=status, evidence=evidence, by_output=False)

    def holds(self, value: float, parameters: Parameters) -> Holds:
        """Return whether `value` passes the threshold in force of the primary metric; "unknown" without a threshold."""
        threshold = self.threshold(self.primary, parameters)
        return yes_or_no(None if threshold is None else self.primary.passes(value, threshold))


def unreadable_value(metric: Metric, value: float) -> str | None:
    """Return why `value` cannot be a value of `metric`; None where it can."""
    if math.isnan(value):
        return f"{metric.name} came out as NaN"
    if not metric.low - NEAR <= value <= metric.high + NEAR:
        return f"{metric.name} came out as {value:g}, outside its range {metric.low:g} … {metric.high:g}"
    return None
