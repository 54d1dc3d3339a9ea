"""The command line's labels: what people say of a run's outputs, added from files and exported."""

import argparse
import sys
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.core.label_schema import SAMPLINGS
from metrics.store import Run, Workspace
from metrics.store.label_sets import Labels

FORMATS = ("csv", "json", "parquet")
CHOICES = {"random": SAMPLINGS["random"], "picked": SAMPLINGS["picked"]}


def add_labels_command(commands: Any, common: argparse.ArgumentParser, run: argparse.ArgumentParser) -> None:
    """Add `labels` with its subcommands."""
    command = commands.add_parser("labels", help="people's labels of a run's outputs: add, list, remove, export")
    actions = command.add_subparsers(required=True, metavar="ACTION")

    action = actions.add_parser(
        "add", parents=[run, common], help="add the labels of files; every run of the data sees them"
    )
    action.add_argument(
        "files", metavar="FILE", nargs="+", help="CSV, JSONL, JSON or Parquet, long or wide; see README.md"
    )
    action.add_argument("--map", metavar="CANONICAL=COLUMN", action="append", default=[], help="which column is what")
    action.add_argument(
        "--sampling", choices=tuple(CHOICES), default="random",
        help="; ".join(f"{name}: {text}" for name, text in CHOICES.items()) + " (default random)",
    )  # fmt: skip
    action.add_argument("--keep-good-rows", action="store_true", help="leave out wrong rows instead of stopping")
    action.set_defaults(command=_add)

    action = actions.add_parser("list", parents=[run, common], help="list the sets of labels")
    action.set_defaults(command=_list)

    action = actions.add_parser("remove", parents=[run, common], help="remove a set of labels")
    action.add_argument("set", metavar="SET", help="its id, as `labels list` gives it")
    action.set_defaults(command=_remove)

    action = actions.add_parser("export", parents=[run, common], help="print or write all labels, one a row")
    action.add_argument("--format", choices=FORMATS, default="csv")
    action.add_argument("-o", "--output", metavar="FILE", help="file to write (default: standard output)")
    action.set_defaults(command=_export)


def _run(options: argparse.Namespace) -> Run:
    return Workspace(options.workspace).run(options.run)


def _add(options: argparse.Namespace) -> int:
    from metrics.ingest.labels import read_labels

    wrong = [
        InputProblem("--map", repr(text), "CANONICAL=COLUMN") for text in options.map if not all(text.partition("="))
    ]
    if wrong:
        raise InputError(wrong)
    mapping = {name.strip(): column for name, _, column in (text.partition("=") for text in options.map)}
    run = _run(options)
    problems: list[InputProblem] = []
    found = []
    for file in options.files:
        try:
            read = read_labels(
                file, suite=run.suite, models=run.models, mapping=mapping, sampling=options.sampling,
                keep_good_rows=options.keep_good_rows,
            )  # fmt: skip
        except InputError as failure:
            problems += failure.problems
        else:
            found.append(read)
    if problems:  # all files or none
        raise InputError(problems)
    for read in found:
        name = Labels(run).add(read.table, Path(read.file).name)
        if not options.quiet:
            left_out = f", {len(read.problems)} problems left out" if read.problems else ""
            print(
                f"{read.file}: {len(read.table):,} labels from {', '.join(read.label_columns)}{left_out}",
                file=sys.stderr,
            )
            for note in read.notes:
                print(note, file=sys.stderr)
        print(name)
    return 0


def _list(options: argparse.Namespace) -> int:
    for one in Labels(_run(options)).sets():
        held = f"{one.labels:>7,} labels  {one.raters} rater{'s' * (one.raters != 1)}"
        print(f"{one.id}  {held}  {one.changed[:16]}  {one.name}  ({', '.join(one.criteria)})")
    return 0


def _remove(options: argparse.Namespace) -> int:
    Labels(_run(options)).remove(options.set)
    return 0


def _export(options: argparse.Namespace) -> int:
    from metrics.analysis.labels.human_labels import exported
    from metrics.reports.renderers.export_tables import write

    content = write(exported(_run(options)), options.format)
    if options.output:
        Path(options.output).write_bytes(content)
    else:
        sys.stdout.buffer.write(content)
    return 0
