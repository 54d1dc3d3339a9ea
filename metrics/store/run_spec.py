"""The specification of a run, `spec.json`: what was asked of it, written once when the run is created."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, TypeAdapter, ValidationError, model_validator

from metrics.core.receipt import Receipt
from metrics.core.registry import note_missing
from metrics.core.schema import SCHEMA_VERSION
from metrics.core.suite import Task
from metrics.store.manifest import cache_by_file
from metrics.store.stored_facts import Amount, Count, Digest, Facts, Listed, Whole, misfits, plain_of

FILE = "spec.json"
MADE = ("schema", "id", "created", "place", "reused")  # of a specification: by whoever stores it
FINGERPRINT = re.compile(r"[0-9a-f]{64}")
LAST_PLACE = 1 << 62  # ns, in the year 2116
CASE_TIMEOUT = 300.0  # seconds that a case may take where a specification does not say


class LaterSchema(ValueError):
    """A later version of Assay wrote the specification."""


class InputFacts(Facts):
    """A suite or outputs of a run: the fingerprint, and the rows that were invalid and skipped."""

    fingerprint: Digest
    left_out: Count = 0


class EqualInputFacts(Facts):
    """The cases of a suite that ask the same as another: see core.sampling_design; grouped: they count as one unit."""

    alike: Count
    units: Count
    across: Count = 0
    grouped: bool = False


class BudgetFacts(Facts):
    """The whole suite that the cases of a run are some of: its cases and its fingerprint.

    run, evaluator, metric: the earlier run, and what of it, by which the cases were chosen; None: drawn at random.
    """

    cases: Count
    fingerprint: Digest
    run: str | None = None
    evaluator: str | None = None
    metric: str | None = None

    def in_words(self, kept: int) -> str:
        """Return how many cases of the suite there are and how they were chosen."""
        how = "drawn at random" if self.run is None else f"chosen by {self.evaluator}.{self.metric} of run {self.run}"
        return f"{kept:,} of {self.cases:,} cases, {how}"


class FilterFacts(Facts):
    """The conditions that the cases of a run meet: how many the suite has, and how many of these meet them."""

    where: Listed[str]
    cases: Count
    met: Count


class SubsetFacts(Facts):
    """What of the data a run evaluates: all of it where nothing is said; `label_map` has classes taken for others."""

    filter: FilterFacts | None = None
    budget: BudgetFacts | None = None
    label_map: dict[str, str] = Field(default_factory=dict)

    def in_words(self, kept: int) -> dict[str, str]:
        """Return what was asked, by the field of an evaluation that asked it; `kept` cases are evaluated."""
        said = {}
        if self.filter:
            said["where"] = f"{self.filter.met:,} of {self.filter.cases:,} cases: {', '.join(self.filter.where)}"
        if self.budget:
            said["budget_cases"] = self.budget.in_words(kept)
        if self.label_map:
            merged = {own: [one for one, to in self.label_map.items() if to == own] for own in self.label_map.values()}
            said["label_map"] = "; ".join(f"{', '.join(names)} taken for {own}" for own, names in merged.items())
        return said


class SuiteFacts(InputFacts, SubsetFacts):
    """The suite of a run, as far as nobody needs its tables; `equal_inputs` None: no two cases ask the same."""

    name: str
    task: Task
    cases: Count
    label_keys: Listed[str] = ()
    equal_inputs: EqualInputFacts | None = None


class OutputsFacts(InputFacts):
    """The outputs of a run; `changes` were made to the predictions before they were scored."""

    models: Listed[str]
    rows: Count = 0
    changes: Listed[dict[str, Any]] = ()


class EvaluatorFacts(Facts):
    """An evaluator of a run: its parameters, the calibrations that fitted when the run was created, its plugin."""

    id: str
    version: Count
    parameters: dict[str, Any]
    calibrated: dict[str, FiniteFloat] = Field(default_factory=dict)
    calibrations: Listed[dict[str, Any]] = ()
    plugin: dict[str, Any] | None = None


class JudgeFacts(Facts):
    """A run's judge, as far as it is read to say what was asked; metrics.judge.settings has the whole."""

    model: str
    base_url: str | None = None
    prompts: dict[str, str] = Field(default_factory=dict)
    panel: Listed["JudgeFacts"] = ()


def _check_judge(resources: dict[str, Any]) -> dict[str, Any]:
    if (judge := resources.get("judge")) and not isinstance(judge, str):  # or a model's name
        JudgeFacts.model_validate(judge)
    return resources


_read_receipt = TypeAdapter(Receipt).validate_python  # a record is a line only where types may differ from Python's


class RunSpec(Facts):
    """What was asked of a run; `stored` is the same as the file has it, from which units are named.

    `as_in`: the system of core.conventions whose thresholds and main metrics stand in place of Assay's.
    """

    schema_version: int = Field(alias="schema", ge=1)
    id: str = ""
    name: str
    created: str
    place: Annotated[int, Field(ge=0, le=LAST_PLACE)] | None = None  # see Run.place
    seed: Whole
    suite: SuiteFacts
    outputs: OutputsFacts
    evaluators: Listed[EvaluatorFacts]
    resources: Annotated[dict[str, Any], AfterValidator(_check_judge)] = Field(default_factory=dict)
    case_timeout: Amount = CASE_TIMEOUT
    save_llm_result: bool = False
    sample: str | None = None
    as_in: str | None = None
    reused: Listed[str] = ()  # the earlier runs whose scores of equal cases are taken, see engine.reuse
    receipt: Annotated[Receipt, BeforeValidator(_read_receipt)] = ()
    stored: dict[str, Any] = Field(exclude=True, repr=False)

    @model_validator(mode="after")
    def check_names(self) -> "RunSpec":
        """Refuse a model or an evaluator that is named twice: numbers are found by these names."""
        for what, names in (("models", self.outputs.models), ("evaluators", [one.id for one in self.evaluators])):
            if len({*names}) < len(names):
                raise ValueError(f"{what} twice: {', '.join(names)[:80]}")
        return self

    @property
    def judge(self) -> Any:
        """The settings of the judge as the run has them; None where it asks none."""
        return self.resources.get("judge")

    @property
    def groups_equal_inputs(self) -> bool:
        """Whether cases that ask the same are a group in intervals and tests."""
        return self.suite.equal_inputs is not None and self.suite.equal_inputs.grouped

    @property
    def request(self) -> dict[str, Any]:
        """What was asked as it is stored, without what names this run: a new run of it asks the same."""
        return {name: value for name, value in self.stored.items() if name not in MADE}

    def parameters(self, evaluator: str) -> dict[str, Any]:
        """Return what was given to an evaluator, without calibrated thresholds. Raises StopIteration as `version`."""
        return next(entry.parameters for entry in self.evaluators if entry.id == evaluator)

    def version(self, evaluator: str) -> int:
        """Return the version of one of the run's evaluators. Raises StopIteration where the run did not use it."""
        return next(entry.version for entry in self.evaluators if entry.id == evaluator)


def read_spec(folder: Path) -> RunSpec:
    """Return the specification in a folder, shared and read-only.

    Raises ValueError saying what is wrong with it (LaterSchema where only a later version can read it), OSError where
    it cannot be read.
    """
    return _read(folder / FILE)


@cache_by_file
def _read(path: Path) -> RunSpec:
    return spec_of(plain_of(path.read_text(encoding="utf-8")))


def spec_of(stored: Any) -> RunSpec:
    """Return the specification that a run's file holds. Raises ValueError and LaterSchema as `read_spec`."""
    if not isinstance(stored, dict):
        raise ValueError(f"it holds a {type(stored).__name__}")
    if isinstance(stored.get("schema"), int) and stored["schema"] > SCHEMA_VERSION:
        raise LaterSchema(f"schema {stored['schema']}; this Assay reads up to {SCHEMA_VERSION}: update it")
    try:
        spec = RunSpec.model_validate({**stored, "stored": stored})
    except ValidationError as failure:
        raise ValueError("it has " + " and ".join(misfits(failure))) from None
    for entry in spec.evaluators:
        if entry.plugin is not None:  # it may be missing here: what the run says of it is known from now on
            note_missing(entry.id, entry.version, entry.plugin.get("declared", {}))
    return spec
