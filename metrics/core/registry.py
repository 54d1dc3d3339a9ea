"""The registered evaluators: those of Assay, which the modules under metrics/evaluators declare, and plugins.

An evaluator's id stands in its module as id="…" or as the name of the decorated function, by which it is found without
importing any; a module holds one evaluator, or a family of them.

Plugins (core.plugins) are those that this process has added, entry points of installed packages, and those that the
project file of the working folder names. A run's own are loaded by engine.run_plugins alone.
"""

import importlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metrics.core.conventions import CONVENTIONS
from metrics.core.errors import InputError, InputProblem, one_of, refuse
from metrics.core.evaluator import EMBEDDER, Direction, Evaluator, Parameters
from metrics.core.other_names import called_here
from metrics.core.plugin_consent import act_of_code, is_allowed, refuse_unasked_acts
from metrics.core.plugins import GROUP, Plugin, load_entry_point, load_reference
from metrics.core.project_file import project_file, project_plugins
from metrics.core.prompt import Prompt, wording

LISTING = "python -m metrics evaluators"  # what lists them all
BYOP = "byop"  # the evaluator whose prompt is always the user's own
PACKAGE = "metrics.evaluators"  # by name: the registry finds evaluators without importing any
ID = re.compile(r'\bid="(\w+)"')  # as a module of it names an evaluator
DECLARED = re.compile(r"^@\w*evaluator\(\n((?: .*\n)*)\).*\n(?:@.*\n)*(?:async )?def (\w+)", re.MULTILINE)


class Registry(Mapping[str, Evaluator]):
    """Every evaluator by id, in the order of folder and id, then the plugins.

    Looking one up by id imports only that one, so that a page which needs three does not wait for all. Iterating
    imports all. Raises ValueError where two evaluators or prompts share an id, or a module's text has other ids than
    its evaluators. A plugin that cannot be loaded is left out, see `refused`. An id of a plugin that is missing gives
    what the runs that were read say of it; those are not among the ids that it iterates over.
    """

    def __getitem__(self, id: str) -> Evaluator:
        module = _modules().get(id)
        if module is not None:
            found = _evaluators_in(module).get(id)
        else:
            known = plugin(id)
            found = known.evaluator if known else _stand_ins.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from _all()
        yield from plugin_ids()

    def __len__(self) -> int:
        return len(_all()) + len(plugin_ids())


def evaluators() -> Mapping[str, Evaluator]:
    """Return every evaluator by id; see Registry."""
    return _REGISTRY


def evaluator_ids() -> tuple[str, ...]:
    """Return every evaluator's id, in the order of folder and id, then the plugins'; imports none of Assay's."""
    return (*_modules(), *plugin_ids())


def title_of(id: str) -> str:
    """Return the title of an evaluator; its id where this version of Assay does not have it."""
    known = _REGISTRY.get(id)
    return known.title if known else id


def standards_of(id: str) -> tuple[str, ...]:
    """Return the standards that an evaluator is evidence for; none where this version of Assay does not have it."""
    known = _REGISTRY.get(id)
    return known.standards if known else ()


_REGISTRY = Registry()
_added: dict[str, Plugin] = {}
_stand_ins: dict[str, Evaluator] = {}  # of plugins that are missing
_refused: dict[str, str] = {}  # why a plugin is left out, by the entry point's name or the reference


def add_plugin(given: Plugin, replaces: bool = False) -> str:
    """Register an evaluator of a plugin and return its id.

    A script or a notebook may define one again; else InputError where its id is one of Assay's or of another plugin,
    unless it `replaces` that.
    """
    id, reference = given.evaluator.id, given.recipe.reference
    if id in _modules():
        if _REGISTRY[id] == given.evaluator:
            return id
        found = f"the id {id!r} of {reference}, which is an evaluator of Assay's own"
        raise InputError([InputProblem("plugins", found, "another id")])
    there = _added.get(id)
    again = there is None or replaces or there.recipe.reference == reference or bool(there.recipe.code)
    if there is not None and not again:
        found = f"the id {id!r} of {reference}, which {there.recipe.reference} has too"
        raise InputError([InputProblem("plugins", found, "another id")])
    _added[id] = given
    return id


def plugin(id: str, discover: bool = True) -> Plugin | None:
    """Return the plugin of an evaluator; None for one of Assay's or a missing one.

    Where it was not added it is looked for, unless not to `discover`, among entry points and in the project file.
    """
    if discover and id not in _added and id not in _modules():
        if id in _entry_points():
            _try_add(id, partial(load_entry_point, _entry_points()[id]))
        else:
            _load_project()
    return _added.get(id)


def is_missing(id: str) -> bool:
    """Return whether an evaluator is neither one of Assay's nor of a plugin that is here."""
    return id not in _modules() and plugin(id) is None


def plugin_ids() -> tuple[str, ...]:
    """Return the ids of all plugins; those of the project file and of entry points are loaded for it."""
    for name, point in _entry_points().items():
        if name not in _added:
            _try_add(name, partial(load_entry_point, point))
    _load_project()
    return tuple(_added)


def refused() -> tuple[str, ...]:
    """Return why plugins of entry points and of the project file are left out, a text each."""
    plugin_ids()
    return tuple(_refused.values())


def note_missing(id: str, version: int, declaration: Mapping[str, Any]) -> None:
    """Keep what a run says about a plugin's evaluator, in case the plugin is missing here."""
    if id in _modules() or id in _added:
        return
    from metrics.core.plugin_declaration import (
        evaluator_of_declaration,  # on use: its models would take their share of the start page's memory
    )

    if (found := evaluator_of_declaration(id, version, declaration)) is not None:
        _stand_ins[id] = found


def _try_add(name: str, load: Callable[[], Plugin]) -> None:
    if name in _refused:
        return
    try:
        add_plugin(load())
    except InputError as failure:
        _refused[name] = "; ".join(map(str, failure.args))


@cache
def _entry_points() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _load_project() -> None:
    file = project_file(Path.cwd())
    if file is not None:
        _load_project_file(file, file.stat().st_mtime_ns, is_allowed(file))


@cache
def _load_project_file(file: Path, written: int, allowed: bool) -> None:  # noqa: ARG001 - parts of the cache's key
    _refused.pop(str(file), None)
    try:
        references = project_plugins(file)
        refuse_unasked_acts(file, [*map(act_of_code, references)])
    except InputError as failure:
        _refused[str(file)] = "; ".join(map(str, failure.args))
        return
    for reference in references:
        _refused.pop(reference, None)
        _try_add(reference, partial(load_reference, reference, file.parent, str(file)))


@cache
def _modules() -> Mapping[str, str]:
    """Return the modules by the ids of their evaluators, in the order of folder and id.

    Raises ValueError where two have the same id.
    """
    found: dict[str, str] = {}
    for file in sorted((Path(__file__).parents[1] / "evaluators").glob("*/[!_]*.py")):
        module = f"{PACKAGE}.{file.parent.name}.{file.stem}"
        text = file.read_text(encoding="utf-8")
        unnamed = [function for declared, function in DECLARED.findall(text) if not ID.search(declared)]
        for id in (*ID.findall(text), *unnamed):
            if found.setdefault(id, module) != module:
                raise ValueError(f"two evaluators share the id {id!r}: {found[id]} and {module}")
    return dict(sorted(found.items(), key=lambda entry: (entry[1].rpartition(".")[0], entry[0])))


@cache
def _evaluators_in(module: str) -> Mapping[str, Evaluator]:
    values = vars(importlib.import_module(module)).values()
    return {value.id: value for value in values if isinstance(value, Evaluator) and value.function.__module__ == module}


@cache
def _all() -> Mapping[str, Evaluator]:
    modules = _modules()
    found: dict[str, Evaluator] = {}
    for module in dict.fromkeys(modules.values()):
        own = _evaluators_in(module)
        written = {id for id, where in modules.items() if where == module}
        if wrong := own.keys() ^ written:
            raise ValueError(f"{module} has the evaluators {', '.join(own)}, but its text has others: {wrong}")
        found |= own
    prompts: dict[str, Prompt] = {}
    for value in found.values():
        for prompt in value.prompts:
            if prompts.setdefault(prompt.id, prompt) != prompt:
                raise ValueError(f"two prompts share the id {prompt.id!r}; one is of evaluator {value.id!r}")
    return {id: found[id] for id in modules}


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


def users_of(resource: str, ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return which of these evaluators use the run's model of that kind, with the parameters that they have."""
    known = [id for id in ids if id in evaluators()]
    chosen = choose(known, {id: parameters[id] for id in known if id in parameters}).values()
    return [
        one.id for one, own in chosen if resource in own.used(one.resources) and not one.settings(own, {}).get(resource)
    ]


def made_as(
    system: str, ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]], resources: Mapping[str, Any]
) -> str:
    """Return in a sentence what a run of these evaluators has of a system; see core.conventions."""
    if (known := CONVENTIONS.get(system)) is None:
        return f"Made as in {system}, which this version of Assay does not know."
    embedder = (resources.get(EMBEDDER) or "") if users_of(EMBEDDER, ids, parameters) else None
    return known.in_words(ids, embedder)


def unchosen(option: str, given: Iterable[str], ids: Collection[str]) -> Iterator[InputProblem]:
    """Yield a problem for each evaluator that is given values, as by `option`, and is not among the chosen `ids`."""
    for name in given:
        if name not in ids:
            expected = f"values only for evaluators that are chosen: choose {name} as well"
            yield InputProblem(option, f"values for {name}", expected)


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
        InputProblem("evaluators", repr(id), _expected(id)) for id in dict.fromkeys([*ids, *given]) if id not in known
    ]
    problems += unchosen("parameters", [name for name in given if name in known], ids)
    chosen: dict[str, tuple[Evaluator, Parameters]] = {}
    for name in dict.fromkeys(ids):
        if name not in known:
            continue
        entry = known[name]
        try:
            values = entry.parameters.model_validate(dict(given.get(name, {})))
            entry = entry.with_parameters(values)
            problems += [*_unknown_metrics(entry, values), *_wrong_prompts(entry, values)]
            chosen[name] = (entry, values)
        except ValidationError as failure:
            for error in failure.errors():
                where = ".".join(map(str, (name, *error["loc"])))
                expected = error["msg"].removeprefix("Value error, ")
                if error["type"] == "extra_forbidden":
                    expected = one_of(str(error["loc"][-1]), entry.parameters.model_fields)
                problems.append(InputProblem("parameters", repr(error["input"]), expected, column=where))
    refuse(problems)
    return chosen


def _expected(name: str) -> str:
    """Return what is expected in place of an unknown evaluator, and which plugins are left out and why."""
    there, broken = called_here(name) or one_of(name, evaluator_ids(), LISTING), " ".join(_refused.values())
    return there + (f". Plugins that are left out: {broken}" if broken else "")


def _unknown_metrics(entry: Evaluator, values: Parameters) -> list[InputProblem]:
    """Return a problem for each metric with a threshold, or named the main one, that the evaluator lacks, or that has
    no better end.
    """
    known = [metric.name for metric in entry.metrics if metric.direction is not Direction.NONE]
    none = "no threshold: neither end of its metrics is better"
    named = [*((id, "thresholds") for id in values.thresholds), *([(values.primary, "primary")] * bool(values.primary))]
    return [
        InputProblem("parameters", repr(name), one_of(name, known) if known else none, column=f"{entry.id}.{field}")
        for name, field in named
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
