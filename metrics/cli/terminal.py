"""What a command prints: lines, which nobody else can begin; on standard error, with --log-format json, as objects."""

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import IO, Any

from metrics.core import terminal_escapes
from metrics.core.terminal_escapes import one_line
from metrics.judge.keys import redact


def protect() -> None:
    """Let everything that this process prints from now on be shown as text, without keys on standard error."""
    terminal_escapes.protect(_without_keys)


def say(*lines: object, file: IO[str] | None = None, flush: bool = False) -> None:
    """Print each of these as one line, whatever is in it, on standard output or another stream."""
    for line in lines:
        print(one_line(line), file=file, flush=flush)


def _without_keys(text: str) -> str:
    if text.isspace():
        return text
    return redact(text)


def as_json(options: argparse.Namespace | None) -> bool:
    """Return whether standard error takes JSON."""
    return getattr(options, "log_format", "text") == "json"


def event(options: argparse.Namespace, kind: str, /, **facts: Any) -> None:
    """Print an event as one line of JSON, with the time in UTC; nothing with --quiet or in text."""
    if as_json(options) and not options.quiet:
        print_event(kind, **facts)


def note(options: argparse.Namespace, *texts: str) -> None:
    """Print notes on standard error, each a line or an event; nothing with --quiet."""
    for text in () if options.quiet else texts:
        warn(options, text)


def warn(options: argparse.Namespace | None, text: str) -> None:
    """Print a note that --quiet does not hide."""
    if as_json(options):
        print_event("note", text=text)
    else:
        say(text, file=sys.stderr)


def print_event(kind: str, /, **facts: Any) -> None:
    """Print an event as one line of JSON on standard error."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"event": kind, "time": now} | facts, ensure_ascii=False), file=sys.stderr, flush=True)
