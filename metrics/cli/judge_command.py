"""`judge`: install the local judge."""

import argparse
import sys
from typing import Any

from metrics.judge.local.install import MODEL, install
from metrics.judge.settings import LOCAL


def add_command(commands: Any) -> None:
    """Add `judge` with its action install."""
    command = commands.add_parser("judge", help="the local judge: install")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "install", help=f"download the local judge: {MODEL.name}, {MODEL.size / 1e9:.1f} GB, {MODEL.license}"
    )
    action.add_argument("--quiet", action="store_true", help="print only the result")
    action.set_defaults(command=_install)


def _install(options: argparse.Namespace) -> int:
    def report(done: int, parts: int) -> None:
        if not options.quiet:
            print(f"\r{MODEL.name}: part {done} of {parts}", end="", file=sys.stderr, flush=True)

    file = install(report)
    if not options.quiet:
        print(file=sys.stderr)
    print(f"{file}: sha256 verified; use it with --judge {LOCAL}")
    return 0
