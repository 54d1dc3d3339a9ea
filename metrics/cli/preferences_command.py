"""`preferences`: which of two models' answers people, or judges of elsewhere, prefer."""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from metrics.cli import given_rows
from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.store import Run
from metrics.store.rating_sets import Preferences
from metrics.store.table_files import write

if TYPE_CHECKING:
    import pandas as pd


def add_command(commands: Any) -> None:
    words = "which of two models' answers people prefer: add, list, remove, export; the models ranked by it"
    command = commands.add_parser("preferences", help=words)
    actions = command.add_subparsers(required=True, metavar="ACTION")

    words = "add the preferences of files; every run of the same data shares them"
    action = add_parser(actions, "add", _add, of_run=True, help=words)
    add = action.add_argument
    add(
        "files", metavar="FILE", nargs="+",
        help="CSV, JSONL, JSON, Parquet or Excel: case_id, model_a, model_b, winner; see docs/preferences.md",
    )  # fmt: skip
    given_rows.add_reading(action)
    add("--by", choices=("people", "judge"), default="people", help="who prefers, where the file does not say")
    add("--a-first", action="store_true", help="model_a's answer was shown first (left), so position bias is measured")

    given_rows.add_kept(actions, Preferences, _exported)

    words = "print who is preferred, position bias and agreement of judge and people; or a table, a model a row"
    action = add_parser(actions, "ranking", _ranking, of_run=True, help=words)
    action.add_argument("--criterion", help="what was compared by (default: every criterion)")
    action.add_argument("--tag", help="only the cases with this tag, in the table")
    add_table_output(action, None)


def _add(options: argparse.Namespace) -> None:
    from metrics.ingest.preference_files import read_preferences

    read = partial(read_preferences, by=options.by, a_first=options.a_first)
    for name in given_rows.add_files(run_of(options), Preferences, read, options):
        say(name)


def _exported(run: Run) -> "pd.DataFrame":
    from metrics.presentation.ranking_words import exported_frame

    return exported_frame(Preferences(run).table().to_pylist())


def _ranking(options: argparse.Namespace) -> None:
    from metrics.analysis.preferences.matches import SOURCES, preference_criteria
    from metrics.analysis.preferences.preferred import preferred
    from metrics.presentation.ranking_words import preference_lines, ranking_frame

    run = run_of(options)
    counts = preference_criteria(run)
    wanted = list(counts) if options.criterion is None else [options.criterion]
    if not counts:
        expected = "some, by `preferences add` or the page Side by side"
        raise InputError([InputProblem(run.id, "no preferences", expected)])
    unknown = [name for name in wanted if name not in counts]
    if unknown:
        raise InputError([InputProblem("--criterion", repr(unknown[0]), one_of(unknown[0], list(counts)))])
    if options.format is None and options.output is None:
        for name in wanted:
            say(*preference_lines(run, name))
        return
    rows = [
        (name, by, found)
        for name in wanted
        for by in SOURCES
        if (by in counts[name] or len(counts[name]) > 1) and (found := preferred(run, by, name, options.tag))
    ]
    write_output(write(ranking_frame(rows), options.format or "json"), options.output)
