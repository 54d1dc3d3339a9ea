"""`export`: a finished run as one of metrics.reports.exchange.exporters, or the scores in a result CSV of Open RAG Eval
as JSON, CSV or Parquet.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import note, say
from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.reports.exchange.exporters import EXPORTERS, EXPORTS, WHATS, export, written


def add_command(commands: Any) -> None:
    command = add_parser(
        commands, "export", _export, of_run=True,
        help="print or write a table of a finished run, or the scores in a result CSV of Open RAG Eval",
    )  # fmt: skip
    whats = [one for one in EXPORTS.values() if one.flag == "what"]
    others = "; ".join(f"{one.id}: {one.help}" for one in whats if one.id not in WHATS)
    command.add_argument(
        "--what", choices=[one.id for one in whats], default="aggregates",
        help=f"table to export (default aggregates); {others}",
    )  # fmt: skip
    command.add_argument("--model", metavar="NAME", help="model of --what open_rag_eval, where the run has several")
    texts = "; ".join(f"{one.id}: {one.help}" for one in EXPORTERS.values())
    command.add_argument("--to", choices=EXPORTERS, help=f"the whole run for another tool ({texts})")
    add_table_output(command, None)


def _export(options: argparse.Namespace) -> None:
    if options.to is not None:
        _export_to(options)
    elif Path(options.run).is_file():
        from metrics.reports.renderers.export_tables import rag_scores
        from metrics.store.table_files import write

        if options.what != "scores":
            raise InputError([InputProblem(options.run, f"a file, and --what {options.what}", "--what scores")])
        write_output(write(rag_scores(options.run), options.format or "json"), options.output)
    else:
        run = run_of(options, finished=True)
        note(options, *EXPORTS[options.what].notes(run, options.model))
        write_output(export(run, options.what, options.format, options.model), options.output)


def _export_to(options: argparse.Namespace) -> None:
    """Write the run as --to says. InputError on options that do not go with it."""
    exporter = EXPORTERS[options.to]
    unfit = {"--what": options.what != "aggregates", "--format": options.format is not None, "--model": options.model}
    problems = [InputProblem(name, f"--to {exporter.id}", "--to alone") for name, given in unfit.items() if given]
    if exporter.form == "folder" and not options.output:
        problems.append(InputProblem("--output", "none", f"-o FOLDER: --to {exporter.id} writes several files"))
    elif exporter.form == "folder" and any(Path(options.output).glob("*")):
        problems.append(InputProblem("--output", f"{options.output}, which is not empty", "a new or an empty folder"))
    elif exporter.form == "server" and options.output:
        problems.append(InputProblem("--output", options.output, f"none: --to {exporter.id} logs to the tool itself"))
    if problems:
        raise InputError(problems)
    if exporter.package and find_spec(exporter.package) is None:
        raise MissingResource(f"{exporter.title} is not installed: pip install {exporter.package}, then try again")
    run = run_of(options, finished=True)
    if exporter.form == "file":
        write_output(export(run, exporter.id), options.output)
    elif exporter.form == "folder":
        files = written(run, exporter, Path(options.output))
        say(f"{options.output}: {len(files):,} files")
    else:
        say(*exporter()(run))
