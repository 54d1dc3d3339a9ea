"""Options of commands that read uploads: the encoding and the sheet of each file, and every problem one by one."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.cli import log_lines
from metrics.cli.terminal import say
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.input_problems import grouped

if TYPE_CHECKING:
    from metrics.ingest import Reading


def add_options(command: argparse.ArgumentParser) -> None:
    """Add --encoding, --sheet and --all-problems."""
    command.add_argument(
        "--encoding", metavar="[FILE=]NAME", action="append", default=[],
        help="encoding of the files, or of one: windows-1252, utf-16 … (default: UTF-8 if valid, else the likeliest)",
    )  # fmt: skip
    command.add_argument(
        "--sheet",
        metavar="[FILE=]NAME",
        action="append",
        default=[],
        help="sheet of Excel files, or split of Hugging Face data sets (default: the first that is not empty; test)",
    )
    command.add_argument(
        "--all-problems", action="store_true", help="print every problem of the files, a line each, not grouped"
    )


def readings_of(options: argparse.Namespace, files: Sequence[str]) -> "dict[str | Path, Reading]":
    """Return how each file is to be read; InputError where an option names a file that is not given."""
    from metrics.ingest import Reading
    from metrics.ingest.text_encoding import named

    found: dict[str, dict[str, str]] = {"encoding": {}, "sheet": {}}
    problems = []
    for option, chosen in found.items():
        for text in getattr(options, option):
            file, equals, name = text.rpartition("=")
            of = [each for each in files if not equals or file in (each, Path(each).name)]
            if not of:
                problems.append(InputProblem(f"--{option}", f"the file {file!r}", "one of " + ", ".join(files)))
            chosen.update(dict.fromkeys(of, named(name) if option == "encoding" else name))
    if problems:
        raise InputError(problems)
    return {file: Reading(found["encoding"].get(file), found["sheet"].get(file)) for file in files}


def print_notes(notes: Sequence[str], options: argparse.Namespace) -> None:
    """Print on standard error what was assumed to read the files, unless --quiet."""
    log_lines.note(options, *notes)


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
