"""`samples`: the bundled samples as finished runs."""

import argparse
from typing import Any

from metrics.cli.options import add_parser
from metrics.cli.terminal import say
from metrics.core.errors import InputProblem, one_of, refuse
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    words = "evaluate the bundled samples that the workspace does not have yet"
    command = add_parser(commands, "samples", _samples, help=words)
    command.add_argument("names", metavar="NAME", nargs="*", help="of these samples only, such as rag")


def _samples(options: argparse.Namespace) -> None:
    from metrics.suites.samples import compute_missing, samples

    known = [sample.id for sample in samples()]
    refuse(InputProblem("samples", repr(name), one_of(name, known)) for name in options.names if name not in known)
    for run in compute_missing(Workspace(options.workspace), options.names):
        say(run.id)
