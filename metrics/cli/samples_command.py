"""`samples`: the bundled samples as finished runs."""

import argparse
from typing import Any

from metrics.cli.options import common
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    """Add `samples`."""
    command = commands.add_parser(
        "samples", parents=[common()], help="evaluate the bundled samples that the workspace does not have yet"
    )
    command.set_defaults(command=_samples)


def _samples(options: argparse.Namespace) -> int:
    from metrics.suites.samples import compute_missing

    for run in compute_missing(Workspace(options.workspace)):
        print(run.id)
    return 0
