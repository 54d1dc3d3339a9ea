"""`export`: a table of a finished run as JSON, CSV or Parquet; all of it in Valor's JSON; its objects as bitmaps."""

import argparse
from typing import Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.core.errors import InputError, InputProblem
from metrics.reports.table_names import WHATS

DOCUMENTS = {"valor": "json", "bitmaps": "zip"}  # and their formats


def add_command(commands: Any) -> None:
    """Add `export`."""
    command = add_parser(commands, "export", _export, of_run=True, help="print or write a table of a finished run")
    command.add_argument(
        "--what", choices=(*WHATS, *DOCUMENTS), default="aggregates",
        help="table to export (default aggregates); valor: metrics and curves as Valor's nested JSON; bitmaps: a zip "
        "with a PNG and the GeoJSON of every object",
    )  # fmt: skip
    add_table_output(command, None)


def _export(options: argparse.Namespace) -> int:
    run, what, only = run_of(options, finished=True), options.what, DOCUMENTS.get(options.what)
    if only is not None and options.format not in (None, only):
        raise InputError([InputProblem("--format", options.format, f"none, as --what {what} is always {only}")])
    if what == "valor":
        from metrics.reports.renderers.valor_json import valor_json

        content = valor_json(run)
    elif what == "bitmaps":
        from metrics.reports.renderers.bitmap_archive import bitmap_archive

        content = bitmap_archive(run)
    else:
        from metrics.reports.renderers.export_tables import table
        from metrics.store.export_formats import write

        content = write(table(run, what), options.format or "json")
    write_output(content, options.output)
    return 0
