"""The registered evaluators: every module under metrics/evaluators that is named like the evaluator in it."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from metrics.core.did_you_mean import one_of
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Direction, Evaluator, Parameters
from metrics.core.prompt import Prompt, wording

LISTING = "python -m metrics evaluators"  # what lists them all
BYOP = "byop"  # the evaluator whose prompt is always the user's own
PACKAGE = "metrics.evaluators"  # by name: the registry finds evaluators without importing any


class Registry(Mapping[str, Evaluator]):
    """Every evaluator by id, in the order of folder and file.

    Looking one up by id imports only that one, so that a page which needs three does not wait for all. Iterating
    imports all. Raises ValueError where two evaluators or prompts share an id, or a file's name is not its evaluator's.
    """

    def __getitem__(self, id: str) -> Evaluator:
        module = _modules().get(id)
        found = None if module is None else _evaluators_in(module).get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


def evaluators() -> Mapping[str, Evaluator]:
    """Return every evaluator by id; see Registry."""
    return _REGISTRY


def evaluator_ids() -> tuple[str, ...]:
    """Return every evaluator's id in the order of folder and file, without importing any."""
    return tuple(_modules())


def title_of(id: str) -> str:
    """Return the title of an evaluator; its id where this version of Assay does not have it."""
    known = _REGISTRY.get(id)
    return known.title if known else id


_REGISTRY = Registry()


@cache
def _modules() -> Mapping[str, str]:
    """Return the modules by the last part of their names. Raises ValueError where two have the same."""
    found: dict[str, str] = {}
    package = importlib.import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, PACKAGE + "."):
        stem = module.name.rpartition(".")[2]
        if not module.ispkg and not stem.startswith("_") and found.setdefault(stem, module.name) != module.name:
            raise ValueError(f"two evaluators share the id {stem!r}: {found[stem]} and {module.name}")
    return found


@cache
def _evaluators_in(module: str) -> Mapping[str, Evaluator]:
    values = vars(importlib.import_module(module)).values()
    return {value.id: value for value in values if isinstance(value, Evaluator) and value.function.__module__ == module}


@cache
def _all() -> Mapping[str, Evaluator]:
    found: dict[str, Evaluator] = {}
    prompts: dict[str, Prompt] = {}
    for stem, module in _modules().items():
        for value in _evaluators_in(module).values():
            if value.id != stem:
                raise ValueError(f"the evaluator {value.id!r} is in {module}; its file must be named {value.id}.py")
            found[value.id] = value
            for prompt in value.prompts:
                if prompts.setdefault(prompt.id, prompt) != prompt:
                    raise ValueError(f"two prompts share the id {prompt.id!r}; one is of evaluator {value.id!r}")
    return found


def wordings(id: str, values: Mapping[str, Any], resources: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the user's own that an evaluator's numbers rest on: prompt id → shortened sha256.

    They stand in place of a prompt of ours, for the judge (of `resources`) or as a template (of the parameters
    `values`); that of byop is always the user's own. Empty where there are none.
    """
    known, judge = evaluators().get(id), resources.get("judge")
    own = {**(judge.get("prompts", {}) if isinstance(judge, Mapping) else {}), **values.get("prompts", {})}
    ours = {prompt.id: prompt.text for prompt in known.prompts} if known else {}
    found = {name: wording(text) for name, text in own.items() if name in ours and text != ours[name]}
    return {**found, id: wording(values["prompt"])} if id == BYOP and values.get("prompt") else found


def choose(
    ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, tuple[Evaluator, Parameters]]:
    """Return the named evaluators as their parameters make them, and the validated parameters, by id.

    `parameters` maps an evaluator's id to its parameter values; the others keep their defaults. Raises InputError
    listing every unknown name and bad value.
    """
    known = evaluators()
    given = dict(parameters or {})
    problems = [
        InputProblem("evaluators", repr(name), one_of(name, evaluator_ids(), LISTING))
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
            values = entry.parameters.model_validate(dict(given.get(name, {})))
            entry = entry.with_parameters(values)
            problems += [*_unknown_thresholds(entry, values), *_wrong_prompts(entry, values)]
            chosen[name] = (entry, values)
        except ValidationError as failure:
            for error in failure.errors():
                where = ".".join(str(part) for part in error["loc"])
                expected = error["msg"].removeprefix("Value error, ")
                if error["type"] == "extra_forbidden":
                    expected = one_of(str(error["loc"][-1]), entry.parameters.model_fields)
                problems.append(InputProblem("parameters", repr(error["input"]), expected, column=f"{name}.{where}"))
    if problems:
        raise InputError(problems)
    return chosen


def _unknown_thresholds(entry: Evaluator, values: Parameters) -> list[InputProblem]:
    """Return a problem for each threshold of a metric that the evaluator lacks, or that has no better end."""
    known = [metric.name for metric in entry.metrics if metric.direction is not Direction.NONE]
    none = "no threshold: neither end of its metrics is better"
    return [
        InputProblem("parameters", repr(name), one_of(name, known) if known else none, column=f"{entry.id}.thresholds")
        for name in values.thresholds
        if name not in known
    ]


def _wrong_prompts(entry: Evaluator, values: Parameters) -> Iterator[InputProblem]:
    """Yield a problem for each text of the user's own that cannot stand in place of one of the evaluator's prompts."""
    known = {prompt.id: prompt for prompt in entry.prompts}
    own: Mapping[str, str] = getattr(values, "prompts", {})
    for id, text in own.items():
        expected = known[id].complaint(text) if id in known else one_of(id, known)
        if expected:
            yield InputProblem("parameters", repr(id), expected, column=f"{entry.id}.prompts")
