"""Options of commands: those made from the fields of an evaluation, and those that several subcommands share."""

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from metrics.analysis.boards.board import open_run
from metrics.core.errors import InputError, InputProblem, for_each
from metrics.core.files import write_export
from metrics.core.plugins import load_reference
from metrics.core.registry import add_plugin
from metrics.core.terminal_escapes import is_looked_at
from metrics.engine.evaluation import CommandFields, Evaluation
from metrics.engine.evaluation_fields import (
    Fields,
    Shape,
    choices_of,
    flag_of,
    names_of as names_of,
    option_of,
    pairs as pairs,
    shape_of,
    texts_of,
)
from metrics.store import Run, Workspace
from metrics.store.origin import FLAG
from metrics.store.table_files import EXPORT_FORMATS

KINDS = {Shape.WHOLE: int, Shape.NUMBER: float}
REPEATED = (Shape.TEXTS, Shape.PAIRS, Shape.PARAMETERS)


def add_flags(command: argparse.ArgumentParser, *groups: type[Fields], without: Collection[str] = ()) -> None:
    """Add a flag, or an argument, for each field of some groups of fields."""
    for group in groups:
        for name, field in group.model_fields.items():
            if name not in without:
                command.add_argument(*[name if option_of(field).positional else flag_of(name)], **_facts(field))


def arguments_of(values: Mapping[str, Any]) -> list[str]:
    """Return values of fields, as a project file has them, as arguments of the command `evaluate`."""
    flags: list[str] = []
    places: list[str] = []
    for name, field in Evaluation.model_fields.items():
        value = values.get(name)
        if value is None or value is False:
            continue
        if option_of(field).positional:
            places += texts_of(value)
        elif value is True:
            flags.append(flag_of(name))
        else:
            flags += [flag_of(name) + (f"={text}" if text else "") for text in _flag_texts(field, value)]
    return ["evaluate", *flags, *(["--", *places] if places else [])]


def _flag_texts(field: FieldInfo, value: Any) -> Iterator[str]:
    """Yield the text of each flag that together say a field's value."""
    shape = shape_of(field)
    if shape in REPEATED:
        yield from texts_of(value, as_json=shape is Shape.PARAMETERS)
    elif shape in (Shape.NAMES, Shape.SOME):
        yield ",".join(texts_of(value))
    else:
        yield str(value)


def _facts(field: FieldInfo) -> dict[str, Any]:
    shape, option = shape_of(field), option_of(field)
    facts: dict[str, Any] = {"help": (field.description or "").replace("%", "%%")}
    if shape is Shape.SWITCH:
        return facts | {"action": "store_true"}
    if shape is Shape.CHOICE:
        return facts | {"choices": choices_of(field), "default": field.default}
    if option.metavar:
        facts["metavar"] = option.metavar
    if option.positional:
        return facts | ({"nargs": "*", "default": ()} if shape is Shape.TEXTS else {})
    if shape in REPEATED:
        return facts | {"action": "append", "default": []}
    if shape is Shape.SOME:
        return facts | {"nargs": "*"}
    return facts | {"default": field.default} | ({"type": KINDS[shape]} if shape in KINDS else {})


def add_parser(
    commands: Any, name: str, execute: Callable[[argparse.Namespace], int | None], *, of_run: bool = False,
    of_board: bool = False, **words: Any,
) -> argparse.ArgumentParser:  # fmt: skip
    """Add a command that uses a workspace, and so has --workspace and --quiet; `of_run`: with the argument RUN;
    `of_board`: with one that may be a board's address, too.
    """
    command: argparse.ArgumentParser = commands.add_parser(name, **words)
    if of_run or of_board:
        words_of_board = ", or board[:SUITE]: all models of a suite" if of_board else ""
        command.add_argument("run", metavar="RUN", help=f"id of a run, or latest{words_of_board}")
    add_flags(command, CommandFields)
    command.set_defaults(command=execute, **({"of_board": True} if of_board else {}))
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
    """Write bytes to a file, or to standard output where none is given; a terminal or a log of CI shows them as text.

    InputError where what is to be shown is no text.
    """
    if file:
        write_export(Path(file), content)
    elif is_looked_at(sys.stdout):
        try:
            sys.stdout.write(content.decode())
        except UnicodeDecodeError:
            problem = InputProblem("standard output", "a terminal or the log of a CI runner", "-o FILE for this format")
            raise InputError([problem]) from None
    else:
        sys.stdout.buffer.write(content)


def add_allow_code(command: argparse.ArgumentParser) -> None:
    """Add the flag by which a run that came from elsewhere may do more than compute; see store.origin."""
    words = "let a run that was not made here run code that models wrote, load plugins and models, and ask its judge"
    command.add_argument(FLAG, action="store_true", help=f"{words}, as it says")


def run_of(options: argparse.Namespace, finished: bool = False) -> Run:
    """Return the run that RUN names, or the board; RunError where it is absent or, if asked for, not finished."""
    workspace = Workspace(options.workspace)
    return (open_run if "of_board" in options else Workspace.run)(workspace, options.run, finished)


def load_plugins(references: Sequence[str]) -> list[str]:
    """Load and register the evaluators of --plugin and return their ids. InputError with each that cannot be."""
    return for_each(references, lambda reference: add_plugin(load_reference(reference, Path())))
