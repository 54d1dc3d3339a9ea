"""`judge`: install the local judge, list the models that can judge, check what sways a judge, compare answers."""

import argparse
import shlex
import sys
from functools import partial
from typing import Any

from metrics.cli.judge_bias_command import add_bias_action
from metrics.cli.judge_preferences_command import add_preferences_action
from metrics.cli.options import add_parser
from metrics.cli.progress_view import count, follow
from metrics.cli.terminal import say
from metrics.judge.local.gguf_files import model_folders, own_models
from metrics.judge.local.install import LOCAL, MODEL, install, missing_local_model
from metrics.presentation.format import size_text
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = commands.add_parser(
        "judge",
        help="install the local judge, list the models of this machine, check what sways a judge: bias; let a judge "
        "compare answers: preferences",
    )
    actions = command.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "install", help=f"download the local judge: {MODEL.name}, {MODEL.size / 1e9:.1f} GB, {MODEL.license}"
    )
    action.add_argument("--quiet", action="store_true", help="print only the result")
    action.set_defaults(command=_install)
    action = add_parser(
        actions, "list", _list, help="list the local judge and the GGUF files of this machine, with the options to use"
    )
    action.add_argument(
        "--servers",
        action="store_true",
        help="also ask the usual ports of this machine (Ollama, llama.cpp, LM Studio, vLLM) for their models",
    )
    add_bias_action(actions)
    add_preferences_action(actions)


def _install(options: argparse.Namespace) -> None:
    with follow(options) as listen:
        file = install(partial(count, listen, MODEL.name))
    say(f"{file}: sha256 verified; use it with --judge {LOCAL}")


def _list(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace).path
    missing = missing_local_model(LOCAL)
    say(f"local judge, {MODEL.name}: {missing or 'installed'}")
    if missing is None:
        say(f"  --judge {LOCAL}")
    found = own_models(workspace)
    for one in found:
        say(f"{one.name}, {size_text(one.size)}, {one.place}")
        say(f"  --judge {shlex.quote(one.model)}")
    if not found and not options.quiet:
        searched = [f"  {path}" for _, path in model_folders(workspace)]
        say("no other GGUF file found; searched:", *searched, file=sys.stderr)
    if options.servers:
        _list_servers(options.quiet)
    elif not options.quiet:
        say("servers of this machine: --servers looks for them", file=sys.stderr)


def _list_servers(quiet: bool) -> None:
    from metrics.judge.local.model_servers import USUAL, running_servers

    servers = running_servers()
    for server in servers:
        said = "asks for a key: set OPENAI_API_KEY" if server.locked else "" if server.models else "has no model"
        say(f"{server.name}, {server.base_url}" + (f": {said}" if said else ""))
        for model in server.models:
            say(f"  --judge {shlex.quote(model)} --judge-base-url {server.base_url}")
    if not servers and not quiet:
        asked = ", ".join(f"{name} {port}" for name, port in USUAL.items())
        say(f"no server answers on the usual ports ({asked})", file=sys.stderr)
