"""How progress is shown: bars on a terminal, plain lines in a pipe or a CI log, events with --log-format json."""

import argparse
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol, Self

from metrics.cli import terminal
from metrics.cli.terminal import protect, say
from metrics.core.terminal_escapes import escape_controls, one_line, protected_stream
from metrics.presentation.format import duration
from metrics.store import Progress
from metrics.store.run_progress import EvaluatorProgress

if TYPE_CHECKING:
    from rich.progress import TaskID

LINE_EVERY = 30.0  # seconds between two lines, at most
LINE_SHARE = 0.1  # of the whole, after which a line is printed before that
STARTING, ENDS = "starting", ("finished", "stopped", "cancelled")  # messages of a run


class Listener(Protocol):
    """What is told the progress."""

    def __call__(self, progress: Progress) -> None:
        """Show it."""


def follow(options: argparse.Namespace) -> AbstractContextManager[Listener | None]:
    """Return what shows progress while the context is open; None with --quiet."""
    if options.quiet:
        return nullcontext()
    if terminal.as_json(options):
        return Lines(_Events())
    return Bars() if sys.stderr.isatty() else Lines(_Text())


def count(listen: Listener | None, what: str, done: int, total: int) -> None:
    """Show that `done` of `total` parts of one job are done."""
    if listen is not None:
        listen(Progress((EvaluatorProgress(what, what, done, total, 0),), message=what))


class Bars:
    """A bar for each evaluator: done of total, failed, elapsed; on standard error, which is a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress as Live, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.table import Column

        self._live = Live(
            SpinnerColumn(finished_text=" "),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=40)),
            BarColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=protected_stream(sys.stderr)),
        )
        self._head = self._live.add_task(f"{STARTING} …", total=None, told="")
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._live.start()
        protect()  # what is printed while the bars stand goes through rich's own streams
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the progress."""
        for entry in progress.evaluators:
            if entry.id not in self._tasks:
                self._tasks[entry.id] = self._live.add_task(
                    escape_controls(one_line(entry.title)), start=False, total=entry.total, told=""
                )
            task = self._tasks[entry.id]
            if entry.done:
                self._live.start_task(task)
            told = f"{entry.done:,}/{entry.total:,}" + (f", {entry.reused:,} reused" if entry.reused else "")
            told += f", {entry.failed:,} failed" if entry.failed else ""
            self._live.update(task, completed=entry.done, total=entry.total, told=told)
        self._live.update(
            self._head, description=escape_controls(_headline(progress)), visible=progress.message not in ENDS
        )


class _Text:
    """Lines of text."""

    def say(self, progress: Progress) -> None:
        """Print a line."""
        done, total, failed, reused = _counts(progress)
        share = "" if progress.message in (STARTING, "sealing", *ENDS) else f" {100 * progress.share:.0f} %"
        told = f": {done:,} of {total:,} done" if total and progress.message != STARTING else ""
        told += f", {reused:,} reused" if reused and progress.message != STARTING else ""
        told += f", {failed:,} failed" if failed else ""
        told += f", {duration(progress.seconds_spent)}" if progress.message in ENDS else ""
        say(f"{_headline(progress, share)}{told}", file=sys.stderr, flush=True)

    def each(self, progress: Progress) -> None:
        """Print nothing for evaluators that are done."""


class _Events:
    """Events in JSON, with one for each evaluator that is done."""

    def __init__(self) -> None:
        self._done: set[str] = set()

    def say(self, progress: Progress) -> None:
        """Print an event."""
        done, total, failed, _ = _counts(progress)
        each = {one.id: {"done": one.done, "total": one.total, "failed": one.failed} for one in progress.evaluators}
        terminal.print_event(
            "progress", message=progress.message, done=done, total=total, failed=failed,
            seconds=round(progress.seconds_spent, 3), seconds_left=progress.seconds_left,
            evaluators=each,
        )  # fmt: skip

    def each(self, progress: Progress) -> None:
        """Print an event for each evaluator that is done since."""
        for one in progress.evaluators:
            if one.total and one.done == one.total and one.id not in self._done:
                self._done.add(one.id)
                terminal.print_event(
                    "evaluator", evaluator=one.id, done=one.done, failed=one.failed,
                    seconds=round(progress.seconds_spent, 3),
                )  # fmt: skip


class Lines:
    """A line at the start, at most one each LINE_EVERY seconds or LINE_SHARE of the whole, and one at the end."""

    def __init__(self, form: _Text | _Events) -> None:
        self._form = form
        self._shown: Progress | None = None
        self._at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End without a line: the last progress had its own."""

    def __call__(self, progress: Progress) -> None:
        """Print a line if it is time."""
        self._form.each(progress)
        before, now = self._shown, time.monotonic()
        if (
            before is None
            or progress.message != before.message
            or now - self._at >= LINE_EVERY
            or int(progress.share / LINE_SHARE) > int(before.share / LINE_SHARE)
        ):
            self._form.say(progress)
            self._shown, self._at = progress, now


def _counts(progress: Progress) -> list[int]:
    return [sum(getattr(one, name) for one in progress.evaluators) for name in ("done", "total", "failed", "reused")]


def _headline(progress: Progress, share: str = "") -> str:
    left = f", about {duration(progress.seconds_left)} left" if progress.seconds_left else ""
    return f"{one_line(progress.message)}{' …' if progress.message == STARTING else share}{left}"
