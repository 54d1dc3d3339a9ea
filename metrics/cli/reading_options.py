"""What is wrong with files, printed in groups or one by one."""

import argparse
import sys

from metrics.cli import log_lines
from metrics.cli.terminal import say
from metrics.core.errors import AssayError, InputError
from metrics.core.input_problems import grouped


def print_failure(failure: AssayError, options: argparse.Namespace | None) -> None:
    """Print an error on standard error: its problems in groups, or one by one with --all-problems."""
    if log_lines.as_json(options):
        found = failure.problems if isinstance(failure, InputError) else ()
        log_lines.print_event("error", text=str(failure), problems=[problem.as_row() for problem in found])
        return
    every = getattr(options, "all_problems", None)
    problems = failure.problems if isinstance(failure, InputError) else ()
    if every and problems:
        say(*problems, file=sys.stderr)
        return
    say(*failure.args, file=sys.stderr)
    if every is False and len(grouped(problems)) < len(problems):
        say(f"{len(problems):,} problems; --all-problems prints each", file=sys.stderr)
