"""`push` and `pull`: finished runs with their data between this workspace and a URL."""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from metrics.cli.failures import exit_code
from metrics.cli.options import add_parser
from metrics.cli.terminal import say
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.terminal_escapes import escape_controls, one_line, protected_stream
from metrics.store import Run, Workspace

T = TypeVar("T")


def add_command(commands: Any) -> None:
    words = "send finished runs with their suite, outputs and images to a URL: s3://, gs://, az://, ssh://, file:// …"
    command = add_parser(commands, "push", _push, help=words)
    command.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="ids of finished runs, or latest; then the URL (default: the workspace's)",
    )
    command = add_parser(commands, "pull", _pull, help="fetch runs from a URL into this workspace, each file verified")
    command.add_argument("url", metavar="URL", help="where they were pushed to")
    command.add_argument("runs", metavar="RUN", nargs="*", help="ids of runs (default: all)")


def push_sealed(run: Run) -> None:
    """Send a run that was just sealed to its workspace's URL, if it has one; say so where it has to stay here."""
    workspace = Workspace(run.workspace.path)
    if workspace.url is None or run.state != "finished":
        return
    try:
        workspace.push(run)
    except AssayError as failure:
        say(f"run {run.id} is kept on this machine and not pushed. {failure}", file=sys.stderr)
        say(f"`python -m metrics push {run.id} --workspace {workspace.url}` sends it", file=sys.stderr)


def _push(options: argparse.Namespace) -> None:
    workspace, names = Workspace(options.workspace), list(options.runs)
    url = names.pop() if "://" in names[-1] else workspace.url
    if url is None or not names:
        found = "no URL" if url is None else "no run"
        raise InputError([InputProblem("push", found, "RUN … URL, such as latest s3://bucket/folder")])
    for run in [workspace.run(name, finished=True) for name in names]:
        added = _stoppable(partial(workspace.push, run, url, None if options.quiet else _listen("sent")))
        if not options.quiet:
            say(f"{run.id}: {'pushed to' if added else 'is there already:'} {url}")


def _pull(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace)
    listen = None if options.quiet else _listen("fetched")
    added = _stoppable(partial(workspace.pull, options.url, *options.runs, listen=listen))
    say(*added)
    if not options.quiet and not added:
        say("nothing new", file=sys.stderr)


def _listen(done: str) -> Callable[[int, int], None] | None:
    """Return what shows the progress of a transfer, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    def listen(sent: int, total: int) -> None:
        end = "\n" if sent == total else ""
        text = escape_controls(f"{one_line(done)} {sent / 1e6:,.1f} of {total / 1e6:,.1f} MB")
        print(f"\r{text}", end=end, file=protected_stream(sys.stderr), flush=True)

    return listen


def _stoppable(work: Callable[[], T]) -> T:
    try:
        return work()
    except KeyboardInterrupt as stop:
        say("", "stopped; the same command continues it", file=sys.stderr, flush=True)
        os._exit(exit_code(stop))  # requests under way are not waited for: what they leave is no object
