"""`complete`: ask targets every case of a suite, and store and write their answers."""

import argparse
from typing import Any

from metrics.cli.execution import ask
from metrics.cli.options import add_flags, add_mapping, add_parser, pairs
from metrics.cli.terminal import say
from metrics.core.errors import InputProblem, refuse
from metrics.core.suite import TASKS
from metrics.engine.evaluation import LogFields, ReadingFields, TargetFields
from metrics.ingest import read_suite
from metrics.library.file_options import readings_of
from metrics.library.target_choice import target_estimate
from metrics.store import Workspace
from metrics.store.table_files import check_format, write_outputs


def add_command(commands: Any) -> None:
    words = "ask models, endpoints, programs or functions every case of a suite, and keep the answers as outputs"
    command = add_parser(commands, "complete", _complete, help=words)
    command.add_argument("suite", metavar="SUITE", nargs="?", help="the test cases: CSV, JSONL, JSON or Parquet")
    add_flags(command, TargetFields)
    command.add_argument("-o", "--output", metavar="FILE", help="file to write: .jsonl, .parquet or .csv")
    command.add_argument("--dry-run", action="store_true", help="only say what would be asked, and about its cost")
    command.add_argument("--task", choices=TASKS, help="task of the suite, if its columns do not show it")
    add_mapping(command)
    add_flags(command, ReadingFields, LogFields)
    command.add_argument("--job", metavar="ID", help="continue a completion that the studio began")


def _complete(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace)
    if options.job:
        from metrics.targets.jobs import job_of

        say(job_of(workspace, options.job).execute())
        return
    given = (("SUITE", options.suite, "a file with test cases"), ("--target", options.target, "at least one target"))
    refuse(InputProblem(name, "nothing", expected) for name, value, expected in given if not value)
    if options.output:
        check_format(options.output)  # before anything is paid
    reading = readings_of(ReadingFields.of(options), [options.suite])[options.suite]
    mapping = dict(pairs(options.map, "--map")) or None
    suite = read_suite(options.suite, task=options.task, mapping=mapping, reading=reading)
    targets = TargetFields.of(options)
    if options.dry_run:
        say(*target_estimate(targets, suite, options.workspace))
        return
    outputs = ask(targets, suite, options)
    fingerprint = workspace.save_outputs(outputs, suite)
    failed = len(outputs.outputs) - outputs.outputs["error"].null_count
    if options.output:
        write_outputs(outputs, options.output)
    where = options.output or f"outputs {fingerprint[:12]} of {workspace.path}"
    say(f"{len(outputs.outputs) - failed:,} answers{f', {failed:,} failed' if failed else ''} in {where}")
