"""The options that choose a judge, and the estimate of a dry run."""

import argparse
import re
from pathlib import Path
from typing import Any, get_args

from metrics import engine
from metrics.cli import rag_config
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.judge.keys import KEY, let_go
from metrics.judge.local.install import LOCAL
from metrics.judge.settings import OPTIONS, Budget, Combine
from metrics.models import SOURCES
from metrics.presentation.judge_time import time_text
from metrics.store import Workspace

SAMPLING = ("temperature", "max_tokens", "window", "examples", *OPTIONS, "probabilities")
SERVER = re.compile(r"(.+?)@(https?://.+)")  # MODEL@URL; a model's own name may contain an @
OPTION = re.compile(r"(\d+):")  # the number of the judge that an option is for
BUDGETS = {"usd": float, "calls": int, "tokens": int, "seconds": float}


def add_options(command: argparse.ArgumentParser, estimates: bool = True) -> None:
    """Add the judge's options to a command; --dry-run only where `estimates`."""
    command.add_argument(
        "--judge", metavar="MODEL[@URL]|local", action="append", default=[],
        help="judge model as litellm names it, with its key in the environment; MODEL@URL, a model of an "
        "OpenAI-compatible server; or local, the installed local judge. Repeatable: a panel, each of which judges "
        "every case",
    )  # fmt: skip
    command.add_argument(
        "--judge-base-url", metavar="URL",
        help="OpenAI-compatible server of every judge named without one; its key is OPENAI_API_KEY, any value if the "
        "server needs none",
    )  # fmt: skip
    command.add_argument(
        "--judge-repeats", metavar="N", type=int,
        help="ask every question N times, which needs a temperature above 0, and combine the draws as a panel's scores",
    )  # fmt: skip
    command.add_argument(
        "--panel", choices=get_args(Combine),
        help="one score from several judges or draws: majority of yes or no and the mean of the rest (default), or the "
        "mean of all",
    )  # fmt: skip
    command.add_argument("--judge-concurrency", metavar="N", type=int, help="concurrent requests (default 16)")
    command.add_argument(
        "--judge-budget", metavar="usd=N|calls=N|tokens=N|seconds=N", action="append", default=[],
        help="limit on what the judge may spend, repeatable; what remains beyond it is skipped",
    )  # fmt: skip
    command.add_argument(
        "--judge-option", metavar="NAME=VALUE", action="append", default=[],
        help=f"how the judge replies, repeatable: {', '.join(SAMPLING)}; 2:NAME=VALUE for the second judge only",
    )  # fmt: skip
    if estimates:
        command.add_argument(
            "--dry-run", action="store_true",
            help="only estimate what judge and targets would cost, and how much of it is recorded already",
        )  # fmt: skip
    command.add_argument(
        "--replay",
        metavar="CACHE",
        help="use only the replies of an exported cache, offline; a missing one is an error",
    )


def resources(options: argparse.Namespace) -> dict[str, Any]:
    """Return the local models and the judge that the options choose, by resource. InputError as of `settings`."""
    models = {name: value for name in SOURCES if (value := getattr(options, name))}
    judge = settings(options)
    return models | ({"judge": judge} if judge else {})


def settings(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the judge's settings that the options give; None where no judge is named. InputError."""
    every = {"concurrency": options.judge_concurrency, "repeats": options.judge_repeats}
    common = {
        "budget": budget_of(options.judge_budget, "--judge-budget").model_dump(exclude_none=True) or None,
        "replay": None if options.replay is None else str(Path(options.replay).absolute()),
        "combine": options.panel,
    }
    every, common = ({name: value for name, value in own.items() if value is not None} for own in (every, common))
    if not options.judge:
        if every or common or options.judge_option or options.judge_base_url:
            raise InputError(
                [InputProblem("--judge", "no judge, but options for one", "--judge MODEL or --judge local")]
            )
        return None
    sampling = _options(options.judge_option, len(options.judge))
    first, *others = (
        {**every, **own, **_named(text, options.judge_base_url)}
        for text, own in zip(options.judge, sampling, strict=True)
    )
    for judge in others:  # one draw of the local judge is as good as several
        if judge["model"].partition(":")[0] == LOCAL:
            judge.pop("repeats", None)
    for judge in (first, *others):
        if (address := judge.get("base_url")) and not _of_config(options, address):
            let_go(KEY, address)  # who typed it wants it
    return first | common | ({"panel": others} if others else {})


def _of_config(options: argparse.Namespace, address: str) -> bool:
    """Return whether a judge's address comes from the file of --config, which may be somebody else's."""
    config: str | None = getattr(options, "config", None)
    return config is not None and address in rag_config.read(Path(config)).arguments


def _named(text: str, base_url: str | None) -> dict[str, Any]:
    """Return the model, and its server where it has one, that MODEL or MODEL@URL names."""
    named = SERVER.fullmatch(text)
    model, address = named.groups() if named else (text, base_url)
    local = model.partition(":")[0] == LOCAL
    return {"model": model} | ({"base_url": address} if address and not local else {})


def _options(texts: list[str], judges: int) -> list[dict[str, str]]:
    """Return the sampling that the options give to each judge, still as text."""
    found: list[dict[str, str]] = [{} for _ in range(judges)]
    problems = []
    for text in sorted(texts, key=lambda text: OPTION.match(text) is not None):  # those for one judge come last
        for_one = OPTION.match(text)
        name, equals, value = text[for_one.end() if for_one else 0 :].partition("=")
        number = int(for_one[1]) if for_one else None
        if name not in SAMPLING or not equals:
            expected = f"NAME=VALUE or 2:NAME=VALUE, with one of {', '.join(SAMPLING)}"
            problems.append(InputProblem("--judge-option", repr(text), expected))
        elif number is not None and not 1 <= number <= judges:
            problems.append(InputProblem("--judge-option", repr(text), f"the number of a judge, 1 to {judges}"))
        else:
            for own in found if number is None else [found[number - 1]]:
                own[name] = value
    if problems:
        raise InputError(problems)
    return found


def budget_of(texts: list[str], option: str) -> Budget:
    """Return the budget in texts such as calls=100. Raises InputError listing those that are none."""
    found: dict[str, float] = {}
    problems = []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = BUDGETS[name](value)
            Budget.model_validate({name: found[name]})
        except (KeyError, ValueError):
            problems.append(InputProblem(option, repr(text), "usd=N, calls=N, tokens=N or seconds=N"))
    if problems:
        raise InputError(problems)
    return Budget.model_validate(found)


def print_estimate(
    suite: Suite, outputs: Outputs, evaluators: list[str], parameters: dict[str, dict[str, Any]],
    resources: dict[str, Any], workspace: Workspace,
) -> None:  # fmt: skip
    """Print how many calls, tokens and dollars the judge would take."""
    found = engine.estimate(suite, outputs, evaluators, parameters, resources, workspace.path)
    if found is None:
        say("no judge calls: no judge is chosen, or no evaluator needs one")
        return
    print_found(found)
    if found.walked < found.cases:
        say(f"estimated from {found.walked} of {found.cases:,} cases")


def print_found(found: engine.Estimate) -> None:
    """Print an estimate, and the time that its judges take."""
    say(found)
    if found.local:
        say(time_text(found.local))
    if found.hosted:
        say(time_text(found.hosted, "the judge"))
