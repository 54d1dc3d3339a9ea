"""The options that name targets, and asking them with progress; `complete` and `evaluate` share them."""

import argparse
from collections.abc import Iterator
from typing import Any

from metrics.cli import log_lines
from metrics.cli.judge_options import budget_of
from metrics.cli.progress_view import follow
from metrics.cli.stopping import exit_code
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.regular_files import text_of
from metrics.core.suite import Outputs, Suite
from metrics.judge.keys import KEY, let_go
from metrics.store import Workspace

CHANGES = {  # flag → field of a description
    "target_base_url": "base_url", "target_system": "system", "target_temperature": "temperature",
    "target_max_tokens": "max_tokens", "target_concurrency": "concurrency", "target_timeout": "timeout",
    "target_tries": "tries",
}  # fmt: skip


def add_options(command: argparse.ArgumentParser) -> None:
    """Add --target and what belongs to it."""
    command.add_argument(
        "--target", metavar="[NAME=]TARGET", action="append", default=[],
        help="what is to answer the cases, repeatable: a model as litellm names it, local:FILE.gguf, an http address, "
        "module:function, file.py:function, command:PROGRAM …, or a .json or .yaml file that describes targets",
    )  # fmt: skip
    command.add_argument(
        "--target-prompt", metavar="[NAME=]TEXT|@FILE", action="append", default=[],
        help="prompt of a model target, with placeholders such as {question}; several with names make a grid",
    )  # fmt: skip
    command.add_argument("--target-system", metavar="TEXT|@FILE", help="system message of a model target")
    command.add_argument(
        "--target-base-url", metavar="URL", help="OpenAI-compatible server of a model target; its key is OPENAI_API_KEY"
    )
    command.add_argument("--target-temperature", metavar="T", type=float, help="sampling temperature (default 0)")
    command.add_argument("--target-max-tokens", metavar="N", type=int, help="most tokens of an answer (default 1024)")
    command.add_argument("--repeats", metavar="N", type=int, default=1, help="how often each case is asked (default 1)")
    command.add_argument("--target-concurrency", metavar="N", type=int, help="concurrent calls of a target (default 4)")
    command.add_argument("--target-timeout", metavar="S", type=float, help="seconds a call may take (default 120)")
    command.add_argument("--target-tries", metavar="N", type=int, help="tries before a case has failed (default 3)")
    command.add_argument(
        "--target-budget", metavar="usd=N|calls=N|tokens=N|seconds=N", action="append", default=[],
        help="limit on what the targets may spend now, repeatable; cases beyond it are errors, asked next time",
    )  # fmt: skip
    command.add_argument("--retry-errors", action="store_true", help="ask again the cases whose call failed before")
    command.add_argument("--fresh", action="store_true", help="forget the recorded answers of these targets first")


def targets(options: argparse.Namespace) -> tuple[Any, ...]:
    """Return the targets that the options describe. Raises InputError."""
    from metrics.targets import targets_of

    changes = {field: value for flag, field in CHANGES.items() if (value := getattr(options, flag)) is not None}
    if "system" in changes:
        changes["system"] = _text(changes["system"], "--target-system")
    prompts: dict[str, str] = {}
    for given in options.target_prompt:
        name, equals, text = given.partition("=")
        named = bool(equals) and name.replace("-", "_").isidentifier()
        prompts[name if named else ""] = _text(text if named else given, "--target-prompt")
    if len(prompts) < len(options.target_prompt) or ("" in prompts and len(prompts) > 1):
        raise InputError([InputProblem("--target-prompt", "prompts of one name", "NAME=TEXT with a name for each")])
    if "" in prompts:
        changes["prompt"] = prompts[""]
    elif prompts:
        changes["prompts"] = prompts
    if options.target_base_url:
        let_go(KEY, options.target_base_url)
    return targets_of(options.target, changes)


def asked(options: argparse.Namespace, suite: Suite) -> Outputs | None:
    """Return the outputs of the targets; None where --dry-run only prints what they would be asked.

    SystemExit where it is stopped, after which the same command continues.
    """
    from metrics.targets.complete import check_fits, complete
    from metrics.targets.estimate import estimate

    chosen, budget = targets(options), budget_of(options.target_budget, "--target-budget")
    workspace = Workspace(options.workspace).path
    if options.dry_run:
        check_fits(suite, chosen, options.repeats, budget)
        for line in estimate(suite, chosen, options.repeats, workspace, options.retry_errors):
            say(line)
        return None

    try:
        with follow(options) as listen:
            outputs = complete(
                suite, chosen, repeats=options.repeats, budget=budget, retry_errors=options.retry_errors,
                fresh=options.fresh, workspace=workspace, listen=listen,
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        log_lines.warn(options, "stopped; the answers so far are kept, the same command asks the rest")
        raise SystemExit(exit_code(stop)) from None
    log_lines.note(options, *failures(outputs))
    return outputs


def failures(outputs: Outputs) -> Iterator[str]:
    """Yield which cases have no answer and why, the first of each reason."""
    rows = [row for row in outputs.outputs.select(["case_id", "model", "run", "error"]).to_pylist() if row["error"]]
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        reasons.setdefault((row["model"], row["error"]), {})[row["case_id"]] = None
    for (model, reason), named in reasons.items():
        cases = list(named)
        shown = ", ".join(cases[:5]) + (f" and {len(cases) - 5:,} more" if len(cases) > 5 else "")
        yield f"{model}, without an answer: {reason} (cases {shown})"


def _text(given: str, option: str) -> str:
    """Return a text, or the content of the file that `@FILE` names."""
    if not given.startswith("@"):
        return given
    try:
        return text_of(given[1:])
    except (OSError, UnicodeDecodeError) as failure:
        raise InputError(
            [InputProblem(option, f"{given} ({getattr(failure, 'strerror', None) or failure})", "a text file in UTF-8")]
        ) from None
