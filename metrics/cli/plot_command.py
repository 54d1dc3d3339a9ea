"""`plot`: box plots of runs and of Open RAG Eval's result CSVs, side by side, as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from metrics.analysis.boards.board import open_run
from metrics.cli.options import add_parser, names_of, write_output
from metrics.cli.report_command import ending_of
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.store import Run, Workspace

if TYPE_CHECKING:
    from metrics.reports.renderers.typesetting import PictureFormat
    from metrics.reports.score_boxes import ToolEvaluator

ENDINGS = ("png", "svg", "pdf")


def add_command(commands: Any) -> None:
    command = add_parser(commands, "plot", _plot, help="draw box plots of runs and result CSVs side by side")
    command.add_argument(
        "sources", metavar="RUN|RESULT.csv", nargs="+",
        help="ids of finished runs, latest, board[:SUITE], or result CSVs of Open RAG Eval: "
        "a box for each file and model",
    )  # fmt: skip
    command.add_argument(
        "-o", "--output", "--output-file", metavar="FILE", default="metrics_comparison.png",
        help="picture to write; the ending decides: .png, .svg or .pdf (default metrics_comparison.png)",
    )  # fmt: skip
    command.add_argument(
        "--metrics", "--metrics-to-plot", metavar="NAME", nargs="+", default=[],
        help="metrics as EVALUATOR.METRIC, EVALUATOR for its primary one, or a column of a result CSV "
        "(default: what Open RAG Eval plots, else the primary metrics)",
    )  # fmt: skip
    command.add_argument(
        "--evaluator", choices=("trec", "consistency"), help="evaluator of Open RAG Eval whose metrics are drawn"
    )


def _plot(options: argparse.Namespace) -> None:
    ending = ending_of(options.output)
    if ending not in ENDINGS:
        raise InputError([InputProblem(options.output, f"the ending {ending!r}", ".png, .svg or .pdf")])
    workspace = Workspace(options.workspace)
    sources = [
        Path(name)
        if name.lower().endswith(".csv") or Path(name).is_file()
        else open_run(workspace, name, finished=True)
        for name in options.sources
    ]
    metrics = [name for text in options.metrics for name in names_of(text)]
    write_plot(sources, options.output, metrics, options.evaluator)
    if not options.quiet:
        say(options.output)


def write_plot(
    sources: Sequence[Run | Path], file: str, metrics: Sequence[str] = (), evaluator: ToolEvaluator | None = None
) -> None:
    """Write the box plots of runs and result CSVs in the format that the file's ending names."""
    from metrics.reports.renderers.box_plots import box_plots
    from metrics.reports.renderers.typesetting import picture_of
    from metrics.reports.score_boxes import score_panels

    picture = picture_of(box_plots(score_panels(sources, metrics, evaluator)), cast("PictureFormat", ending_of(file)))
    write_output(picture, file)
