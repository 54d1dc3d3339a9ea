"""`runs`, `resume` and `cancel`: the runs of a workspace."""

import argparse
from typing import Any

from metrics import engine
from metrics.cli.execution import NO_VALUE, execute, told_no_value
from metrics.cli.options import add_parser, run_of
from metrics.core.errors import RunSealed
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    """Add `runs`, `resume` and `cancel`."""
    add_parser(commands, "runs", _runs, help="list the runs, newest first")
    add_parser(commands, "resume", _resume, of_run=True, help="continue a run that was interrupted or cancelled")
    add_parser(commands, "cancel", _cancel, of_run=True, help="stop a run; what it has computed is kept")


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
    return NO_VALUE if told_no_value(run) else 0


def _cancel(options: argparse.Namespace) -> int:
    engine.cancel(run_of(options))
    return 0
