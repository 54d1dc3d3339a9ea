"""The evaluators' parameters and what they need: local models, a judge; and why one cannot run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from metrics.core.errors import InputError
from metrics.core.presets import OF_SYSTEMS, PRESETS, TOGETHER, Preset, computable, suitable, unasked
from metrics.core.registry import choose, evaluators
from metrics.core.sandbox.process import why_unavailable
from metrics.models import SOURCES

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator, Metric, Parameters


@st.cache_resource(show_spinner=False)
def parameter_schema(evaluator: str) -> Mapping[str, Any]:
    """Return the JSON schema of an evaluator's parameters, the main one of several metrics last. Read-only."""
    entry = evaluators()[evaluator]
    schema = entry.parameters.model_json_schema()
    main = schema["properties"].pop("primary")
    names = [one.name for one in entry.metrics if one.direction.value != "none"]
    if len(names) > 1:
        schema["properties"]["primary"] = main | {"anyOf": [{"enum": names}, {"type": "null"}], "default": None}
    return schema


def metrics_of(evaluator: str, parameters: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return the metrics that an evaluator computes with these parameters; with its defaults if they are invalid."""
    found = _chosen(evaluator, parameters)
    return evaluators()[evaluator].metrics if found is None else found[0].metrics


def model_kinds() -> dict[str, str]:
    """Return the kinds of local model by name, each with its default ("" for none)."""
    return {name: source.default for name, source in SOURCES.items()}


class SuggestedModel(NamedTuple):
    """A model that evaluators suggest: its size, why it is not here ("": it is), and the titles of whom it serves."""

    title: str
    kind: str
    size: str
    missing: str
    serves: tuple[str, ...]


def known_models() -> tuple[list[SuggestedModel], str]:
    """Return the models that evaluators suggest, and the command that gets one of them by its NAME."""
    from metrics.library.known_models import GET, KNOWN

    return [
        SuggestedModel(each.title, each.kind, each.size, each.missing, tuple(entry.title for entry in each.serves))
        for each in KNOWN
    ], GET


def uses_judge(evaluator: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether the evaluator asks a judge with these parameters."""
    found = _chosen(evaluator, parameters)
    return found is not None and "judge" in found[1].used(found[0].resources)


def unavailable(evaluator: str, parameters: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """Return why the evaluator would be skipped with these parameters and models, and how to get what it needs."""
    from metrics.engine.load_resources import missing_resources

    found = _chosen(evaluator, parameters)
    return missing_resources(*found, models) or "" if found else ""


def inference_hint(chosen: Sequence[str], models: Mapping[str, Any]) -> str | None:
    """Return what to prefer to groundedness with a model that is at hand; None where there is nothing to say."""
    from metrics.engine.estimate import inference_hint

    return inference_hint(chosen, models)


def _chosen(evaluator: str, parameters: Mapping[str, Any]) -> tuple[Evaluator, Parameters] | None:
    """Return the evaluator with its parameters; None if these are invalid, which the form says itself."""
    try:
        return choose([evaluator], {evaluator: parameters})[evaluator]
    except InputError:
        return None


def sandbox_lacks() -> str:
    """Return why this machine cannot run what models write, and what to install; "" where it can."""
    return why_unavailable()


def presets(task: str, present: Collection[str], asked: Sequence[str] = ()) -> list[Preset]:
    """Return the presets for a task and what the data has; those of other systems where they are `asked` for."""
    systems = (OF_SYSTEMS[id] for id in held_by(asked) if id in OF_SYSTEMS)
    return [*suitable(task, present), *(preset for preset in systems if preset.suits(task, present))]


def presets_unasked(task: str, present: Collection[str], unavailable: Callable[[str], str]) -> dict[str, list[str]]:
    """Return the presets that are chosen without being asked for, as command and Python choose them.

    Each has the evaluators that can be computed at once.
    """
    chosen = unasked(task, present, unavailable)
    return {preset.id: computable(preset, task, present, unavailable) for preset in chosen}


def held_by(names: Sequence[str]) -> list[str]:
    """Return the ids of the presets that an address names as the command does, none of an unknown name."""
    every = [id for name in ",".join(names).split(",") for id in TOGETHER.get(name, (name,))]
    return [id for id in dict.fromkeys(every) if id in PRESETS or id in OF_SYSTEMS]
