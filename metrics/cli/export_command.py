"""`export`: a table of a finished run as JSON, CSV or Parquet."""

import argparse
from typing import Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.reports.table_names import WHATS


def add_command(commands: Any) -> None:
    """Add `export`."""
    command = add_parser(commands, "export", _export, of_run=True, help="print or write a table of a finished run")
    command.add_argument("--what", choices=WHATS, default="aggregates", help="table to export (default aggregates)")
    add_table_output(command, "json")


def _export(options: argparse.Namespace) -> int:
    from metrics.reports.renderers.export_tables import table
    from metrics.store.export_formats import write

    write_output(write(table(run_of(options, finished=True), options.what), options.format), options.output)
    return 0
