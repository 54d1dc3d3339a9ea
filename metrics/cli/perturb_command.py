"""`perturb`: write a suite with variants of its cases."""

import argparse
import sys
from collections import Counter
from typing import Any

from metrics.cli.options import add_flags, add_mapping, add_parser, names_of, pairs
from metrics.cli.terminal import say
from metrics.core.suite import TASKS
from metrics.engine.evaluation import JudgeFields, ReadingFields
from metrics.ingest import read_suite
from metrics.library.file_options import readings_of
from metrics.library.judge_choice import judge_settings
from metrics.perturbations.kind import INTENSITIES
from metrics.perturbations.kinds import KINDS, RULE_KINDS
from metrics.perturbations.perturb import FIELDS, perturb
from metrics.store.table_files import check_format, write_suite


def add_command(commands: Any) -> None:
    listed = " ".join(f"{kind.name}: {kind.says}." for kind in KINDS.values())
    words = "write a suite with variants of its cases: typos, synonyms, …"
    command = add_parser(commands, "perturb", _perturb, help=words, epilog=f"Kinds. {listed}")
    command.add_argument("suite", metavar="SUITE", help="the test cases: CSV, JSONL, JSON or Parquet")
    command.add_argument("--kinds", metavar="KIND,…", help="kinds of variants (default: all that need no judge)")
    command.add_argument(
        "--intensity", choices=INTENSITIES, default="medium", help="how much of a text is changed (default medium)"
    )
    command.add_argument("--seed", type=int, default=0, help="the same seed makes the same variants (default 0)")
    command.add_argument(
        "--fields", metavar="NAME,…", default="question",
        help=f"fields to change: {', '.join(FIELDS)} (default question)",
    )  # fmt: skip
    command.add_argument("-o", "--output", metavar="FILE", required=True, help="file to write: .jsonl, .csv, .parquet")
    command.add_argument("--task", choices=TASKS, help="task of the suite, if its columns do not show it")
    add_mapping(command)
    add_flags(command, ReadingFields, JudgeFields)


def _perturb(options: argparse.Namespace) -> None:
    check_format(options.output)  # before a judge is paid
    mapping = dict(pairs(options.map, "--map")) or None
    reading = readings_of(ReadingFields.of(options), [options.suite])[options.suite]
    suite = read_suite(options.suite, task=options.task, mapping=mapping, reading=reading)
    judge = judge_settings(JudgeFields.of(options))
    made = perturb(
        suite, names_of(options.kinds) if options.kinds else RULE_KINDS, options.intensity, options.seed,
        names_of(options.fields), judge=judge, workspace=options.workspace, name=suite.name,
    )  # fmt: skip
    write_suite(made.suite, options.output)
    if not options.quiet:
        for kind, count in made.made.items():
            say(f"{kind}: {count:,} variant{'s' * (count != 1)}", file=sys.stderr)
            for reason, cases in Counter(skipped.reason for skipped in made.skipped if skipped.kind == kind).items():
                say(f"  {cases:,} without: {reason}", file=sys.stderr)
    say(f"{len(made.suite):,} cases in {options.output}")
