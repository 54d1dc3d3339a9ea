"""`export`: a finished run as one of metrics.reports.exchange.exporters, or the scores in a result CSV of Open RAG Eval
as JSON, CSV or Parquet.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import note, say
from metrics.core.errors import InputError, InputProblem, MissingResource, refuse
from metrics.reports.exchange.exporters import ASKED, EXPORTERS, EXPORTS, WHATS, export, option_problems, written


def add_command(commands: Any) -> None:
    command = add_parser(
        commands, "export", _export, of_board=True,
        help="print or write a table of a finished run, or the scores in a result CSV of Open RAG Eval",
    )  # fmt: skip
    whats = [one for one in EXPORTS.values() if one.flag == "what"]
    others = "; ".join(f"{one.id}: {one.help}" for one in whats if one.id not in WHATS)
    texts = "; ".join(f"{one.id}: {one.help}" for one in EXPORTERS.values())
    either = command.add_mutually_exclusive_group()
    either.add_argument(
        "--what", choices=[one.id for one in whats], default="aggregates",
        help=f"table to export (default aggregates); {others}",
    )  # fmt: skip
    either.add_argument("--to", choices=EXPORTERS, help=f"the whole run for another tool ({texts})")
    for name, (form, words) in ASKED.items():
        command.add_argument(f"--{name}", metavar=form, help=words)
    add_table_output(command, None)


def _export(options: argparse.Namespace) -> None:
    one = EXPORTS[options.to or options.what]
    if options.to is None and Path(options.run).is_file():
        from metrics.reports.renderers.export_tables import rag_scores
        from metrics.store.table_files import write

        if options.what != "scores":
            raise InputError([InputProblem(options.run, f"a file, and --what {options.what}", "--what scores")])
        write_output(write(rag_scores(options.run), options.format or "json"), options.output)
        return
    asked = {name: getattr(options, name) for name in ASKED}
    given = asked.get(one.asks)
    problems = option_problems(one, options.format, asked)
    if one.form == "folder" and not options.output:
        problems.append(InputProblem("--output", "none", f"-o FOLDER: --to {one.id} writes several files"))
    elif one.form == "folder" and any(Path(options.output).glob("*")):
        problems.append(InputProblem("--output", f"{options.output}, which is not empty", "a new or an empty folder"))
    elif one.form == "server" and options.output:
        problems.append(InputProblem("--output", options.output, f"none: --to {one.id} logs to the tool itself"))
    refuse(problems)
    if one.package and find_spec(one.package) is None:
        raise MissingResource(f"{one.title} is not installed: pip install {one.package}, then try again")
    run = run_of(options, finished=True)
    if one.form == "folder":
        say(f"{options.output}: {len(written(run, one, Path(options.output), given)):,} files")
        note(options, *one.notes(run, given))
    elif one.form == "server":
        say(*one()(run))
    else:
        note(options, *one.notes(run, given))
        write_output(export(run, one.id, options.format, **asked), options.output)
