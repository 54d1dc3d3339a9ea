"""The evaluators there are: every module under metrics/evaluators is imported and its Evaluator objects collected."""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

import metrics.evaluators as package
from metrics.errors import InputError, InputProblem
from metrics.evaluator import Evaluator, Parameters


@cache
def evaluators() -> Mapping[str, Evaluator]:
    """Every evaluator by id, in the order of folder and file; ValueError where two share an id."""
    found: dict[str, Evaluator] = {}
    for module_info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module_info.ispkg:
            continue
        module = importlib.import_module(module_info.name)
        for value in vars(module).values():
            if not isinstance(value, Evaluator) or value.function.__module__ != module_info.name:
                continue
            if value.id in found:
                raise ValueError(f"two evaluators share the id {value.id!r}")
            found[value.id] = value
    return MappingProxyType(found)


def choose(
    ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, tuple[Evaluator, Parameters]]:
    """The named evaluators with validated parameters; InputError listing every unknown name and bad value at once.

    `parameters` maps an evaluator's id to its parameter values; what it leaves out keeps its default.
    """
    known = evaluators()
    given = dict(parameters or {})
    problems = [
        InputProblem("evaluators", repr(name), "one of " + ", ".join(known))
        for name in dict.fromkeys([*ids, *given])
        if name not in known
    ]
    problems += [
        InputProblem("parameters", f"values for {name}", "values only for evaluators that are chosen")
        for name in given
        if name in known and name not in ids
    ]
    chosen: dict[str, tuple[Evaluator, Parameters]] = {}
    for name in dict.fromkeys(ids):
        if name not in known:
            continue
        entry = known[name]
        try:
            chosen[name] = (entry, entry.parameters.model_validate(dict(given.get(name, {}))))
        except ValidationError as failure:
            for error in failure.errors():
                where = ".".join(str(part) for part in error["loc"])
                expected = error["msg"]
                if error["type"] == "extra_forbidden":
                    expected = "one of " + ", ".join(entry.parameters.model_fields)
                problems.append(InputProblem("parameters", repr(error["input"]), expected, column=f"{name}.{where}"))
    if problems:
        raise InputError(problems)
    return chosen
