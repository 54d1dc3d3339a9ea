"""`runs`, `resume` and `cancel`: the runs of a workspace."""

import argparse
from typing import Any

from metrics import engine
from metrics.cli.execution import execute
from metrics.cli.options import common, run_argument, run_of
from metrics.core.errors import RunSealed
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    """Add `runs`, `resume` and `cancel`."""
    command = commands.add_parser("runs", parents=[common()], help="list the runs, newest first")
    command.set_defaults(command=_runs)
    command = commands.add_parser(
        "resume", parents=[run_argument(), common()], help="continue a run that was interrupted or cancelled"
    )
    command.set_defaults(command=_resume)
    command = commands.add_parser(
        "cancel", parents=[run_argument(), common()], help="stop a run; what it has computed is kept"
    )
    command.set_defaults(command=_cancel)


def _runs(options: argparse.Namespace) -> int:
    for run in Workspace(options.workspace).runs():
        print(f"{run.id}  {run.state:<11}  {len(run.models)} models  {run.name}")
    return 0


def _resume(options: argparse.Namespace) -> int:
    run = run_of(options)
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; a sealed run never changes")
    execute(run, options.quiet)
    print(run.id)
    return 0


def _cancel(options: argparse.Namespace) -> int:
    engine.cancel(run_of(options))
    return 0
