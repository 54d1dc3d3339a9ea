"""The models with local weights: which there are to choose, and why an evaluator cannot have what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def model_kinds() -> dict[str, str]:
    """Return the kinds of local model by name, each with its setting where none is chosen ("" for none)."""
    from metrics.models import SOURCES

    return {name: source.default for name, source in SOURCES.items()}


def uses_judge(evaluator: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether the evaluator asks a judge with these parameters."""
    from metrics.core.errors import InputError
    from metrics.core.registry import choose

    try:
        [(entry, values)] = choose([evaluator], {evaluator: parameters}).values()
    except InputError:  # the form says so itself
        return False
    return "judge" in values.used(entry.resources)


def unavailable(evaluator: str, parameters: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """Return why the evaluator would be skipped with these parameters and models, and how to get what it lacks; "" if
    not.
    """
    from metrics.core.errors import InputError
    from metrics.core.registry import choose
    from metrics.engine.load_resources import missing_resources

    try:
        [(entry, values)] = choose([evaluator], {evaluator: parameters}).values()
    except InputError:  # the form says so itself
        return ""
    return missing_resources(entry, values, models) or ""
