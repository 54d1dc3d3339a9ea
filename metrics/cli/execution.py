"""Execute a run, or ask targets, in the foreground, with progress on standard error; say whether there is any value."""

import argparse
from collections.abc import Iterator

from metrics import engine
from metrics.cli import log_lines
from metrics.cli.progress_view import follow
from metrics.cli.remote_command import push_sealed
from metrics.cli.stopping import exit_code
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import TargetFields
from metrics.store import Run

NO_VALUE = 3  # the exit code of a run in which no case has a value


def execute(run: Run, options: argparse.Namespace) -> None:
    """Execute what a run has still to do; SystemExit where it is stopped, after which `resume` continues the run."""
    log_lines.event(
        options, "start", run=run.id, name=run.name, models=run.models, evaluators=[*run.evaluators],
        cases=run.spec.suite.cases,
    )  # fmt: skip
    try:
        with follow(options) as listen:
            engine.execute(run, listen=listen)
    except KeyboardInterrupt as stop:
        log_lines.warn(options, f"stopped; `python -m metrics resume {run.id}` continues it")
        raise SystemExit(exit_code(stop)) from None
    push_sealed(run)


def finished(run: Run, options: argparse.Namespace, exit_code: int) -> int:
    """Say why no case has a value, if so, and tell the end; return the exit code, NO_VALUE in that case."""
    from metrics.reports.gates import no_value

    why = no_value(run)
    if why is not None:
        exit_code = NO_VALUE
        log_lines.warn(options, why)
    seconds = (run.manifest or {}).get("seconds")
    log_lines.event(options, "finish", run=run.id, state=run.state, seconds=seconds, exit_code=exit_code)
    return exit_code


def ask(given: TargetFields, suite: Suite, options: argparse.Namespace) -> Outputs:
    """Return the outputs of the targets. SystemExit where it is stopped, after which the same command continues."""
    from metrics.library.target_choice import ask_targets

    try:
        with follow(options) as listen:
            outputs = ask_targets(given, suite, options.workspace, listen=listen)
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
