"""`gate`: hold a finished run to gates, as `evaluate` does it with the one that it makes."""

import argparse
from typing import Any

from metrics.cli import gate_options
from metrics.cli.flags import add_flags
from metrics.cli.options import add_parser, run_of
from metrics.engine.evaluation import GATES, LogFields


def add_command(commands: Any) -> None:
    words = "check a finished run: --fail-under, --baseline, --fail-if-worse, --non-inferior"
    command = add_parser(commands, "gate", _gate, of_run=True, help=words)
    add_flags(command, *GATES)
    add_flags(command, LogFields)


def _gate(options: argparse.Namespace) -> int:
    run = run_of(options, finished=True)
    gates = gate_options.Gates.of(options)
    gates.require_fitting(list(run.evaluators), run.evaluators, run.suite, run.models)
    return gates.conclude(run, options)
