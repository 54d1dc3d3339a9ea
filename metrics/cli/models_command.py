"""`models`: the local models that evaluators can use: which are here, and whether they compute what they should."""

import argparse
from typing import Any

from metrics.cli.options import add_parser
from metrics.cli.terminal import say
from metrics.core.errors import InputProblem, one_of, refuse
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = commands.add_parser("models", help="local models that evaluators can use: list, check")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    words = "list each model that evaluators suggest: kind, size, whether it is here, what it serves"
    add_parser(actions, "list", _list, help=words)
    words = "load each model that is here and score texts whose scores are known; exit code 1 if one is wrong"
    action = add_parser(actions, "check", _check, help=words)
    action.add_argument("name", nargs="*", metavar="NAME", help="names of models in the list (default: all)")
    action.add_argument("--download", action="store_true", help="from the hub, where one is not on this machine")


def _list(_: argparse.Namespace) -> None:
    from metrics.library.known_models import GET, KNOWN

    for model in KNOWN:
        say(f"{model.title}, {model.kind.replace('_', ' ')}, {model.size}: {model.missing or 'here'}")
        say(f"  for {', '.join(entry.id for entry in model.serves)}")
    say(f"{GET} gets one from the hub; so does a run that names it")


def _check(options: argparse.Namespace) -> int:
    from metrics.library.known_models import KNOWN, check_model

    known = {model.title for model in KNOWN}
    refuse(InputProblem("NAME", repr(name), one_of(name, known)) for name in options.name if name not in known)
    wrong = False
    for model in KNOWN:
        if options.name and model.title not in options.name:
            continue
        ok, words = check_model(model, Workspace(options.workspace).path / "cache", download=options.download)
        wrong |= ok is False
        verdict = {True: "ok", False: "FAILED", None: "absent"}[ok]
        say(f"{model.title}, {model.kind.replace('_', ' ')}: {verdict}: {words}")
    return int(wrong)
