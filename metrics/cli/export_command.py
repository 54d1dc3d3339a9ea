"""`export`: a table of a finished run, or the scores in a result CSV of Open RAG Eval, as JSON, CSV or Parquet.

Also what is no table: a run in Valor's JSON, its objects as bitmaps, and the formats of other tools.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.cli import exchange_options
from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.core.errors import InputError, InputProblem
from metrics.reports.table_names import WHATS
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

RAG_RESULTS = "open_rag_eval"
DOCUMENTS = {"valor": "json", "bitmaps": "zip"}  # what is no table, and its format


def add_command(commands: Any) -> None:
    command = add_parser(
        commands, "export", _export, of_run=True,
        help="print or write a table of a finished run, or the scores in a result CSV of Open RAG Eval",
    )  # fmt: skip
    command.add_argument(
        "--what", choices=(*WHATS, RAG_RESULTS, *DOCUMENTS), default="aggregates",
        help="table to export (default aggregates); open_rag_eval: one model as that tool's result CSV; valor: metrics "
        "and curves as Valor's nested JSON; bitmaps: a zip with a PNG and the GeoJSON of every object",
    )  # fmt: skip
    command.add_argument("--model", metavar="NAME", help="model of --what open_rag_eval, where the run has several")
    exchange_options.add_options(command)
    add_table_output(command, None)


def _export(options: argparse.Namespace) -> None:
    if options.to is not None:
        exchange_options.export(options)
        return
    what = options.what
    if options.model and what != RAG_RESULTS:
        raise InputError([InputProblem("--model", f"--what {what}", f"--what {RAG_RESULTS}")])
    if what in DOCUMENTS:
        if options.format is not None:
            found = f"{options.format}, and --what {what}"
            raise InputError([InputProblem("--format", found, f"none: it is always {DOCUMENTS[what]}")])
        content = _document(what, run_of(options, finished=True))
    else:
        from metrics.store.export_formats import write

        content = write(_table(options), options.format or "json")
    write_output(content, options.output)


def _document(what: str, run: Run) -> bytes:
    if what == "valor":
        from metrics.reports.renderers.valor_json import valor_json

        return valor_json(run)
    from metrics.reports.renderers.bitmap_archive import bitmap_archive

    return bitmap_archive(run)


def _table(options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.reports.renderers.export_tables import rag_scores, table
    from metrics.reports.renderers.rag_results import rag_results

    if Path(options.run).is_file():
        if options.what != "scores":
            raise InputError([InputProblem(options.run, f"a file, and --what {options.what}", "--what scores")])
        return rag_scores(options.run)
    run = run_of(options, finished=True)
    return rag_results(run, options.model) if options.what == RAG_RESULTS else table(run, options.what)
