"""What a command says on standard error while it works: lines for people or, with --log-format json, objects."""

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

from metrics.cli.terminal import say


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
