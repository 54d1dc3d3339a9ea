"""The plugins of a run: kept beside it when it is created, loaded when its owner starts it, sent to its workers.

A specification says only what identifies a plugin. How to load it, which executes code, stands in the workspace's own
folder `plugins`, where neither an imported archive nor a copied run folder can put anything; and nothing but `execute`
reads that. A workspace that comes with a folder may have it, too: only what this account has started runs.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.evaluator import Evaluator
from metrics.core.files import read_json, write_json
from metrics.core.plugin_consent import is_remembered, remember
from metrics.core.plugins import Plugin, Recipe, load_recipe
from metrics.core.registry import add_plugin, plugin
from metrics.store import Run
from metrics.store.origin import sign_file
from metrics.store.run_spec import FILE as SPEC

FOLDER = "plugins"


@dataclass(frozen=True, slots=True)
class Shipped:
    """A plugin as a work unit carries it to whatever process does the unit."""

    id: str
    recipe: Recipe
    facts: Mapping[str, str]


def specified(entry: Evaluator, workspace: Path) -> dict[str, Any]:
    """Return what the specification says about the plugin of an evaluator, if it is one, and keep how to load it."""
    found = plugin(entry.id)
    if found is None:
        return {}
    from metrics.core.plugin_declaration import declaration_of  # on use, as in the registry

    recipe = asdict(found.recipe)
    key = _key(recipe)
    remember(key, found.recipe.reference)
    write_json(_file(workspace, key), recipe)
    return {"plugin": {**found.facts, "stored": key, "declared": declaration_of(found.evaluator)}}


def load_plugins(run: Run) -> None:
    """Load the plugins of a run that is to be worked on. InputError naming each that is missing or cannot be loaded.

    One that this process has already, by --plugin or as a function, is used as it is. Where the source has changed
    since the run began, the specification says so from now on, and the evaluator's units have other names: nothing
    that the former source computed is kept.
    """
    problems: list[InputProblem] = []
    stored = run.spec.stored
    spec = {**stored, "evaluators": [dict(entry) for entry in stored["evaluators"]]}
    for entry in spec["evaluators"]:
        if "plugin" not in entry:
            continue
        try:
            found = _find_plugin(run, entry)
        except InputError as failure:
            problems += failure.problems
            continue
        if (found.source, found.evaluator.version) != (entry["plugin"]["source"], entry["version"]):
            sys.stderr.write(f"the source of {entry['id']} has changed: its scores are computed again\n")
            entry |= {"version": found.evaluator.version} | specified(found.evaluator, run.workspace.path)
    refuse(problems)
    if spec != stored:
        write_json(run.home / SPEC, spec)
        sign_file(run.home / SPEC)
        run.__dict__.pop("spec", None)


def shipped(run: Run) -> tuple[Shipped, ...]:
    """Return the plugins of a run of which `load_plugins` has loaded them."""
    ids = (entry.id for entry in run.spec.evaluators if entry.plugin is not None)
    return tuple(Shipped(id, one.recipe, one.facts) for id in ids if (one := plugin(id, discover=False)))


def receive(given: tuple[Shipped, ...]) -> None:
    """Load the plugins of a unit where this process does not have them. InputError where their source is another."""
    for one in given:
        known = plugin(one.id, discover=False)
        if known is not None and known.source == one.facts["source"]:
            continue
        loaded = load_recipe(one.recipe, dict(one.facts))
        if loaded.source != one.facts["source"]:
            expected = f"the source that the run began with, sha256 {one.facts['source'][:12]}…"
            found = f"another source of {one.recipe.reference}, sha256 {loaded.source[:12]}…"
            raise InputError([InputProblem("plugins", found, expected)])
        add_plugin(loaded, replaces=True)


def _find_plugin(run: Run, entry: Mapping[str, Any]) -> Plugin:
    """Return the plugin of a specified evaluator: of this process, else the one kept, else one found by its id."""
    id, facts = entry["id"], entry["plugin"]
    known = plugin(id, discover=False)
    if known is not None:
        return known
    recipe = read_json(_file(run.workspace.path, facts["stored"]))
    may_run = recipe is not None and is_remembered(_key(recipe))
    if not may_run:
        known = plugin(id)
        if known is None:
            package = f" of package {facts['package']} {facts['package_version']}" if facts["package"] else ""
            found = f"no plugin {facts['reference']}{package}"
            if recipe is not None:
                found = f"{facts['reference']}, with which this account has started no run"
            expected = "its package installed, or --plugin MODULE:OBJECT"
            raise InputError([InputProblem(f"evaluator {id}", found, expected)])
        return known
    loaded = load_recipe(Recipe(**recipe), facts)
    if loaded.evaluator.id != id:
        expected = f"evaluator {id}, or --plugin MODULE:OBJECT"
        raise InputError([InputProblem(facts["reference"], f"evaluator {loaded.evaluator.id}", expected)])
    add_plugin(loaded)
    return loaded


def _key(recipe: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _file(workspace: Path, key: str) -> Path:
    return workspace / FOLDER / f"{Path(key).name}.json"
