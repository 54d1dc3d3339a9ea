"""The parser of all subcommands, and the exit code of each."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from metrics import __version__
from metrics.cli import (
    archive_command,
    bundle_command,
    cache_command,
    calibrate_command,
    check_evaluator_command,
    complete_command,
    completion_command,
    evaluate_command,
    evaluators_command,
    explain_map_command,
    export_command,
    gate_command,
    judge_command,
    labels_command,
    log_lines,
    merge_command,
    monitor_command,
    over_suites_command,
    perturb_command,
    plot_command,
    preferences_command,
    remote_command,
    report_command,
    rubric_command,
    run_command,
    runs_command,
    sample_size_command,
    samples_command,
    studio_command,
    suites_command,
    verify_command,
    warm_up_command,
)
from metrics.cli.command_parser import CommandParser
from metrics.cli.failures import told
from metrics.cli.plugin_options import load_plugins
from metrics.cli.rag_config import with_config
from metrics.cli.stopping import exit_code, stopping

COMMANDS = (
    evaluate_command, run_command, complete_command, export_command, report_command, bundle_command, gate_command,
    over_suites_command, plot_command, monitor_command, perturb_command, suites_command, cache_command,
    judge_command, labels_command, preferences_command, calibrate_command, rubric_command, evaluators_command,
    check_evaluator_command, explain_map_command, runs_command, verify_command, merge_command, archive_command,
    remote_command, sample_size_command, samples_command, studio_command, warm_up_command,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 success, 1 a gate failed, 2 invalid input, 3 no case of the run has a value, 4 the machine refused to store or to
    read (a full disk, no permission), 5 a fault of Assay itself; 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    options = None
    try:
        with stopping():
            options = parser().parse_args(with_config(sys.argv[1:] if arguments is None else arguments))
            load_plugins(getattr(options, "plugin", ()))
            code = int(options.command(options))
            sys.stdout.flush()  # here, where a full disk can still be told
            return code
    except BrokenPipeError:  # `… | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt as stop:
        log_lines.warn(options, "stopped; the same command again continues with what is done")
        return exit_code(stop)
    except Exception as failure:
        return told(failure, options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    prog = "assay" if Path(sys.argv[0]).stem == "assay" else "python -m metrics"
    found: argparse.ArgumentParser = CommandParser(prog=prog, description="Evaluate models; see docs/command.md.")
    found.add_argument("--version", action="version", version=f"assay {__version__}")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add_command(commands)
    completion_command.add_command(commands, found)
    return found
