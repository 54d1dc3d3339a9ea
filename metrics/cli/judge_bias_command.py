"""`judge bias`: judge variants of a run's answers that deserve the same scores, and say what sways its judge."""

import argparse
from typing import Any

from metrics import engine
from metrics.cli.execution import execute, finished
from metrics.cli.flags import add_flags
from metrics.cli.judge_estimate import print_estimate
from metrics.cli.options import add_parser, names_of, run_of
from metrics.cli.terminal import say
from metrics.engine.evaluation import LogFields
from metrics.library.judge_choice import budget_of
from metrics.store import Workspace


def add_bias_action(actions: Any) -> None:
    """Add `judge bias`."""
    from metrics.analysis.labels.manipulations import MANIPULATIONS

    listed = " ".join(f"{kind}: {what.says}." for kind, what in MANIPULATIONS.items())
    words = "judge variants of a run's answers that deserve the same scores, and say what sways its judge"
    action = add_parser(actions, "bias", _bias, of_run=True, help=words, epilog=f"Kinds. {listed}")
    action.add_argument("--kinds", metavar="KIND,…", help="kinds of variants (default: all that need no judge)")
    action.add_argument("--cases", metavar="N", type=int, help="cases drawn at random (default 60)")
    action.add_argument("--evaluators", metavar="ID,…", help="judged evaluators of the run (default: all)")
    action.add_argument("--seed", type=int, default=0, help="the same seed draws the same cases (default 0)")
    action.add_argument(
        "--judge-budget", metavar="usd=N|calls=N|tokens=N|seconds=N", action="append", default=[],
        help="limit on what the judge may spend, repeatable",
    )  # fmt: skip
    action.add_argument("--dry-run", action="store_true", help="only estimate what the judge would cost")
    add_flags(action, LogFields)


def _bias(options: argparse.Namespace) -> int:
    from metrics.perturbations.answers import CASES_VARIED, UNASKED_KINDS, judged_again
    from metrics.presentation.bias_words import check_lines

    source, workspace = run_of(options, finished=True), Workspace(options.workspace)
    budget = budget_of(options.judge_budget, "--judge-budget").model_dump(exclude_none=True) or None
    made = judged_again(
        source, names_of(options.kinds) if options.kinds else UNASKED_KINDS,
        CASES_VARIED if options.cases is None else options.cases, options.seed, names_of(options.evaluators or ""),
        budget, options.dry_run,
    )  # fmt: skip
    varied = made.varied
    if options.dry_run:
        print_estimate(
            engine.estimate(
                varied.suite, varied.outputs, made.evaluators, made.parameters, made.resources, workspace.path
            )
        )
        return 0
    run = made.create(workspace, options.seed)
    execute(run, options)
    say(*check_lines(run))
    return finished(run, options, 0)
