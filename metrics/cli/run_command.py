"""`run`: the evaluations of a project file, assay.toml."""

import argparse
import json
import shlex
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

from metrics.cli.failures import told
from metrics.cli.flags import arguments_of
from metrics.cli.options import add_parser
from metrics.cli.plugin_options import load_plugins
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.project_file import project_file


def add_command(commands: Any) -> None:
    command = add_parser(commands, "run", _run, help="run the evaluations of assay.toml, with their gates and reports")
    command.add_argument(
        "names", metavar="[FILE] NAME", nargs="*",
        help="a project file (default: assay.toml, else pyproject.toml), and the evaluations to run (default: all)",
    )  # fmt: skip
    command.add_argument("--dry-run", action="store_true", help="only estimate what the judges would cost")
    command.add_argument("--check", action="store_true", help="only read the file and print its commands")
    command.add_argument("--schema", action="store_true", help="only print the JSON schema of such a file")


def _run(options: argparse.Namespace) -> int:
    from metrics.cli.evaluate_command import evaluate
    from metrics.cli.project_model import evaluation_in, read_evaluations, schema

    if options.schema:
        print(json.dumps(schema(), indent=1, ensure_ascii=False))
        return 0
    file, names = _file(options.names)
    evaluations = read_evaluations(file)
    unknown = [
        InputProblem(str(file), repr(name), f"one of {', '.join(evaluations)}")
        for name in names
        if name not in evaluations
    ]
    if unknown:
        raise InputError(unknown)
    more: dict[str, Any] = {name: True for name in ("quiet", "dry_run") if getattr(options, name)}
    more |= {"workspace": str(Path(options.workspace).absolute())} if options.workspace else {}
    codes = [0]
    with chdir(file.parent):  # what it names is beside it
        # all are read before the first begins
        chosen = {
            name: {**given, **more}  # flags win over the file
            for name, given in evaluations.items()
            if name in (names or evaluations)
        }
        asked = {name: evaluation_in(values) for name, values in chosen.items()}
        for name, evaluation in asked.items():
            if options.check:
                say(shlex.join(arguments_of(chosen[name])))
                continue
            if not options.quiet:
                say(f"evaluation {name}", file=sys.stderr)
            try:
                load_plugins(evaluation.plugin)
                codes.append(evaluate(evaluation))
            except Exception as failure:  # the others run all the same
                codes.append(told(failure, argparse.Namespace(**dict(evaluation))))
    return max(codes)


def _file(given: list[str]) -> tuple[Path, list[str]]:
    """Return the project file and the names of evaluations; InputError without a file."""
    if given and given[0].endswith(".toml"):
        return Path(given[0]).resolve(), given[1:]
    found = project_file(Path.cwd())
    if found is None:
        raise InputError(
            [InputProblem("run", f"no assay.toml in {Path.cwd()}", "assay.toml here, or the name of a .toml file")]
        )
    return found, given
