"""`cache`: the stored replies of judges."""

import argparse
from contextlib import closing
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser
from metrics.cli.terminal import say
from metrics.judge.cache import Cache
from metrics.judge.open_judges import FOLDER
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = commands.add_parser("cache", help="stored replies of judges: stats, clear, export, import")
    actions = command.add_subparsers(required=True, metavar="ACTION")

    add_parser(actions, "stats", _stats, help="number and size of the replies, and what they saved")
    action = add_parser(actions, "clear", _clear, help="remove all replies, or those that match every option")
    action.add_argument("--judge", metavar="NAME", help="replies of this judge")
    action.add_argument("--step", metavar="ID", help="replies to this prompt")
    action.add_argument("--older-than", metavar="DAYS", type=float, help="replies older than this many days")
    action = add_parser(actions, "export", _export, help="write replies to a file for import or --replay")
    action.add_argument("file", metavar="FILE", help="file to write, JSON lines; gzipped if it ends in .gz")
    action.add_argument("--run", metavar="RUN", help="only the replies that this finished run used")
    action = add_parser(actions, "import", _import, help="add the replies of an exported file")
    action.add_argument("file", metavar="FILE", help="an exported cache")


def _stats(options: argparse.Namespace) -> None:
    with _opened(options) as cache:
        found = cache.statistics()
    say(f"{found.replies:,} replies, {found.bytes:,} bytes in {cache.folder}")
    unpriced = f", and {found.unpriced_hits:,} hits of unknown price" if found.unpriced_hits else ""
    saved = f"{found.saved_tokens:,} tokens, ${found.saved_usd:.4f}{unpriced}"
    say(f"{found.hits:,} hits, {found.misses:,} misses; saved {saved}")
    for judge, step, count in found.steps:
        say(f"  {judge} · {step}: {count:,}")


def _clear(options: argparse.Namespace) -> None:
    with _opened(options) as cache:
        say(f"{cache.clear(options.judge, options.step, options.older_than):,} replies removed")


def _export(options: argparse.Namespace) -> None:
    keys = None
    if options.run is not None:
        judgements = Workspace(options.workspace).run(options.run, finished=True).judgements
        keys = set() if judgements.empty else set(judgements["key"])
    with _opened(options) as cache:
        say(f"{cache.export(Path(options.file), keys):,} replies written to {options.file}")


def _import(options: argparse.Namespace) -> None:
    with _opened(options) as cache:
        say(f"{cache.take(Path(options.file)):,} replies imported from {options.file}")


def _opened(options: argparse.Namespace) -> "closing[Cache]":
    """Return the workspace's cache of replies, which the end of a `with` closes."""
    return closing(Cache(Workspace(options.workspace).path / "cache" / FOLDER))
