"""How a command ends early: what a failure prints, what stops it, and the exit code of each."""

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import mkstemp
from types import FrameType
from typing import Never

from metrics.cli import terminal
from metrics.cli.terminal import say
from metrics.core.errors import AssayError, InputError, StorageError, describe_failure, storage_error
from metrics.core.input_problems import count_words, grouped
from metrics.core.terminal_escapes import escape_controls
from metrics.judge.keys import redact
from metrics.library.file_options import with_answers

BAD_INPUT, STORAGE, INTERNAL = 2, 4, 5


def told(failure: Exception, options: argparse.Namespace | None) -> int:
    """Print a failure and return its exit code; one that has no words for the user is a fault of Assay."""
    words = failure if isinstance(failure, AssayError) else storage_error(failure)
    with suppress(OSError):  # standard error may be on the disk that is full; the exit code still tells
        if words is not None:
            _print_problems(words, options)
        else:
            _print_internal(failure, options)
    return INTERNAL if words is None else STORAGE if isinstance(words, StorageError) else BAD_INPUT


def _print_problems(failure: AssayError, options: argparse.Namespace | None) -> None:
    """Print an error on standard error: its problems in groups, or one by one with --all-problems."""
    failure = with_answers(failure, "command") if isinstance(failure, InputError) else failure
    problems = failure.problems if isinstance(failure, InputError) else ()
    if terminal.as_json(options):
        terminal.print_event("error", text=str(failure), problems=[problem.as_row() for problem in problems])
        return
    every = getattr(options, "all_problems", None)
    say(*(problems if every and problems else failure.args), file=sys.stderr)
    if every is False and len(grouped(problems)) < len(problems):
        say(f"{count_words(problems)}; --all-problems prints each row", file=sys.stderr)
    of_rows = bool(problems) and all(each.row is not None and not each.fatal for each in problems)
    if of_rows and getattr(options, "keep_good_rows", None) is False:
        say("--keep-good-rows skips these rows and takes the good ones", file=sys.stderr)


def _print_internal(failure: Exception, options: argparse.Namespace | None) -> None:
    """Print a fault of Assay in one line; the traceback goes to a file, or stands indented before it in a log."""
    text = f"internal error, please report it: {describe_failure(failure)}"
    trace = "".join(traceback.format_exception(failure))
    if terminal.as_json(options):
        terminal.print_event("error", text=text, problems=[], traceback=trace)
        return
    place = _kept(trace) if sys.stderr.isatty() else None
    if place is None:
        say(*(f"  {line}" for line in trace.split("\n") if line), file=sys.stderr)
    say(text + (f"; traceback: {place}" if place else ""), file=sys.stderr)


def _kept(trace: str) -> str | None:
    """Return the file, readable by its owner alone, in which a traceback is; None where the disk refuses it."""
    with suppress(OSError):
        number, place = mkstemp(prefix="assay-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(escape_controls(redact(trace)))
        return place
    return None


class Terminated(KeyboardInterrupt):
    """SIGTERM came: whoever handles Ctrl-C handles it, too."""


def exit_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a stopped command, as shells number it: 128 and the signal."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


@contextmanager
def stopping() -> Iterator[None]:
    """Raise Terminated inside when SIGTERM comes; only the first counts, so that nothing breaks off the ending."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(_number: int, _frame: FrameType | None) -> Never:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
