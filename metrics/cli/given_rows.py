"""What the commands of labels and of preferences share: adding files of them, list, remove and export."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.cli.options import add_flags, add_mapping, add_parser, add_table_output, pairs, run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import for_each
from metrics.engine.evaluation import ReadingFields
from metrics.library.file_options import readings_of
from metrics.store import Run
from metrics.store.rating_sets import GivenRows
from metrics.store.table_files import write

if TYPE_CHECKING:
    import pandas as pd

    from metrics.ingest.given_files import GivenFile


def add_reading(action: argparse.ArgumentParser) -> None:
    """Add the options of reading files of labels or preferences; see `add_files`."""
    add_mapping(action)
    add_flags(action, ReadingFields)
    action.add_argument("--keep-good-rows", action="store_true", help="skip invalid rows instead of stopping")


def add_files(
    run: Run, given: type[GivenRows], read: "Callable[..., GivenFile]", options: argparse.Namespace, *notes: str
) -> list[str]:
    """Add what `options.files` hold to a run, all of them or none, and return the ids of the sets.

    read: metrics.ingest's reader of such files; notes: what is said of each file beside its own.
    """
    mapping = dict(pairs(options.map, "--map", "CANONICAL=COLUMN"))
    readings = readings_of(ReadingFields.of(options), options.files)
    keep = options.keep_good_rows
    read_file = partial(read, suite=run.suite, models=run.models, mapping=mapping, keep_good_rows=keep)
    found = for_each(options.files, lambda file: read_file(file, reading=readings[file]))  # all files or none
    names = []
    for one in found:
        names.append(given(run).add(one.table, Path(one.file).name))
        if not options.quiet:
            skipped = f", {len(one.problems)} problems skipped" if one.problems else ""
            columns = ", ".join(one.value_columns)
            told = f"{one.file}: {len(one.table):,} {given.kind} from {columns}{skipped}"
            say(told, *one.notes, *notes, file=sys.stderr)
    return names


def add_kept(actions: Any, given: type[GivenRows], exported: "Callable[[Run], pd.DataFrame]") -> None:
    """Add list, remove and export; `exported` returns a table of all rows of a run."""
    kind = given.kind
    add_parser(actions, "list", partial(_list, given), of_run=True, help=f"list the sets of {kind}")

    action = add_parser(actions, "remove", partial(_remove, given), of_run=True, help=f"remove a set of {kind}")
    action.add_argument("set", metavar="SET", help=f"id of the set, as `{kind} list` prints it")

    words = f"print or write all {kind}, one per row"
    action = add_parser(actions, "export", partial(_export, exported), of_run=True, help=words)
    add_table_output(action, "csv")


def _list(given: type[GivenRows], options: argparse.Namespace) -> None:
    for one in given(run_of(options)).sets():
        counts = f"{one.rows:>7,} {given.kind}  {one.raters} rater{'s' * (one.raters != 1)}"
        say(f"{one.id}  {counts}  {one.changed[:16]}  {one.name}  ({', '.join(one.criteria)})")


def _remove(given: type[GivenRows], options: argparse.Namespace) -> None:
    given(run_of(options)).remove(options.set)


def _export(exported: "Callable[[Run], pd.DataFrame]", options: argparse.Namespace) -> None:
    write_output(write(exported(run_of(options)), options.format), options.output)
