"""`monitor`: judge a sample of the answers of production, and report when they get worse."""

import argparse
import sys
from pathlib import Path
from typing import Any

from metrics import monitoring
from metrics.cli.failures import exit_code
from metrics.cli.options import add_allow_code, add_flags, add_mapping, add_parser, pairs
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.registry import unchosen
from metrics.engine.evaluation import EvaluatorFields, JudgeFields
from metrics.library.evaluator_choice import with_chosen_rubric, with_prompts, with_thresholds
from metrics.library.judge_choice import chosen_models, judge_settings
from metrics.monitoring import Standing, Window, alerts, columns, drifts, recalibrated, serial_dependence
from metrics.monitoring.line_reader import check_file
from metrics.monitoring.monitor_store import check_name
from metrics.presentation.format import count, number
from metrics.presentation.guarantee_words import since, threshold_lines
from metrics.presentation.monitor_words import dependence_words, drift_words, plain_words, reason
from metrics.presentation.phrases import with_interval
from metrics.store import Workspace
from metrics.store.origin import sign_file
from metrics.store.run_spec import FILE as SPEC

STANDARD_INPUT = "-"
SHOWN_BAD = 5


def add_command(commands: Any) -> None:
    command = add_parser(
        commands,
        "monitor",
        _monitor,
        help="judge a sample of production's answers as they come, and report when they get worse",
        description="Read JSON lines (id, question, answer, …), judge a sample of them, and keep the pass rate of each "
        "window. The same command on the same or a longer file continues where it stopped. The settings that decide "
        "what is judged are fixed when a monitor is created; --reference, --on-alert and the judge's pace may change.",
    )
    add = command.add_argument
    add("file", metavar="FILE|-", nargs="?", default=STANDARD_INPUT, help="JSON lines (default: standard input)")
    add("--name", required=True, help="name of the monitor: its windows are kept under it")
    add("--rate", type=float, metavar="SHARE", help="share of the ids to sample (default .01)")
    add_flags(command, EvaluatorFields)
    add("--window", metavar="1h|N", help="length of a window: a time (30m, 1h, 7d) or sampled cases (default 100)")
    add(
        "--minimum",
        type=int,
        metavar="N",
        help="judged cases, or sessions, below which there is no status (default 20)",
    )
    add("--warning", type=float, metavar="RATE", help="pass rate below which the status is a warning (default .85)")
    add("--critical", type=float, metavar="RATE", help="pass rate below which the status is critical (default .70)")
    add(
        "--plain",
        action="store_true",
        help="also print the status by plain thresholds: the pass rate of all samples as it is, below --critical or "
        "--warning",
    )
    add("--seed", type=int, help="seed of the sampling: another seed samples other ids (default 0)")
    add("--id", metavar="FIELD", help="field of the id (default: id, case_id, request_id, …)")
    add("--time", metavar="FIELD", help="field of the time (default: timestamp, time, …)")
    add(
        "--session",
        metavar="FIELD",
        help="field of the session, whose lines count as one (default: session, conversation_id, thread_id, …, user)",
    )
    add_mapping(command, "FIELD")
    add("--reference", metavar="RUN", help="run whose scores drift is measured against, or latest")
    add("--reference-model", metavar="NAME", help="model of the reference run, if it has several")
    add(
        "--on-alert", metavar="COMMAND", help="command to run at each change of status, with JSON on its standard input"
    )
    add_flags(command, JudgeFields)
    add_allow_code(command)


def _monitor(options: argparse.Namespace) -> None:
    workspace, name = Workspace(options.workspace), check_name(options.name)
    source = None if options.file == STANDARD_INPUT else Path(options.file)
    if source is not None:
        check_file(source)
    hook = None if options.on_alert is None else alerts.words_of(options.on_alert)
    given = _given(options)
    reference = None
    if options.reference is not None:
        reference = monitoring.reference_of(workspace, options.reference, options.reference_model)
    known = [found for found in monitoring.monitors(workspace) if found.name == name]
    if known:
        monitor = known[0]
        problems = monitor.spec.differs(given)
        refuse(problems)
    else:
        monitor = _created(workspace, name, given, source)
    if options.allow_code:
        sign_file(monitor.folder / SPEC)
    monitoring.check(monitor.spec)

    def warn(text: str) -> None:
        say(text, file=sys.stderr, flush=True)

    try:
        monitoring.feed(
            monitor, source, resources=given.get("resources"), reference=reference, hook=hook,
            say=(lambda _: None) if options.quiet else warn, warn=warn,
        )  # fmt: skip
    except KeyboardInterrupt as stop:
        say("stopped; the same command continues where it stopped", file=sys.stderr)
        raise SystemExit(exit_code(stop)) from None
    _print(monitor, options.plain)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the part of the monitor's specification that the options give."""
    given: dict[str, Any] = {
        name: value
        for name in ("rate", "seed", "minimum", "warning", "critical", "id", "time", "session")
        if (value := getattr(options, name)) is not None
    }
    asked = EvaluatorFields.of(options)
    values = with_chosen_rubric(asked, options.workspace)
    if asked.evaluators is not None:
        chosen = list(asked.evaluators)
        given["evaluators"] = {id: {} for id in chosen} | values
        refuse(unchosen("--param", values, chosen))
        given["evaluators"] = with_thresholds(given["evaluators"], chosen, options.threshold)
    elif values or options.threshold:
        found = "values, but no --evaluators"
        name = "--param" if values else "--threshold"
        raise InputError([InputProblem(name, found, f"--evaluators beside {name}")])
    if options.window is not None:
        given["window"] = str(Window.parse(options.window))
    if options.map:
        given["mapping"] = dict(pairs(options.map, "--map"))
    judge = judge_settings(JudgeFields.of(options))
    resources = chosen_models(asked) | ({"judge": judge} if judge else {})
    if options.prompt:
        own = given.get("evaluators", {})
        given["evaluators"], resources = with_prompts(own, resources, list(own), asked, options.workspace)
    if resources:
        given["resources"] = resources
    return given


def _created(workspace: Workspace, name: str, given: dict[str, Any], source: Path | None) -> Any:
    """Create a monitor; without --evaluators it gets those that fit the file."""
    if "evaluators" not in given:
        if source is None or not source.is_file():
            raise InputError([InputProblem("--evaluators", "none", "the evaluators, where the input is no file")])
        draft = monitoring.Spec(evaluators={}, **given)
        given = given | {"evaluators": {id: {} for id in monitoring.fitting(source, draft)}}
    spec = monitoring.Spec(**given).complete(workspace.path)
    monitoring.check(spec)
    return monitoring.create(workspace, name, spec)


def _rate(standing: dict[str, Any]) -> str:
    """Return the current pass rate, and the latest window, in words."""
    rate = "no case counted"
    if standing["rate"] is not None:
        rate = with_interval(standing["rate"], standing["low"], standing["high"])
        rate += f" pass, n {count(standing['units'])}"
        rate += f" since sample {count(standing['since'] + 1)}" if standing["since"] else ""
    window = f"latest window: {count(standing['passed'])} of {count(standing['judged'])} judged pass"
    if standing["mean"] is not None:
        window += f", mean {with_interval(standing['mean'], standing['mean_low'], standing['mean_high'])}"
    return f"{rate}; {window}, {count(standing['unscored'])} unscored"


def _print(monitor: Any, plain: bool) -> None:
    """Print the state of the monitor; `plain`: also its status by plain thresholds."""
    state = monitor.state
    say(
        f"{state.read:,} lines read, {state.sampled:,} sampled, {state.unscored:,} of them unscored, "
        f"{state.duplicates:,} sampled before, {state.bad:,} bad"
    )
    for standing in state.standings:
        title = f"  {standing['evaluator']}.{standing['metric']}" if standing["evaluator"] else "all metrics"
        say(f"{title}: {standing['health']}, {_rate(standing)}")
    for column in columns(monitor.spec):
        if column.by_model:
            say(f"  {column.evaluator}.{column.metric}: {' '.join(threshold_lines(column))}")
    for one in recalibrated(monitor):
        say(f"  {one.evaluator}.{one.metric}: {since(one.own, one.now)}")
    if dependence := serial_dependence(monitor):
        say(f"  {dependence_words(dependence)}")
    for row in drifts(monitor):
        verdict = f"drifted: {drift_words(row)}" if row.drifted else "no drift found"
        found = row.reason or f"{verdict}, KS {number(row.ks)}, PSI {number(row.psi)}"
        say(f"  drift of {row.evaluator}.{row.metric}: {found}")
    for bad in state.bad_lines[-SHOWN_BAD:]:
        say(InputProblem(**bad), file=sys.stderr)
    if state.bad > SHOWN_BAD:
        say(
            f"{state.bad:,} bad lines in total; the latest {len(state.bad_lines)} are on the Monitor page",
            file=sys.stderr,
        )
    if state.standings:
        if plain:
            say(plain_words(monitoring.get_metrics(monitor, plain=True)))
        say(reason(Standing(**state.standings[0]), monitor.spec.warning, monitor.spec.critical))
    say(state.health)
