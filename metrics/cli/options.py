"""Options and arguments that several subcommands share."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.cli.flags import add_flags
from metrics.core.files import write_export
from metrics.engine.evaluation import CommandFields
from metrics.engine.evaluation_fields import names_of as names_of, pairs as pairs
from metrics.store import Run, Workspace
from metrics.store.table_files import EXPORT_FORMATS


def add_parser(
    commands: Any, name: str, execute: Callable[[argparse.Namespace], int | None], *, of_run: bool = False, **words: Any
) -> argparse.ArgumentParser:
    """Add a command that uses a workspace, and so has --workspace and --quiet; `of_run`: with the argument RUN."""
    command: argparse.ArgumentParser = commands.add_parser(name, **words)
    if of_run:
        command.add_argument("run", metavar="RUN", help="id of a run, or latest")
    add_flags(command, CommandFields)
    command.set_defaults(command=execute)
    return command


def add_mapping(command: argparse.ArgumentParser, source: str = "COLUMN") -> None:
    """Add --map of a command that reads one table."""
    command.add_argument(
        "--map", metavar=f"CANONICAL={source}", action="append", default=[],
        help=f"{source.lower()} that holds a canonical field, repeatable",
    )  # fmt: skip


def add_table_output(command: argparse.ArgumentParser, default: str | None) -> None:
    """Add --format and --output of a command that writes a table; `default` None: json, left open."""
    command.add_argument(
        "--format", choices=EXPORT_FORMATS, default=default, help=f"file format (default {default or 'json'})"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="file to write (default: standard output)")


def write_output(content: bytes, file: str | None) -> None:
    """Write bytes to a file, or to standard output where none is given; a terminal shows their control characters."""
    if file:
        write_export(Path(file), content)
    elif sys.stdout.isatty():
        sys.stdout.write(content.decode(errors="replace"))
    else:
        sys.stdout.buffer.write(content)


def run_of(options: argparse.Namespace, finished: bool = False) -> Run:
    """Return the run that RUN names; RunError where it is absent or, if asked for, not finished."""
    return Workspace(options.workspace).run(options.run, finished=finished)
