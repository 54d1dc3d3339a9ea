"""`studio`: the studio in a browser, served from this machine."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from metrics.cli.options import add_flags
from metrics.core.errors import InputError, MissingResource
from metrics.core.installation import APP, STARTED_IN, STUDIO, missing_extra, own_environment, python_module
from metrics.core.processes import allow_open_files, is_loopback
from metrics.engine.evaluation import CommandFields
from metrics.store import Workspace
from metrics.store.team_file import read_team

PORT = 8501


def add_command(commands: Any) -> None:
    command = commands.add_parser("studio", help="start the studio; it prints its address")
    add_flags(command, CommandFields, without=("quiet",))
    command.add_argument("--port", type=int, default=PORT, help=f"port to listen on (default {PORT})")
    command.add_argument(
        "--address",
        default="127.0.0.1",
        help="address to listen on (default 127.0.0.1: this machine only); any other takes --team",
    )
    command.add_argument(
        "--team", type=Path, metavar="FILE", default=os.environ.get("ASSAY_TEAM"),
        help="people sign in (OpenID Connect): a TOML file with [auth] and [team], see docs/team.md; "
        "default $ASSAY_TEAM",
    )  # fmt: skip
    command.add_argument(
        "--without-sign-in",
        action="store_true",
        help="listen on any address without --team: whoever has the token sees and changes every run",
    )
    command.add_argument(
        "--allow-host", action="append", metavar="NAME", default=[],
        help="a further name that the studio is reached by, such as that of a proxy; repeatable, "
        "beside those of $ASSAY_ALLOW_HOST",
    )  # fmt: skip
    command.add_argument(
        "--no-token",
        action="store_true",
        help="let in who has no token, where something else decides who gets there; without it each start makes a "
        "token, or takes $ASSAY_TOKEN",
    )
    command.set_defaults(command=_studio)


def _studio(options: argparse.Namespace) -> NoReturn:
    """Become the studio's server: this process ends when the server does, with its exit code."""
    if reason := missing_extra("the studio", "studio", "streamlit", "plotly", "scipy"):
        raise MissingResource(reason)
    environment = own_environment()
    secrets = options.team.absolute() if options.team else Path.home() / ".streamlit" / "secrets.toml"
    place = ["--server.address", options.address, "--server.port", str(options.port), "--secrets.files", str(secrets)]
    if options.team:
        if reason := missing_extra("signing in", "auth", "authlib"):
            raise MissingResource(reason)
        team = read_team(options.team)
        if team.group_claim and Workspace(options.workspace).url:
            raise InputError("the groups of --team need a workspace on this machine, in which each has its own")
    elif options.without_sign_in:
        environment["ASSAY_WITHOUT_SIGN_IN"] = "1"
    elif not is_loopback(options.address):
        raise InputError(
            f"--address {options.address} is reached from other machines: say who may sign in with --team FILE, or "
            "--without-sign-in where everybody who has the token may do everything"
        )
    if options.no_token:
        environment["ASSAY_NO_TOKEN"] = "1"  # noqa: S105 - a switch
    named = [environment.get("ASSAY_ALLOW_HOST", ""), *options.allow_host]
    environment["ASSAY_ALLOW_HOST"] = ",".join(filter(None, named))
    if options.workspace:
        environment["ASSAY_WORKSPACE"] = str(Workspace(options.workspace).path)
    environment[STARTED_IN] = os.getcwd()
    os.chdir(STUDIO)  # Streamlit takes settings, secrets and variables from .streamlit where it starts: ours alone
    allow_open_files()
    sys.stdout.flush()
    os.execve(sys.executable, python_module("streamlit", "run", str(APP), *place), environment)  # noqa: S606 - no shell
