"""`export`: a table of a finished run, or the scores in a result CSV of Open RAG Eval, as JSON, CSV or Parquet."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.core.errors import InputError, InputProblem
from metrics.reports.table_names import WHATS

if TYPE_CHECKING:
    import pandas as pd

RAG_RESULTS = "open_rag_eval"


def add_command(commands: Any) -> None:
    """Add `export`."""
    command = add_parser(
        commands, "export", _export, of_run=True,
        help="print or write a table of a finished run, or the scores in a result CSV of Open RAG Eval",
    )  # fmt: skip
    command.add_argument(
        "--what", choices=(*WHATS, RAG_RESULTS), default="aggregates",
        help="table to export (default aggregates); open_rag_eval: one model as that tool's result CSV",
    )  # fmt: skip
    command.add_argument("--model", metavar="NAME", help="model of --what open_rag_eval, where the run has several")
    add_table_output(command, "json")


def _export(options: argparse.Namespace) -> int:
    from metrics.store.export_formats import write

    write_output(write(_table(options), options.format), options.output)
    return 0


def _table(options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.reports.renderers.export_tables import rag_scores, table
    from metrics.reports.renderers.rag_results import rag_results

    if options.model and options.what != RAG_RESULTS:
        raise InputError([InputProblem("--model", f"--what {options.what}", f"--what {RAG_RESULTS}")])
    if Path(options.run).is_file():
        if options.what != "scores":
            raise InputError([InputProblem(options.run, f"a file, and --what {options.what}", "--what scores")])
        return rag_scores(options.run)
    run = run_of(options, finished=True)
    return rag_results(run, options.model) if options.what == RAG_RESULTS else table(run, options.what)
