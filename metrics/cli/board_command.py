"""`board`: the models of all runs of a suite side by side, where their numbers come from, and its settings."""

import argparse
import json
import shlex
import sys
from dataclasses import replace
from typing import Any

from metrics.analysis import Board, headline, judge_names, judged_by, judged_evaluators, leaderboard
from metrics.analysis.boards.board import BOARD, EVERY, change_settings, open_board
from metrics.analysis.boards.origins import origins
from metrics.analysis.boards.versions import create_shared_run, shared_board
from metrics.cli.execution import execute
from metrics.cli.gate_command import print_leaderboard
from metrics.cli.options import add_parser, arguments_of, pairs
from metrics.cli.terminal import say
from metrics.core.errors import InputProblem, refuse
from metrics.core.metric_names import list_names
from metrics.presentation.board_words import Lack, alike_line, lacks, origin_lines
from metrics.reports import MARKDOWN, render
from metrics.reports.build import changed_parameters
from metrics.reports.exchange.exporters import export
from metrics.store import Workspace
from metrics.store.board_settings import BoardSettings, Factors

TIMES = "×"  # between a model and its prompt


def add_command(commands: Any) -> None:
    command = add_parser(commands, "board", _board, help="compare the models of all runs of a suite; set up the board")
    add = command.add_argument
    words = "name of a suite, or first digits of its fingerprint (default: that of the newest run)"
    add("suite", metavar="SUITE", nargs="?", default="", help=words)
    add("--all-evaluations", action="store_true", help="show earlier evaluations, too, as MODEL@RUN")
    words = "compare also the models of other versions of the suite, on the cases that all have unchanged"
    add("--shared", action="store_true", help=words)
    add("--format", choices=("text", "json", "markdown"), default="text", help="form to print (default text)")
    words = "show a model (ENTRY: its name in the runs or on the board, or RUN:MODEL) by another name, repeatable"
    add("--rename", metavar="ENTRY=NAME", action="append", default=[], help=words)
    add("--hide", metavar="ENTRY", action="append", default=[], help="leave a model out, repeatable")
    add("--show", metavar="ENTRY|RUN", action="append", default=[], help="no longer hide or archive it, repeatable")
    add("--archive", metavar="RUN", action="append", default=[], help="leave a run out, repeatable")
    add("--baseline", metavar="ENTRY", help='the model that others are measured against; "" for none')
    add(
        "--factors",
        metavar=f"ENTRY=MODEL{TIMES}PROMPT",
        action="append",
        default=[],
        help="say which model and prompt an entry is made of, repeatable",
    )


def _board(options: argparse.Namespace) -> None:
    workspace = Workspace(options.workspace)
    address = f"{BOARD}{options.suite}{EVERY * options.all_evaluations}".rstrip(":")
    run = open_board(workspace, address)
    suite = run.spec.suite.fingerprint
    lists = options.rename, options.hide, options.show, options.archive, options.factors
    if any(lists) or options.baseline is not None:
        _change(workspace, run, options)
        run = open_board(workspace, address)
    if options.shared:
        compared = create_shared_run(workspace, suite)
        if compared.state != "finished":
            execute(compared, options)
        print_leaderboard(compared)
        say(compared.id)
        return
    if options.format == "markdown":
        sys.stdout.write(render(run, MARKDOWN).decode())
        return
    if options.format == "json":
        sys.stdout.write(json.dumps(_record(run), ensure_ascii=False, indent=1) + "\n")
        return
    print_leaderboard(run)
    say(*filter(None, [alike_line(run)]))
    say(*(f"{entry}: {text}" for entry, text in origin_lines(run)))
    for one in lacks(run):
        say(f"{one.model}: {one.why}", f"  evaluate it alike: {_command(run, one)}")
    if (shared := shared_board(workspace, suite)) is not None:
        how = shlex.join(["python", "-m", "metrics", "board", run.spec.suite.name, "--shared"])
        say(f"{list_names(shared.absent)}: on another version of the suite; compare on {shared.words}: {how}")
    say(run.id)


def _change(workspace: Workspace, run: Board, options: argparse.Namespace) -> None:
    """Store what the options set; InputError with everything that is wrong."""
    aliases = dict(pairs(options.rename, "--rename", "ENTRY=NAME"))
    form = f"MODEL{TIMES}PROMPT"
    cut = {entry: text.partition(TIMES) for entry, text in pairs(options.factors, "--factors", f"ENTRY={form}")}
    refuse(InputProblem("--factors", repr("".join(parts)), form) for parts in cut.values() if not all(parts))
    factors = {entry: Factors(model.strip(), prompt.strip()) for entry, (model, _, prompt) in cut.items()}

    def edit(kept: BoardSettings) -> BoardSettings:
        # the shown names, too: that of an earlier evaluation, an alias
        entries = {one.name: one.reference for one in run.entries if one.name != one.answers.model}
        entries |= {alias: entry for entry, alias in kept.aliases.items()}
        pinned = entries.get(options.baseline, options.baseline)
        hide, show, archive = (
            [entries.get(one, one) for one in own] for own in (options.hide, options.show, options.archive)
        )
        return replace(
            kept,
            aliases={**kept.aliases, **{entries.get(one, one): name for one, name in aliases.items()}},
            factors={**kept.factors, **{entries.get(one, one): own for one, own in factors.items()}},
            hidden=tuple(dict.fromkeys(one for one in (*kept.hidden, *hide) if one not in show)),
            archived=tuple(dict.fromkeys(one for one in (*kept.archived, *archive) if one not in show)),
            baseline=kept.baseline if pinned is None else pinned or None,
        )

    change_settings(workspace, run.spec.suite.fingerprint, edit)


def _command(run: Board, lack: Lack) -> str:
    """Return the command that evaluates a model as the others were, by the evaluators that it lacks."""
    reference = run.references[lack.evaluators[0]]
    is_judged = not {*lack.evaluators}.isdisjoint(judged_evaluators(reference))
    values: dict[str, Any] = {
        "suite": "SUITE",
        "outputs": ["OUTPUTS"],
        "evaluators": list(lack.evaluators),
        "param": {id: changed_parameters(id, run.spec.parameters(id)) for id in lack.evaluators},
        "judge": list(judge_names(reference)) if is_judged else None,
        "seed": reference.spec.seed or None,
    }
    return shlex.join(["python", "-m", "metrics", *arguments_of(values)])


def _record(run: Board) -> dict[str, Any]:
    """Return a board as JSON has it: headline, the runs behind each model, what is not compared, and every number."""
    best = headline(leaderboard(run))
    models: dict[str, list[dict[str, Any]]] = {model: [] for model in best.models}
    for one in origins(run):
        judges, spec = judged_by(one.run), one.run.spec
        used = {id: {"version": spec.version(id), "judge": judges.get(id)} for id in one.evaluators}
        own = {"run": one.run.id, "model": one.model, "finished": one.run.sealed, "evaluators": used}
        models[one.entry].append(own)
    return {
        "board": run.id,
        "suite": run.spec.suite.name,
        "headline": best.sentence,
        "models": [{"model": model, "runs": own} for model, own in models.items()],
        "not_compared": [{**one._asdict(), "command": _command(run, one)} for one in lacks(run)],
        "aggregates": json.loads(export(run, "aggregates", "json")),
    }
