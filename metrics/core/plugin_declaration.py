"""What a run says about the evaluators of plugins, so that it reads the same where a plugin is missing.

Data, never code: a specification may come from anybody. Its texts are shown on pages, so they are cut down to plain
words and numbers.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from metrics.core.errors import MissingResource
from metrics.core.evaluator import PLUGINS, Direction, Evaluator, Input, Metric, Parameters, Shape
from metrics.core.suite import Task

UNSAFE = re.compile(r"[^\w .,:()%/+-]")
Name = Annotated[str, StringConstraints(pattern=r"^[\w.@-]{1,80}$")]
Text = Annotated[str, StringConstraints(max_length=200)]


class _Metric(BaseModel):
    name: Name
    low: float
    high: float
    direction: Direction
    threshold: float | None
    binary: bool
    primary: bool
    minor: bool
    unit: Text
    title: Text


class _Declared(BaseModel):
    title: Text
    tasks: tuple[Task, ...]
    inputs: tuple[Input, ...]
    shape: Shape
    metrics: tuple[_Metric, ...]


class _AnyParameters(Parameters):
    """Parameters of whatever names the plugin's own has."""

    model_config = ConfigDict(extra="allow", frozen=True)


def declaration_of(entry: Evaluator) -> dict[str, Any]:
    """Return what a run's specification keeps of a plugin's declaration; see `stand_in`."""
    kept = _Metric.model_fields
    metrics = [{name: value for name, value in asdict(metric).items() if name in kept} for metric in entry.metrics]
    tasks, inputs = list(entry.tasks), list(entry.inputs)
    return {"title": entry.title, "tasks": tasks, "inputs": inputs, "shape": entry.shape, "metrics": metrics}


def evaluator_of_declaration(id: str, version: int, declaration: Mapping[str, Any]) -> Evaluator | None:
    """Return an evaluator that has a missing one's metrics, but cannot score; None where the declaration is none."""
    try:
        found = _Declared.model_validate(declaration)
    except ValidationError:
        return None
    if [metric.primary for metric in found.metrics].count(True) != 1:
        return None
    metrics = tuple(
        Metric(**metric.model_dump() | {"unit": _plain(metric.unit), "title": _plain(metric.title)}, description="")
        for metric in found.metrics
    )

    def missing(*_given: Any, **_resources: Any) -> Any:
        """The plugin of this evaluator is not installed here; what is known of it stands in the run."""
        raise MissingResource(f"the plugin of evaluator {id} is not here")

    title = _plain(found.title) or id
    return Evaluator(
        id, title, PLUGINS, found.tasks, found.inputs, metrics, missing, _AnyParameters, found.shape, version=version
    )


def _plain(text: str) -> str:
    return UNSAFE.sub("", text)
