"""The options that choose a judge, and the estimate of a dry run."""

import argparse
from pathlib import Path
from typing import Any

from metrics import engine
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.judge.settings import OPTIONS, Budget
from metrics.models import SOURCES
from metrics.store import Workspace

SAMPLING = ("temperature", "max_tokens", *OPTIONS)
BUDGETS = {"usd": float, "calls": int, "tokens": int, "seconds": float}


def add_options(command: argparse.ArgumentParser, estimates: bool = True) -> None:
    """Add the judge's options to a command; --dry-run only where `estimates`."""
    command.add_argument(
        "--judge", metavar="MODEL|local",
        help="judge model as litellm names it, with its key in the environment; or local, the installed local judge",
    )  # fmt: skip
    command.add_argument(
        "--judge-base-url", metavar="URL",
        help="OpenAI-compatible server of the model; its key is OPENAI_API_KEY, any value if the server needs none",
    )  # fmt: skip
    command.add_argument("--judge-concurrency", metavar="N", type=int, help="concurrent requests (default 16)")
    command.add_argument(
        "--judge-budget", metavar="usd=N|calls=N|tokens=N|seconds=N", action="append", default=[],
        help="limit on what the judge may spend, repeatable; what remains beyond it is skipped",
    )  # fmt: skip
    command.add_argument(
        "--judge-option", metavar="NAME=VALUE", action="append", default=[],
        help=f"how the judge replies, repeatable: {', '.join(SAMPLING)}",
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
    given = {
        "base_url": options.judge_base_url,
        "concurrency": options.judge_concurrency,
        "budget": budget_of(options.judge_budget, "--judge-budget").model_dump(exclude_none=True) or None,
        **_options(options.judge_option),
        "replay": None if options.replay is None else str(Path(options.replay).absolute()),
    }
    given = {name: value for name, value in given.items() if value is not None}
    if options.judge is None:
        if given:
            raise InputError(
                [InputProblem("--judge", "no judge, but options for one", "--judge MODEL or --judge local")]
            )
        return None
    return {"model": options.judge, **given}


def _options(texts: list[str]) -> dict[str, str]:
    """Return the sampling that the options give, still as text."""
    found = {name: value for name, _, value in (text.partition("=") for text in texts)}
    problems = [
        InputProblem("--judge-option", repr(text), f"NAME=VALUE, with one of {', '.join(SAMPLING)}")
        for text, name in zip(texts, (text.partition("=")[0] for text in texts), strict=True)
        if name not in SAMPLING or "=" not in text
    ]
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
        print("no judge calls: no judge is chosen, or no evaluator needs one")
        return
    print(found)
    if found.walked < found.cases:
        print(f"estimated from {found.walked} of {found.cases:,} cases")
