"""The command line's judge: its options for `evaluate`, the estimate of a dry run, `cache` and `judge`."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metrics import engine
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.judge.cache import Cache
from metrics.judge.local.install import MODEL, install
from metrics.judge.opening import FOLDER
from metrics.judge.settings import LOCAL
from metrics.store import Workspace

BUDGETS = {"usd": float, "calls": int, "tokens": int, "seconds": float}


def add_options(command: argparse.ArgumentParser, estimates: bool = True) -> None:
    """Add the judge's options to a command; --dry-run to one that can tell the cost before."""
    command.add_argument(
        "--judge",
        metavar="MODEL|local",
        help="who judges: a model as litellm names it, its key in the environment; or local, the installed local judge",
    )
    command.add_argument(
        "--judge-base-url",
        metavar="URL",
        help="OpenAI-compatible server that has the model; its key is OPENAI_API_KEY, any value where it asks for none",
    )
    command.add_argument("--judge-concurrency", metavar="N", type=int, help="requests in flight at once (default 16)")
    command.add_argument(
        "--judge-budget",
        metavar="usd=N|calls=N|tokens=N",
        action="append",
        default=[],
        help="most that may be spent on judging, repeatable; what is left then is skipped",
    )
    if estimates:
        command.add_argument(
            "--dry-run",
            action="store_true",
            help="only estimate what the judge would cost, and what the cache has already",
        )
    command.add_argument(
        "--replay", metavar="CACHE", help="answer from an exported cache alone, offline; a reply it lacks is an error"
    )


def setting(options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the judge's settings that the options make; None where no judge is named. InputError."""
    given = {
        "base_url": options.judge_base_url,
        "concurrency": options.judge_concurrency,
        "budget": _budget(options.judge_budget) or None,
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


def _budget(texts: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    problems = []
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = BUDGETS[name](value)
        except (KeyError, ValueError):
            problems.append(InputProblem("--judge-budget", repr(text), "usd=N, calls=N, tokens=N or seconds=N"))
    if problems:
        raise InputError(problems)
    return found


def print_estimate(
    suite: Suite,
    outputs: Outputs,
    evaluators: list[str],
    parameters: dict[str, dict[str, Any]],
    resources: dict[str, Any],
    workspace: Workspace,
) -> None:
    """What the judge would be asked, on standard output."""
    found = engine.estimate(suite, outputs, evaluators, parameters, resources, workspace.path)
    if found is None:
        print("no judge would be asked: none is chosen, or no evaluator needs one")
        return
    print(found)
    if found.walked < found.cases:
        print(f"estimated from {found.walked} of {found.cases:,} cases")


def add_cache_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add `cache` with its subcommands."""
    command = commands.add_parser("cache", help="the judge's replies: stats, clear, export, import")
    actions = command.add_subparsers(required=True, metavar="ACTION")

    action = actions.add_parser("stats", parents=[common], help="how many replies, how big, what they have spared")
    action.set_defaults(command=_stats)
    action = actions.add_parser("clear", parents=[common], help="remove replies: all, or those that fit every option")
    action.add_argument("--judge", metavar="NAME", help="replies of that judge")
    action.add_argument("--step", metavar="ID", help="replies to that prompt")
    action.add_argument("--older-than", metavar="DAYS", type=float, help="replies older than so many days")
    action.set_defaults(command=_clear)
    action = actions.add_parser("export", parents=[common], help="write replies to one file, for import or --replay")
    action.add_argument("file", metavar="FILE", help="file to write, JSON lines; gzipped if it ends in .gz")
    action.add_argument("--run", metavar="RUN", help="only the replies that this finished run rests on")
    action.set_defaults(command=_export)
    action = actions.add_parser("import", parents=[common], help="add the replies of an exported file")
    action.add_argument("file", metavar="FILE", help="an exported cache")
    action.set_defaults(command=_import)


def add_judge_command(commands: Any) -> None:
    """Add `judge` with its subcommands."""
    command = commands.add_parser("judge", help="the local judge: install")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "install", help=f"get the local judge once: {MODEL.name}, {MODEL.size / 1e9:.1f} GB, {MODEL.license}"
    )
    action.add_argument("--quiet", action="store_true", help="print the result only")
    action.set_defaults(command=_install)


def _install(options: argparse.Namespace) -> int:
    def say(done: int, parts: int) -> None:
        if not options.quiet:
            print(f"\r{MODEL.name}: part {done} of {parts}", end="", file=sys.stderr, flush=True)

    file = install(say)
    if not options.quiet:
        print(file=sys.stderr)
    print(f"{file}: sha256 verified; use it by --judge {LOCAL}")
    return 0


def _stats(options: argparse.Namespace) -> int:
    with _opened(options) as cache:
        found = cache.statistics()
    print(f"{found.replies:,} replies, {found.bytes:,} bytes in {cache.folder}")
    unpriced = f", and {found.unpriced_hits:,} hits of unknown price" if found.unpriced_hits else ""
    spared = f"{found.saved_tokens:,} tokens, ${found.saved_usd:.4f}{unpriced}"
    print(f"{found.hits:,} hits, {found.misses:,} misses; spared {spared}")
    for judge, step, count in found.steps:
        print(f"  {judge} · {step}: {count:,}")
    return 0


def _clear(options: argparse.Namespace) -> int:
    with _opened(options) as cache:
        print(f"{cache.clear(options.judge, options.step, options.older_than):,} replies removed")
    return 0


def _export(options: argparse.Namespace) -> int:
    keys = None
    if options.run is not None:
        judgements = Workspace(options.workspace).run(options.run, finished=True).judgements
        keys = set() if judgements.empty else set(judgements["key"])
    with _opened(options) as cache:
        print(f"{cache.export(Path(options.file), keys):,} replies written to {options.file}")
    return 0


def _import(options: argparse.Namespace) -> int:
    with _opened(options) as cache:
        print(f"{cache.take(Path(options.file)):,} replies taken from {options.file}")
    return 0


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[Cache]:
    """The workspace's cache of replies."""
    cache = Cache(Workspace(options.workspace).path / "cache" / FOLDER)
    try:
        yield cache
    finally:
        cache.close()
