"""`check-evaluator`: whether an evaluator of your own keeps the laws that Assay's own keep."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.terminal import say
from metrics.core.plugins import load_reference
from metrics.core.registry import add_plugin

FAILED = 1
MARKS = {True: "pass", False: "FAIL", None: "–   "}


def add_command(commands: Any) -> None:
    command = commands.add_parser("check-evaluator", help="check that an evaluator of your own keeps Assay's laws")
    command.add_argument("reference", metavar="MODULE:OBJECT|FILE.py:OBJECT", help="the evaluator")
    command.set_defaults(command=_check)


def _check(options: argparse.Namespace) -> int:
    from metrics.library.evaluator_laws import check_evaluator

    plugin = load_reference(options.reference, Path(), "check-evaluator")
    add_plugin(plugin)  # refuses an id that is taken
    outcomes = check_evaluator(plugin.evaluator)
    say(f"{plugin.evaluator.id}: {plugin.evaluator.title}")
    for outcome in outcomes:
        say(f"{MARKS[outcome.passed]}  {outcome.law}" + (f": {outcome.reason}" if outcome.reason else ""))
    return FAILED if any(outcome.passed is False for outcome in outcomes) else 0
