"""Execute a run, or ask targets, in the foreground, with progress on standard error; say whether there is any value."""

import argparse
from collections.abc import Iterator
from multiprocessing import get_context

from metrics import engine
from metrics.cli import terminal
from metrics.cli.failures import exit_code
from metrics.cli.progress_view import follow
from metrics.cli.remote_command import push_sealed
from metrics.cli.terminal import say
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import TargetFields
from metrics.library.target_choice import ask_targets
from metrics.presentation.judge_notes import time_text
from metrics.reports.gates import no_value
from metrics.store import Run
from metrics.store.kept_facts import is_kept

NO_VALUE = 3  # the exit code of a run in which no case has a value


def execute(run: Run, options: argparse.Namespace) -> None:
    """Execute what a run has still to do; SystemExit where it is stopped, after which `resume` continues the run."""
    terminal.event(
        options, "start", run=run.id, name=run.name, models=run.models, evaluators=[*run.evaluators],
        cases=run.spec.suite.cases,
    )  # fmt: skip
    try:
        with follow(options) as listen:
            engine.execute(run, listen=listen)
    except KeyboardInterrupt as stop:
        terminal.warn(options, f"stopped; `python -m metrics resume {run.id}` continues it")
        raise SystemExit(exit_code(stop)) from None
    push_sealed(run)
    save_results(run)


def save_results(run: Run) -> None:
    """Write beside a finished run what was asked for with it, and what its report and pages show."""
    if is_kept(run):
        from metrics.reports.keep import keep_facts

        process = get_context("spawn").Process(target=keep_facts, args=(run,))  # its memory ends with it
        process.start()
        process.join()
    if run.spec.save_llm_result and run.state == "finished":
        from metrics.reports.exchange.h2o import save_llm_results

        save_llm_results(run)


def finished(run: Run, options: argparse.Namespace, exit_code: int) -> int:
    """Say why no case has a value, if so, and tell the end; return the exit code, NO_VALUE in that case."""
    why = no_value(run)
    if why is not None:
        exit_code = NO_VALUE
        terminal.warn(options, why)
    seconds = (run.manifest or {}).get("seconds")
    terminal.event(options, "finish", run=run.id, state=run.state, seconds=seconds, exit_code=exit_code)
    return exit_code


def ask(given: TargetFields, suite: Suite, options: argparse.Namespace) -> Outputs:
    """Return the outputs of the targets. SystemExit where it is stopped, after which the same command continues."""
    try:
        with follow(options) as listen:
            outputs = ask_targets(given, suite, options.workspace, listen=listen)
    except KeyboardInterrupt as stop:
        terminal.warn(options, "stopped; the answers so far are kept, the same command asks the rest")
        raise SystemExit(exit_code(stop)) from None
    terminal.note(options, *failures(outputs))
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


def print_estimate(found: engine.Estimate | None) -> None:
    """Print how many calls, tokens and dollars the judge would take, and of how many cases that was estimated."""
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
