"""Execute a run in the foreground, with its progress on standard error, and say whether it has any value."""

import argparse

from metrics import engine
from metrics.cli import log_lines
from metrics.cli.progress_view import follow
from metrics.cli.remote_command import push_sealed
from metrics.cli.stopping import exit_code
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
