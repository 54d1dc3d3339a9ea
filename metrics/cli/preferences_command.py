"""`preferences`: which of two models' answers people, or judges of elsewhere, prefer."""

import argparse
import sys
from pathlib import Path
from typing import Any

from metrics.cli import reading_options
from metrics.cli.options import add_mapping, add_parser, add_table_output, pairs, run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.store.preference_sets import Preferences


def add_command(commands: Any) -> None:
    """Add `preferences` with its actions add, list, remove, export and ranking."""
    words = "which of two models' answers people prefer: add, list, remove, export; the models ranked by it"
    command = commands.add_parser("preferences", help=words)
    actions = command.add_subparsers(required=True, metavar="ACTION")

    words = "add the preferences of files; every run of the same data shares them"
    action = add_parser(actions, "add", _add, of_run=True, help=words)
    action.add_argument(
        "files", metavar="FILE", nargs="+",
        help="CSV, JSONL, JSON, Parquet or Excel: case_id, model_a, model_b, winner; see docs/preferences.md",
    )  # fmt: skip
    add_mapping(action)
    reading_options.add_options(action)
    action.add_argument(
        "--by", choices=("people", "judge"), default="people", help="who prefers, where the file does not say"
    )
    action.add_argument(
        "--a-first", action="store_true", help="model_a's answer was shown first (left), so position bias is measured"
    )
    action.add_argument("--keep-good-rows", action="store_true", help="skip invalid rows instead of stopping")

    add_parser(actions, "list", _list, of_run=True, help="list the sets of preferences")

    action = add_parser(actions, "remove", _remove, of_run=True, help="remove a set of preferences")
    action.add_argument("set", metavar="SET", help="id of the set, as `preferences list` prints it")

    action = add_parser(actions, "export", _export, of_run=True, help="print or write all preferences, one per row")
    add_table_output(action, "csv")

    words = "print who is preferred, position bias and agreement of judge and people; or a table, a model a row"
    action = add_parser(actions, "ranking", _ranking, of_run=True, help=words)
    action.add_argument("--criterion", help="what was compared by (default: every criterion)")
    action.add_argument("--tag", help="only the cases with this tag, in the table")
    add_table_output(action, None)


def _add(options: argparse.Namespace) -> int:
    from metrics.ingest.preference_files import PreferenceFile, read_preferences

    run = run_of(options)
    mapping = dict(pairs(options.map, "--map", "CANONICAL=COLUMN"))
    readings = reading_options.readings_of(options, options.files)
    problems, found = list[InputProblem](), list[PreferenceFile]()
    for file in options.files:
        try:
            read = read_preferences(
                file, suite=run.suite, models=run.models, mapping=mapping, by=options.by, a_first=options.a_first,
                keep_good_rows=options.keep_good_rows, reading=readings[file],
            )  # fmt: skip
        except InputError as failure:
            problems += failure.problems
        else:
            found.append(read)
    if problems:  # all files or none
        raise InputError(problems)
    for read in found:
        if not options.quiet:
            skipped = f", {len(read.problems)} problems skipped" if read.problems else ""
            columns = ", ".join(read.winner_columns)
            say(f"{read.file}: {len(read.table):,} preferences from {columns}{skipped}", *read.notes, file=sys.stderr)
        say(Preferences(run).add(read.table, Path(read.file).name))
    return 0


def _list(options: argparse.Namespace) -> int:
    for one in Preferences(run_of(options)).sets():
        counts = f"{one.preferences:>7,} preferences  {one.raters} rater{'s' * (one.raters != 1)}"
        say(f"{one.id}  {counts}  {one.changed[:16]}  {one.name}  ({', '.join(one.criteria)})")
    return 0


def _remove(options: argparse.Namespace) -> int:
    Preferences(run_of(options)).remove(options.set)
    return 0


def _export(options: argparse.Namespace) -> int:
    from metrics.presentation.preference_words import exported_frame
    from metrics.store.export_formats import write

    rows = Preferences(run_of(options)).table().to_pylist()
    write_output(write(exported_frame(rows), options.format), options.output)
    return 0


def _ranking(options: argparse.Namespace) -> int:
    from metrics.analysis.preferences.matches import SOURCES, preference_criteria
    from metrics.analysis.preferences.preferred import preferred
    from metrics.core.did_you_mean import one_of
    from metrics.presentation.preference_words import preference_lines, ranking_frame
    from metrics.store.export_formats import write

    run = run_of(options)
    counts = preference_criteria(run)
    wanted = list(counts) if options.criterion is None else [options.criterion]
    if not counts:
        raise InputError([InputProblem(run.id, "no preferences", "some, by `preferences add` or the page Arena")])
    unknown = [name for name in wanted if name not in counts]
    if unknown:
        raise InputError([InputProblem("--criterion", repr(unknown[0]), one_of(unknown[0], list(counts)))])
    if options.format is None and options.output is None:
        for name in wanted:
            say(*preference_lines(run, name))
        return 0
    rows = [
        (name, by, found)
        for name in wanted
        for by in SOURCES
        if (by in counts[name] or len(counts[name]) > 1) and (found := preferred(run, by, name, options.tag))
    ]
    write_output(write(ranking_frame(rows), options.format or "json"), options.output)
    return 0
