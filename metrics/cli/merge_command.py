"""`merge`: join the shards of a run into one sealed run."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.execution import finished, save_results
from metrics.cli.options import add_allow_code, add_parser
from metrics.cli.terminal import say
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = add_parser(commands, "merge", _merge, help="join the shards made by `evaluate --shard` into one run")
    words = "folders of shards, or workspaces that have them; every shard of the run"
    add_allow_code(command)
    command.add_argument("folders", metavar="FOLDER", nargs="+", type=Path, help=words)


def _merge(options: argparse.Namespace) -> int:
    from metrics.engine.merge import merge

    run = merge(options.folders, Workspace(options.workspace), options.allow_code)
    save_results(run)
    say(run.id)
    return finished(run, options, 0)
