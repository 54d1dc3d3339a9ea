"""`export`: a table of a finished run, or the scores in a result CSV of Open RAG Eval, as JSON, CSV or Parquet.

Also what is no table: a run in Valor's JSON, its objects as bitmaps, and the formats of other tools.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import note, say
from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.reports.exchange.exporters import EXPORTERS, written
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
    _add_to(command)
    add_table_output(command, None)


def _export(options: argparse.Namespace) -> None:
    if options.to is not None:
        _export_to(options)
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
        from metrics.store.table_files import write

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
    from metrics.reports.renderers.rag_results import empty_columns, rag_results

    if Path(options.run).is_file():
        if options.what != "scores":
            raise InputError([InputProblem(options.run, f"a file, and --what {options.what}", "--what scores")])
        return rag_scores(options.run)
    run = run_of(options, finished=True)
    if options.what != RAG_RESULTS:
        return table(run, options.what)
    found = rag_results(run, options.model)
    note(options, *empty_columns(run, options.model or run.models[0]))
    return found


def _add_to(command: argparse.ArgumentParser) -> None:
    texts = "; ".join(f"{one.id}: {one.help}" for one in EXPORTERS.values())
    command.add_argument("--to", choices=EXPORTERS, help=f"the whole run for another tool ({texts})")


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
        content = exporter()(run)
        assert isinstance(content, bytes)
        write_output(content, options.output)
    elif exporter.form == "folder":
        files = written(run, exporter, Path(options.output))
        say(f"{options.output}: {len(files):,} files")
    else:
        say(*exporter()(run))
