"""`studio`: the studio in a browser, served from this machine."""

import argparse
import os
import sys
from typing import Any, NoReturn

from metrics.cli.options import add_workspace
from metrics.core.errors import MissingResource
from metrics.core.extras import missing_extra
from metrics.core.places import APP, own_environment, python_module
from metrics.store import Workspace

PORT = 8501


def add_command(commands: Any) -> None:
    """Add `studio`."""
    command = commands.add_parser("studio", help="start the studio; it prints its address")
    add_workspace(command)
    command.add_argument("--port", type=int, default=PORT, help=f"port to listen on (default {PORT})")
    command.add_argument(
        "--address", default="127.0.0.1",
        help="address to listen on (default 127.0.0.1: this machine only); whoever reaches it sees every run",
    )  # fmt: skip
    command.set_defaults(command=_studio)


def _studio(options: argparse.Namespace) -> NoReturn:
    """Become the studio's server: this process ends when the server does, with its exit code."""
    if reason := missing_extra("the studio", "studio", "streamlit", "plotly", "scipy"):
        raise MissingResource(reason)
    environment = own_environment()
    if options.workspace:
        environment["ASSAY_WORKSPACE"] = str(Workspace(options.workspace).path)
    place = ["--server.address", options.address, "--server.port", str(options.port)]
    sys.stdout.flush()
    os.execve(sys.executable, python_module("streamlit", "run", str(APP), *place), environment)  # noqa: S606 - no shell
