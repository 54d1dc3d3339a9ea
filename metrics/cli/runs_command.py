"""`runs`, `resume`, `cancel`, `describe`, `delete` and `restore`: the runs of a workspace."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from metrics import engine
from metrics.cli.execution import execute, finished
from metrics.cli.options import add_allow_code, add_flags, add_parser, run_of
from metrics.cli.terminal import say
from metrics.core.errors import RunSealed
from metrics.engine.evaluation import LogFields, PlaceFields, PluginFields
from metrics.engine.schedulers import use_scheduler
from metrics.store import Run, Workspace
from metrics.store.origin import check_origin, sign_file
from metrics.store.run_spec import FILE as SPEC


def add_command(commands: Any) -> None:
    command = add_parser(commands, "runs", _runs, help="list the runs, newest first")
    command.add_argument("--tag", metavar="TAG", help="only those with this tag")
    command.add_argument("--json", action="store_true", help="as JSON, an object for each run")
    command.add_argument("--bin", action="store_true", help="those in the bin, last deleted first")
    words = "continue a run that was interrupted or cancelled"
    command = add_parser(commands, "resume", _resume, of_run=True, help=words)
    add_flags(command, PluginFields, PlaceFields, LogFields)
    add_allow_code(command)
    words = "stop a run; what it has computed is kept"
    add_parser(commands, "cancel", lambda options: engine.cancel(run_of(options)), of_run=True, help=words)
    words = "give a run a name, notes and tags, which stand beside what is sealed; print what it has"
    command = add_parser(commands, "describe", _describe, of_run=True, help=words)
    command.add_argument("--name", help="name in lists and reports; empty: suite and models")
    command.add_argument("--notes", metavar="TEXT", help="notes in place of those it has")
    command.add_argument("--tag", metavar="TAG", action="append", default=[], help="tag to add, repeatable")
    command.add_argument("--untag", metavar="TAG", action="append", default=[], help="tag to take away, repeatable")
    command = add_parser(commands, "delete", _delete, of_run=True, help="move a run to the bin")
    command.add_argument("--for-good", action="store_true", help="remove a run that is in the bin already")
    add_parser(commands, "restore", _restore, of_run=True, help="take a run out of the bin")


def _runs(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace)
    runs = workspace.bin.runs() if options.bin else workspace.runs()
    tag = options.tag
    records = [_record(run) for run in runs if tag is None or (not run.damage and tag in run.about.tags)]
    told = {} if options.bin else workspace.damaged_runs()
    broken = [_damaged(run_id, why) for run_id, why in told.items() if "://" not in run_id and tag is None]
    if options.json:
        print(json.dumps([*records, *broken], ensure_ascii=False, indent=1))
    for one in () if options.json else [*records, *broken]:
        if one["state"] == "damaged":
            say(f"{one['id']}  damaged")
        else:
            say(f"{one['id']}  {one['state']:<11}  {_with_tags(one['name'], one['tags'])}")
    for why in told.values():
        say(why, file=sys.stderr)


def _with_tags(name: str, tags: Iterable[str]) -> str:
    return " ".join([name, *(f"#{tag}" for tag in tags)])


def _damaged(run_id: str, why: str) -> dict[str, Any]:
    return {"id": run_id, "state": "damaged", "reason": why}


def _record(run: Run) -> dict[str, Any]:
    if run.damage:
        return _damaged(run.id, run.damage)
    suite = run.spec.suite.model_dump(include={"name", "task", "cases", "fingerprint"})
    return {
        "id": run.id, "state": run.state, "name": run.name, "created": run.created, "tags": list(run.about.tags),
        "suite": suite, "models": list(run.models), "evaluators": list(run.evaluators),
        "seconds": (run.manifest or {}).get("seconds"), "folder": str(run.folder),
    }  # fmt: skip


def _describe(options: argparse.Namespace) -> None:
    run = run_of(options)
    said = {name: value for name in ("name", "notes") if (value := getattr(options, name)) is not None}
    tags = [tag for tag in (*run.about.tags, *options.tag) if tag not in options.untag]
    if said or options.tag or options.untag:
        run.describe(**said, tags=tuple(tags))
    say(_with_tags(run.name, run.about.tags), *(f"  {line}" for line in run.about.notes.splitlines()))


def _delete(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace)
    if options.for_good:
        workspace.bin.empty([options.run])
    else:
        workspace.delete_run(options.run)


def _restore(options: argparse.Namespace) -> None:
    Workspace(options.workspace).bin.restore(options.run)


def _resume(options: argparse.Namespace) -> int:
    run = run_of(options)
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; a sealed run never changes")
    check_origin(run, options.allow_code)
    if options.allow_code:
        sign_file(run.home / SPEC)
    use_scheduler(run, options.scheduler)
    execute(run, options)
    say(run.id)
    return finished(run, options, 0)
