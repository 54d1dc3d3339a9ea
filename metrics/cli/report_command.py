"""`report`: the report of a finished run as PDF, HTML or JSON, or its summary as Markdown."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.cli.options import add_flags, add_parser, names_of, run_of, write_output
from metrics.core.errors import InputError, InputProblem
from metrics.engine.evaluation import PluginFields, WeightFields
from metrics.reports import DOCUMENTS, MARKDOWN, render
from metrics.reports.section_names import ON_REQUEST, SECTIONS, chosen_sections
from metrics.store import Run

if TYPE_CHECKING:
    from metrics.reports.baseline import Differences


def add_command(commands: Any) -> None:
    command = add_parser(commands, "report", _report, of_board=True, help="write the report of a finished run")
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="file to write; the ending decides: .pdf, .html, .json, or .md for a summary",
    )
    add_flags(command, PluginFields)
    command.add_argument(
        "--sections",
        metavar="NAME,…",
        help=f"sections of the report (default: all but {', '.join(sorted(ON_REQUEST))}): {', '.join(SECTIONS)}",
    )
    add_flags(command, WeightFields)


def _report(options: argparse.Namespace) -> None:
    check_ending(options.output)
    if options.sections and ending_of(options.output) == MARKDOWN:
        raise InputError([InputProblem("--sections", "a summary in Markdown", "a report: .pdf, .html or .json")])
    sections = None if options.sections is None else chosen_sections(names_of(options.sections))
    from metrics.reports.weighting import Weighting

    run, weighting = run_of(options, finished=True), Weighting.parse(options.weight, options.scale)
    write_report(run, options.output, sections, notes=() if weighting is None else tuple(weighting.lines(run)))


def check_ending(file: str) -> None:
    """Raise InputError where the file's ending names no format of a report."""
    if ending_of(file) not in (*DOCUMENTS, MARKDOWN):
        raise InputError([InputProblem(file, f"the ending {ending_of(file)!r}", ".pdf, .html, .json or .md")])


def write_report(
    run: Run, file: str, sections: Collection[str] | None = None, against: Sequence[Differences] = (),
    notes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write the report, or only its `sections`, in the format that the file's ending names; see metrics.reports."""
    write_output(render(run, ending_of(file), sections, against, notes), file)


def ending_of(file: str) -> str:
    """Return the ending of a file's name without the dot, in lower case."""
    return Path(file).suffix.lower().lstrip(".")
