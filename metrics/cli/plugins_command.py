"""`plugins`: lets the code that a project file names run, once it was read."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.plugin_consent import allow_code
from metrics.core.project_file import code_references, project_file


def add_command(commands: Any) -> None:
    command = commands.add_parser("plugins", help="let plugins and programs of a project file run: allow")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    words = "let the code that assay.toml of a folder names run, until one of its files changes"
    action = actions.add_parser("allow", help=words)
    action.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="the folder (default: this one)")
    action.set_defaults(command=_allow)


def _allow(options: argparse.Namespace) -> None:
    folder = Path(options.folder)
    file = project_file(folder if folder.is_dir() else folder.parent)
    if file is None:
        raise InputError([InputProblem(str(folder), "no project file", "a folder with an assay.toml")])
    files = allow_code(file)
    for text in code_references(file):
        say(f"allowed: {text}")
    say(f"remembered for {file.resolve()}" + f", until a file changes: {', '.join(map(str, files))}" * bool(files))
