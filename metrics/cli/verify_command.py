"""`verify`: whether runs are as they were sealed, and repairing those that are not."""

import argparse
import json
import sys
from typing import Any

from metrics.cli.options import add_allow_code, add_flags, add_parser
from metrics.cli.progress_view import follow
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.engine.evaluation import PluginFields
from metrics.store import Run, Workspace
from metrics.store.run_check import SEAL, check, damaged

DAMAGED = 2  # the exit code where a run differs from its seal, as of any other input that cannot be used


def add_command(commands: Any) -> None:
    words = "compare finished runs with their seals: every table, the suite, the outputs, images by name and size"
    command = add_parser(commands, "verify", _verify, help=words)
    command.add_argument("runs", metavar="RUN", nargs="*", help="ids of finished runs, or latest")
    command.add_argument("--all", action="store_true", help="every finished run of the workspace, and the damaged ones")
    command.add_argument("--json", action="store_true", help="as JSON, an object for each run")
    command.add_argument(
        "--repair",
        action="store_true",
        help="evaluate damaged runs once more; tables that come out as they were sealed replace the damaged ones, else "
        "the new run stays beside the damaged one",
    )
    add_flags(command, PluginFields)
    add_allow_code(command)


def _verify(options: argparse.Namespace) -> int:
    workspace = Workspace(options.workspace)
    if bool(options.runs) == options.all:
        raise InputError([InputProblem("verify", "both" if options.all else "no run", "RUN … or --all")])
    runs = [workspace.run(name, finished=True) for name in options.runs] or _all(workspace)
    found = {run.id: check(run) for run in runs}
    if options.json:
        facts = [{"run": run_id, "parts": [one._asdict() for one in parts]} for run_id, parts in found.items()]
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    elif not options.quiet:
        for run_id, parts in found.items():
            width = max(len(one.name) for one in parts)
            say(f"{run_id}  {'damaged' if damaged(parts) else 'whole'}")
            for one in parts:
                say(f"  {one.name:<{width}}  {one.verdict}")
            for one in damaged(parts):
                say(one.why, file=sys.stderr)
    bad = [run for run in runs if damaged(found[run.id])]
    if options.repair:
        bad = [run for run in bad if not _repair(run, options)]
    return DAMAGED if bad else 0


def _all(workspace: Workspace) -> list[Run]:
    """Return every run with a seal, the newest first; of one whose seal cannot be read that is what is said."""
    broken = [workspace.run(run_id) for run_id in workspace.damaged_runs() if "://" not in run_id]
    return sorted([*workspace.finished_runs(), *broken], key=lambda run: run.began, reverse=True)


def _repair(run: Run, options: argparse.Namespace) -> bool:
    """Repair a run and say what has become of it; return whether it is whole now."""
    from metrics.engine.repair import repair

    with follow(options) as listen:
        done = repair(run, listen=listen, allow_code=options.allow_code)
    if done.again is None:
        say(f"{run.id}: {', '.join(done.parts)} made again, with the bytes that were sealed")
        return True
    seal = any(one.name == SEAL for one in damaged(check(run)))
    why = "its seal cannot be read" if seal else "the tables did not come out with the bytes that were sealed"
    say(f"{run.id} stays damaged: {why}. It was evaluated again as run {done.again.id}")
    return False
