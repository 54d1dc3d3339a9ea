"""Asking targets with progress; `complete` and `evaluate` share it."""

import argparse
from collections.abc import Iterator

from metrics.cli import log_lines
from metrics.cli.progress_view import follow
from metrics.cli.stopping import exit_code
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import TargetFields
from metrics.library.target_choice import ask_targets


def ask(given: TargetFields, suite: Suite, options: argparse.Namespace) -> Outputs:
    """Return the outputs of the targets. SystemExit where it is stopped, after which the same command continues."""
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
