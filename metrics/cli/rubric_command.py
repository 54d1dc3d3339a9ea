"""`rubric`: list the rubrics of the workspace, show or export one, save one from a file."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.rounding import exact_sum
from metrics.judge.rubrics import ENDINGS, USUAL_RUBRIC, Rubric, named_rubric, rubric_text
from metrics.judge.saved_objects import every, save
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = add_parser(
        commands,
        "rubric",
        _rubric,
        help="list, show, export or save rubrics of evaluator rubric",
        description="Without NAME, list the workspace's rubrics. With it, print one as YAML, or write it to a file.",
    )
    command.add_argument(
        "name", metavar="NAME|FILE", nargs="?", help="usual, a rubric saved in the workspace, or a .json or .yaml file"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="file to write, .json or .yaml")
    command.add_argument("--save", action="store_true", help="save the rubric of FILE in the workspace")


def _rubric(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace).path
    if options.name is None:
        for one in (USUAL_RUBRIC, *every(workspace, Rubric)):
            say(f"{one.id}  {one.title}, version {one.version}: {_shares(one)}")
        return
    found = named_rubric(workspace, options.name, files=True)
    if options.save:
        found = save(workspace, found)
        say(f"{found.id}, version {found.version}")
    elif options.output:
        ending = Path(options.output).suffix
        if ending not in ENDINGS:
            expected = f"a file name ending in {', '.join(ENDINGS)}"
            raise InputError([InputProblem("--output", repr(options.output), expected)])
        write_output(rubric_text(found, ending).encode(), options.output)
    else:
        print(rubric_text(found, ".yaml"), end="")


def _shares(rubric: Rubric) -> str:
    whole = exact_sum(one.weight for one in rubric.dimensions)
    return ", ".join(f"{one.name} {one.weight / whole:.0%}" for one in rubric.dimensions)
