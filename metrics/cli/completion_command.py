"""`completion`: a script by which a shell completes commands and options."""

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh", "fish")


def add_command(commands: Any) -> None:
    command = commands.add_parser("completion", help="print the completion script of a shell")
    command.add_argument("shell", choices=SHELLS, help="shell that reads the script; docs/install.md says where from")
    command.set_defaults(command=_completion)


def _completion(options: argparse.Namespace) -> None:
    import shtab

    from metrics.cli.main import parser

    whole = parser()
    whole.prog = "assay"
    print(shtab.complete(whole, options.shell))
