"""How a command fails: what it prints, and its exit code."""

import argparse
import os
import sys
import traceback
from contextlib import suppress
from tempfile import mkstemp

from metrics.cli import log_lines
from metrics.cli.terminal import say
from metrics.core.errors import AssayError, InputError, StorageError, describe_failure, storage_error
from metrics.core.input_problems import count_words, grouped
from metrics.core.terminal_escapes import escape_controls

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
    from metrics.library.file_options import with_answers

    failure = with_answers(failure, "command") if isinstance(failure, InputError) else failure
    problems = failure.problems if isinstance(failure, InputError) else ()
    if log_lines.as_json(options):
        log_lines.print_event("error", text=str(failure), problems=[problem.as_row() for problem in problems])
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
    if log_lines.as_json(options):
        log_lines.print_event("error", text=text, problems=[], traceback=trace)
        return
    place = _kept(trace) if sys.stderr.isatty() else None
    if place is None:
        say(*(f"  {line}" for line in trace.split("\n") if line), file=sys.stderr)
    say(text + (f"; traceback: {place}" if place else ""), file=sys.stderr)


def _kept(trace: str) -> str | None:
    """Return the file, readable by its owner alone, in which a traceback is; None where the disk refuses it."""
    from metrics.judge.keys import redact  # on use: most commands do not fail

    with suppress(OSError):
        number, place = mkstemp(prefix="assay-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(escape_controls(redact(trace)))
        return place
    return None
