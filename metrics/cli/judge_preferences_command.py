"""`judge preferences`: let a judge compare every two models' answers, in both orders, and rank the models by it."""

import argparse
import sys
from functools import partial
from typing import Any

from metrics.cli.flags import add_flags
from metrics.cli.judge_estimate import print_found
from metrics.cli.options import add_parser, run_of
from metrics.cli.progress_view import count, follow
from metrics.cli.terminal import say
from metrics.core.label_schema import CRITERION
from metrics.engine.evaluation import EstimateFields, JudgeFields, LogFields
from metrics.library.judge_choice import budget_of, judge_settings


def add_preferences_action(actions: Any) -> None:
    """Add `judge preferences`."""
    words = "let a judge compare every two models' answers, in both orders, and rank the models by its preferences"
    action = add_parser(actions, "preferences", _preferences, of_run=True, help=words)
    action.add_argument(
        "--criterion",
        default=CRITERION,
        help="what to judge by, in a few words, such as politeness (default quality: correct, complete, to the point)",
    )
    action.add_argument("--cases", metavar="N", type=int, help="cases drawn at random (default all)")
    action.add_argument("--seed", type=int, default=0, help="the same seed draws the same cases (default 0)")
    add_flags(action, JudgeFields, EstimateFields, LogFields)


def _preferences(options: argparse.Namespace) -> None:
    from metrics.analysis.preferences.judging import judge_preferences, preference_estimate
    from metrics.presentation.preference_words import judged_lines, preference_lines

    run = run_of(options, finished=True)
    chosen: dict[str, Any] = {"criterion": options.criterion, "cases": options.cases, "seed": options.seed}
    judge = judge_settings(JudgeFields.of(options)) if options.judge else _own_judge(run, options)
    if options.dry_run:
        print_found(preference_estimate(run, judge, **chosen))
        return
    with follow(options) as listen:
        found = judge_preferences(run, judge, listen=partial(count, listen, "Comparing"), **chosen)
    if not options.quiet:
        say(*judged_lines(found), file=sys.stderr)
    say(*preference_lines(run, options.criterion))


def _own_judge(run: Any, options: argparse.Namespace) -> Any:
    """Return the run's own judge, with the budget that the options give."""
    own = run.spec.judge
    if own and options.judge_budget:
        budget = budget_of(options.judge_budget, "--judge-budget")
        return {**own, "budget": budget.model_dump(exclude_none=True)}
    return own
