"""Rubrics: the dimensions that an agent's answer is rated in; saved in a workspace, read from files, chosen by name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from metrics.core.errors import InputError, InputProblem
from metrics.core.plain_yaml import plain_yaml
from metrics.judge.custom_prompts import checked_meanings, shown_levels
from metrics.judge.saved_objects import Saved, checked, every, file_text, load

FACTUAL = "factual_accuracy"
USUAL: Mapping[str, float] = {"excellent": 1.0, "good": 0.8, "acceptable": 0.6, "poor": 0.3, "failed": 0.0}
LARGEST = 30  # dimensions of a rubric
ENDINGS = (".json", ".yaml", ".yml")
HEADING = "EVALUATION_DIMENSIONS"  # of the dimensions in a shared file
Need = Literal["question", "expected_answers", "retrieved_contexts", "citations", "trace"]


def checked_levels(levels: Mapping[str, float]) -> dict[str, float]:
    """Return the levels themselves, none or 2 to 10. Raises ValueError for a blank label or a score outside 0 … 1."""
    if levels and not 2 <= len(levels) <= 10:
        raise ValueError("2 to 10 levels, each with its score")
    for label, score in levels.items():
        if not label.strip() or len(label) > 60:
            raise ValueError("a label of 1 to 60 characters for every level")
        if not 0 <= score <= 1:
            raise ValueError(f"a score from 0 to 1 for level {label!r}, not {score:g}")
    return dict(levels)


Levels = Annotated[dict[str, float], AfterValidator(checked_levels)]


class Dimension(BaseModel):
    """One dimension of a rubric: its weight, what its levels mean, and what a case needs for it to be rated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    weight: float = Field(gt=0, le=1000)
    description: str = Field(min_length=1, max_length=4000)
    needs_any: tuple[Need, ...] = ()
    levels: Levels = Field(default_factory=dict, description="The score of each level; none: those of the rubric.")
    meanings: dict[str, str] = Field(default_factory=dict, description="What each level means.")
    zero_if_missing: bool = Field(default=False, description="Score 0 where a case has nothing of what it needs.")

    @model_validator(mode="after")
    def _meanings_of_levels(self) -> "Dimension":
        checked_meanings(self.meanings, self.levels or USUAL)
        return self

    def shown(self, levels: Mapping[str, float]) -> str:
        """Return the dimension as the judge is shown it: name, description, and its `levels` with their meanings."""
        text = f"{self.name}: {self.description}"
        usual = not self.meanings and list(levels) == list(USUAL)
        return text if usual else f"{text} Levels: {shown_levels(levels, self.meanings)}."


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
        zero_if_missing=True,
    ),
    Dimension(
        name="source_quality",
        weight=0.10,
        description="Fitting sources were used. excellent: primary and authoritative; good: mostly primary; "
        "acceptable: primary and secondary mixed; poor: mostly secondary or unreliable; failed: no "
        "credible source.",
        needs_any=("retrieved_contexts", "citations"),
        zero_if_missing=True,
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


def checked_dimensions(dimensions: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
    """Return the dimensions themselves. Raises ValueError where two share a name."""
    if len({dimension.name for dimension in dimensions}) < len(dimensions):
        raise ValueError("a name of its own for each dimension")
    return dimensions


Dimensions = Annotated[
    tuple[Dimension, ...], Field(min_length=1, max_length=LARGEST), AfterValidator(checked_dimensions)
]


class Rubric(Saved):
    """A user's own rubric as it is saved and shared."""

    FOLDER = "rubrics"

    dimensions: Dimensions

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of evaluator `rubric`; they hold the rubric whole, so that later changes alter no run."""
        dimensions = [one.model_dump(mode="json") for one in self.dimensions]
        return {"rubric": f"{self.id}, version {self.version}", "dimensions": dimensions}

    @property
    def shared(self) -> dict[str, Any]:
        """The content of its file: title and dimensions by name, without what is as usual."""
        return {
            "title": self.title,
            HEADING: {
                one.name: {
                    "weight": one.weight,
                    "description": one.description,
                    "levels": one.levels or dict(USUAL),
                    "needs_any": list(one.needs_any),
                    **one.model_dump(include={"meanings", "zero_if_missing"}, exclude_defaults=True),
                }
                for one in self.dimensions
            },
        }


USUAL_RUBRIC = Rubric(id="usual", title="Agent rubric", dimensions=DIMENSIONS)


def rubric_text(rubric: Rubric, ending: str) -> str:
    """Return the text of a rubric's file that ends in one of ENDINGS."""
    if ending == ".json":
        return json.dumps(rubric.shared, ensure_ascii=False, indent=2) + "\n"
    import yaml

    text: str = yaml.safe_dump(rubric.shared, allow_unicode=True, sort_keys=False, width=110)
    return text


def read_rubric(text: str, name: str) -> Rubric:
    """Return the rubric in the text of a file `name`, JSON or YAML; its id is the file's name.

    The file holds dimensions by name, each with weight, description and levels, alone or under EVALUATION_DIMENSIONS
    beside a title; needs_any, meanings and zero_if_missing are optional. A dimension with a usual name that does not
    say what it needs, needs what the usual one does, and scores 0 without it where that one does. Raises InputError
    with everything that is wrong.
    """
    found = _parsed(text, name)
    stem = Path(name).stem
    values = found.get(HEADING, found.get("dimensions", found))
    if not isinstance(values, Mapping) or not all(isinstance(one, Mapping) for one in values.values()):
        expected = "dimensions by name, each with weight, description and levels"
        raise InputError([InputProblem(name, f"{type(values).__name__} in place of dimensions", expected)])
    usual = {one.name: one.model_dump(include={"needs_any", "zero_if_missing"}) for one in DIMENSIONS}
    dimensions = [
        {**({} if "needs_any" in one else usual.get(key, {})), **one, "name": key} for key, one in values.items()
    ]
    title = found.get("title") if values is not found else None
    id = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in stem.lower()).strip("-")
    made = checked(Rubric, {"id": id[:64] or "rubric", "title": title or stem, "dimensions": dimensions}, name)
    # the usual levels, written out, are the usual ones
    own = (one.model_copy(update={"levels": {}}) if one.levels == USUAL else one for one in made.dimensions)
    return made.model_copy(update={"dimensions": tuple(own)})


def _parsed(text: str, name: str) -> Mapping[str, Any]:
    """Return the mapping in JSON or YAML text.

    Scalars of YAML stay text, so that a level `no` is no boolean.
    """
    expected = "JSON or YAML with the dimensions of a rubric, without aliases"
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else plain_yaml(text)
    except (ValueError, RecursionError) as failure:
        raise InputError([InputProblem(name, " ".join(str(failure).split()), expected)]) from None
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise InputError([InputProblem(name, f"a {type(found).__name__}", expected)])
    return found


def named_rubric(workspace: Path, name: str | Mapping[str, Any], files: bool) -> Rubric:
    """Return the usual rubric, a saved one by id, one in a mapping or, with `files`, in a file. Raises InputError."""
    if not isinstance(name, str):
        return read_rubric(json.dumps(name, default=str), "rubric")
    if name == USUAL_RUBRIC.id:
        return USUAL_RUBRIC
    if files and name.endswith(ENDINGS):
        return read_rubric(file_text(Path(name)), Path(name).name)
    if found := load(workspace, Rubric, name):
        return found
    known = ", ".join([USUAL_RUBRIC.id, *(one.id for one in every(workspace, Rubric))])
    expected = f"the id of a rubric saved in the workspace ({known})" + files * ", or a .json or .yaml file"
    raise InputError([InputProblem("rubric", repr(name), expected)])


def with_rubric(
    parameters: Mapping[str, Mapping[str, Any]] | None, workspace: Path, files: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the parameters with the rubric that evaluator `rubric` names in place of its name; see named_rubric."""
    found = {id: dict(values) for id, values in (parameters or {}).items()}
    own = found.get("rubric", {})
    name = own.get("rubric")
    if name and isinstance(name, str | Mapping) and "dimensions" not in own:
        found["rubric"] = {**own, **named_rubric(workspace, name, files).parameters}
    return found
