"""`judge`: install the local judge, list the models that can judge, check what sways a judge, compare answers."""

import argparse
import shlex
import sys
from functools import partial
from typing import Any

from metrics import engine
from metrics.analysis.labels.manipulations import MANIPULATIONS
from metrics.cli.execution import execute, finished, print_estimate, print_found
from metrics.cli.options import add_allow_code, add_flags, add_parser, names_of, run_of
from metrics.cli.progress_view import count, follow
from metrics.cli.terminal import say
from metrics.core.schema import CRITERION
from metrics.engine.evaluation import EstimateFields, JudgeFields, LogFields
from metrics.judge.local.install import LOCAL, MODEL, install, missing_local_model
from metrics.judge.local.other_models import model_folders, own_models
from metrics.library.judge_choice import budget_of, judge_settings
from metrics.presentation.format import size_text
from metrics.store import Workspace
from metrics.store.origin import check_origin


def add_command(commands: Any) -> None:
    command = commands.add_parser(
        "judge",
        help="install the local judge, list the models of this machine, check what sways a judge: bias; let a judge "
        "compare answers: preferences",
    )
    actions = command.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser(
        "install", help=f"download the local judge: {MODEL.name}, {MODEL.size / 1e9:.1f} GB, {MODEL.license}"
    )
    action.add_argument("--quiet", action="store_true", help="print only the result")
    action.set_defaults(command=_install)
    action = add_parser(
        actions, "list", _list, help="list the local judge and the GGUF files of this machine, with the options to use"
    )
    action.add_argument(
        "--servers",
        action="store_true",
        help="also ask the usual ports of this machine (Ollama, llama.cpp, LM Studio, vLLM) for their models",
    )
    _add_bias(actions)
    _add_preferences(actions)


def _install(options: argparse.Namespace) -> None:
    with follow(options) as listen:
        file = install(partial(count, listen, MODEL.name))
    say(f"{file}: sha256 verified; use it with --judge {LOCAL}")


def _list(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace).path
    missing = missing_local_model(LOCAL)
    say(f"local judge, {MODEL.name}: {missing or 'installed'}")
    if missing is None:
        say(f"  --judge {LOCAL}")
    found = own_models(workspace)
    for one in found:
        say(f"{one.name}, {size_text(one.size)}, {one.place}")
        say(f"  --judge {shlex.quote(one.model)}")
    if not found and not options.quiet:
        searched = [f"  {path}" for _, path in model_folders(workspace)]
        say("no other GGUF file found; searched:", *searched, file=sys.stderr)
    if options.servers:
        _list_servers(options.quiet)
    elif not options.quiet:
        say("servers of this machine: --servers looks for them", file=sys.stderr)


def _list_servers(quiet: bool) -> None:
    from metrics.judge.local.other_models import USUAL, running_servers

    servers = running_servers()
    for server in servers:
        said = "asks for a key: set OPENAI_API_KEY" if server.locked else "" if server.models else "has no model"
        say(f"{server.name}, {server.base_url}" + (f": {said}" if said else ""))
        for model in server.models:
            say(f"  --judge {shlex.quote(model)} --judge-base-url {server.base_url}")
    if not servers and not quiet:
        asked = ", ".join(f"{name} {port}" for name, port in USUAL.items())
        say(f"no server answers on the usual ports ({asked})", file=sys.stderr)


def _add_bias(actions: Any) -> None:
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
    add_allow_code(action)


def _bias(options: argparse.Namespace) -> int:
    from metrics.perturbations.answers import CASES_VARIED, UNASKED_KINDS, judged_again
    from metrics.presentation.panel_rows import check_lines

    source, workspace = run_of(options, finished=True), Workspace(options.workspace)
    check_origin(source, options.allow_code or options.dry_run)
    budget = budget_of(options.judge_budget, "--judge-budget").model_dump(exclude_none=True) or None
    made = judged_again(
        source, names_of(options.kinds) if options.kinds else UNASKED_KINDS,
        CASES_VARIED if options.cases is None else options.cases, options.seed, names_of(options.evaluators or ""),
        budget, options.dry_run,
    )  # fmt: skip
    varied = made.varied
    if options.dry_run:
        asked = made.evaluators, made.parameters, made.resources, workspace.path
        print_estimate(engine.estimate(varied.suite, varied.outputs, *asked))
        return 0
    run = made.create(workspace, options.seed)
    execute(run, options)
    say(*check_lines(run))
    return finished(run, options, 0)


def _add_preferences(actions: Any) -> None:
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
    add_allow_code(action)


def _preferences(options: argparse.Namespace) -> None:
    from metrics.analysis.preferences.judging import judge_preferences, preference_estimate
    from metrics.presentation.ranking_words import judged_lines, preference_lines

    run = run_of(options, finished=True)
    chosen: dict[str, Any] = {"criterion": options.criterion, "cases": options.cases, "seed": options.seed}
    judge = judge_settings(JudgeFields.of(options)) if options.judge else run.spec.judge
    if judge and options.judge_budget and not options.judge:
        budget = budget_of(options.judge_budget, "--judge-budget")
        judge = {**judge, "budget": budget.model_dump(exclude_none=True)}
    if options.dry_run:
        print_found(preference_estimate(run, judge, **chosen))
        return
    check_origin(run, options.allow_code or bool(options.judge))
    with follow(options) as listen:
        found = judge_preferences(run, judge, listen=partial(count, listen, "Comparing"), **chosen)
    if not options.quiet:
        say(*judged_lines(found), file=sys.stderr)
    say(*preference_lines(run, options.criterion))
