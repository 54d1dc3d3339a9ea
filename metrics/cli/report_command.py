"""`report`: the report of a finished run as PDF, HTML or JSON."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, run_of
from metrics.core.errors import InputError, InputProblem
from metrics.reports import DOCUMENTS, render
from metrics.store import Run


def add_command(commands: Any) -> None:
    """Add `report`."""
    command = add_parser(commands, "report", _report, of_run=True, help="write the report of a finished run")
    command.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="file to write; the ending decides: .pdf, .html or .json"
    )


def _report(options: argparse.Namespace) -> int:
    check_ending(options.output)
    write_report(run_of(options, finished=True), options.output)
    return 0


def check_ending(file: str) -> None:
    """Raise InputError where the file's ending names no format of a report."""
    if _kind(file) not in DOCUMENTS:
        raise InputError([InputProblem(file, f"the ending {_kind(file)!r}", ".pdf, .html or .json")])


def write_report(run: Run, file: str) -> None:
    """Write the report in the format that the file's ending names."""
    Path(file).write_bytes(render(run, _kind(file)))


def _kind(file: str) -> str:
    return Path(file).suffix.lower().lstrip(".")
