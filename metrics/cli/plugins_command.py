"""`plugins`: lets a project file do more than compute, once it was read."""

import argparse
from contextlib import chdir
from pathlib import Path
from typing import Any

from metrics.cli.run_command import read_evaluations
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.plugin_consent import act_of_code, allow_project
from metrics.core.project_file import project_file, project_plugins, read_project


def add_command(commands: Any) -> None:
    command = commands.add_parser("plugins", help="let a project file run code, use keys, leave its folder: allow")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    words = "let assay.toml of a folder run code, use keys and leave the folder, until it or a file of its code changes"
    action = actions.add_parser("allow", help=words)
    action.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="the folder, or a project file (default: this one)"
    )
    action.set_defaults(command=_allow)


def _allow(options: argparse.Namespace) -> None:
    from metrics.cli.project_acts import acts_of

    folder = Path(options.folder)
    file = folder if folder.suffix == ".toml" else project_file(folder)
    if file is None:
        raise InputError([InputProblem(str(folder), "no project file", "a folder with an assay.toml")])
    evaluations = read_evaluations(file) if read_project(file).get("evaluate") else {}
    acts = [act_of_code(plugin) for plugin in project_plugins(file)]
    with chdir(file.parent):  # what it names is beside it
        acts += [act.text for values in evaluations.values() for act in acts_of(values, Path.cwd())]
    files = allow_project(file, acts)
    for act in dict.fromkeys(acts):
        say(f"allowed: {act}")
    say(f"remembered for {file.resolve()}" + f", until a file changes: {', '.join(map(str, files))}" * bool(files))
