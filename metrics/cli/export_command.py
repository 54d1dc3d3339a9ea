"""`export`: a table of a finished run as JSON, CSV or Parquet, or all of it in Valor's JSON."""

import argparse
from typing import Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.core.errors import InputError, InputProblem
from metrics.reports.table_names import WHATS

VALOR = "valor"


def add_command(commands: Any) -> None:
    """Add `export`."""
    command = add_parser(commands, "export", _export, of_run=True, help="print or write a table of a finished run")
    command.add_argument(
        "--what", choices=(*WHATS, VALOR), default="aggregates",
        help="table to export (default aggregates); valor: metrics and curves as Valor's nested JSON",
    )  # fmt: skip
    add_table_output(command, "json")


def _export(options: argparse.Namespace) -> int:
    run = run_of(options, finished=True)
    if options.what == VALOR:
        from metrics.reports.renderers.valor_json import valor_json

        if options.format != "json":
            raise InputError([InputProblem("--format", options.format, "json, the only format of --what valor")])
        write_output(valor_json(run), options.output)
        return 0
    from metrics.reports.renderers.export_tables import table
    from metrics.store.export_formats import write

    write_output(write(table(run, options.what), options.format), options.output)
    return 0
