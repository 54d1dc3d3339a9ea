"""`completion`: a script by which a shell completes commands and options."""

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh", "fish")


def add_command(commands: Any, whole: argparse.ArgumentParser) -> None:
    command = commands.add_parser("completion", help="print the completion script of a shell")
    command.add_argument("shell", choices=SHELLS, help="shell that reads the script; docs/install.md says where from")
    command.set_defaults(command=lambda options: _completion(options.shell, whole))


def _completion(shell: str, parser: argparse.ArgumentParser) -> None:
    import shtab

    parser.prog = "assay"
    print(shtab.complete(parser, shell))
