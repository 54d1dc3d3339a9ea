"""Merging the shards of a run into one sealed run, the same bytes as if one machine had done it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from metrics.core.errors import InputProblem, refuse
from metrics.core.files import read_json, write_bytes, write_json
from metrics.core.source_version import source_version
from metrics.engine.execute import execute
from metrics.engine.parts import ENDING, GIVEN, Parts
from metrics.engine.plan import SHARD, own_units, plan
from metrics.engine.run_control import repeat
from metrics.judge.budget import Spend
from metrics.store import Run, Workspace
from metrics.store.origin import check_origin
from metrics.store.run_files import SPEND


def merge(folders: Sequence[Path], workspace: Workspace, allow_code: bool = False) -> Run:
    """Merge the shards in these folders (of runs, or workspaces with shards) into one run, sealed in `workspace`.

    What follows other scores is computed now. Raises InputError listing everything that does not fit: folders without
    a shard, shards of other runs or versions, unfinished and missing ones; those from elsewhere, see engine.repeat.
    """
    problems: list[InputProblem] = []
    shards: dict[int, Run] = {}
    for folder in folders:
        runs = [folder] if (folder / SHARD).exists() else [one.parent for one in sorted(folder.glob(f"runs/*/{SHARD}"))]
        there = list(map(Run, runs))
        if not there:
            problems.append(InputProblem(str(folder), "no shard", "the folder of a run made by `evaluate --shard`"))
        for run in there:
            shards.setdefault(int(read_json(run.folder / SHARD)["index"]), run)
    if shards:
        problems += _misfits(shards)
    refuse(problems)
    first = shards[min(shards)]
    check_origin(first, allow_code)
    suite = first.suite
    workspace.save_suite(suite)
    workspace.save_outputs(first.outputs, suite)
    run = repeat(first, workspace, allow_code)
    units = plan(run)
    for parts in (Parts(shard.folder) for shard in shards.values()):
        for unit in parts.stored(units):
            for ending in (GIVEN, ENDING):
                if (file := parts.file(unit.name, ending)).exists():
                    write_bytes(Parts(run.folder).file(unit.name, ending), file.read_bytes())
    spends = [shard.spend for shard in shards.values() if shard.spend is not None]
    if spends:
        total = Spend()
        for spend in map(Spend.of, spends):
            for entry in fields(Spend):
                setattr(total, entry.name, getattr(total, entry.name) + getattr(spend, entry.name))
        total.left_out = sorted(set(total.left_out))
        write_json(run.folder / SPEND, {"judges": spends[0]["judges"]} | total.as_row())
    return execute(run)


def _misfits(shards: Mapping[int, Run]) -> list[InputProblem]:
    problems = []
    ours = source_version()
    first = shards[min(shards)]
    facts = read_json(first.folder / SHARD)
    for index, run in shards.items():
        own = read_json(run.folder / SHARD)
        other = [name for name in ours if own["versions"].get(name) != ours[name]]
        where = str(run.folder)
        if other:
            found = ", ".join(f"{name} {own['versions'].get(name)}" for name in other)
            expected = ", ".join(f"{name} {ours[name]}" for name in other) + " as here: evaluate the shard again"
            problems.append(InputProblem(where, found, expected))
            continue
        if own["of"] != facts["of"] or _numbers(run) != _numbers(first):
            expected = f"a shard of the same run as {first.folder}: same suite, outputs, evaluators, parameters, seed"
            problems.append(InputProblem(where, f"shard {index}/{own['of']} of another run", expected))
            continue
        units = own_units(run, plan(run))
        left = len(units) - len(Parts(run.folder).stored(units))
        if left:
            problems.append(InputProblem(where, f"{left} of {len(units)} units not done", f"`resume {run.id}` first"))
    missing = [str(index) for index in range(1, facts["of"] + 1) if index not in shards]
    if missing:
        expected = f"shard {', '.join(missing)} as well"
        problems.append(InputProblem("shards", f"{len(shards)} of {facts['of']}", expected))
    return problems


def _numbers(run: Run) -> Any:
    return {name: value for name, value in run.spec.request.items() if name != "name"}
