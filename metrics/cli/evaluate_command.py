"""`evaluate`: run evaluators on a suite and the outputs of models, and check the --fail-under gates."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics import engine
from metrics.cli import judge_options, object_checks, rag_config, reading_options, target_options
from metrics.cli.execution import NO_VALUE, execute, told_no_value
from metrics.cli.options import (
    add_evaluators,
    add_mapping,
    add_parser,
    names_of,
    pairs,
    parameters_of,
    with_chosen_rubric,
    with_prompts,
    with_thresholds,
)
from metrics.cli.remote_command import fetch_inputs
from metrics.cli.report_command import check_ending, write_report
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import TASKS, Outputs, Suite
from metrics.presentation.calibration_words import footnotes
from metrics.presentation.format import ARROWS, MISSING
from metrics.presentation.phrases import with_interval
from metrics.store import Run, Workspace

FAILED = 1
FIGURES = {"alike": "alike", "κ": "kappa", "α": "alpha", "disputed": "disputed"}  # of a panel, by column


def add_command(commands: Any) -> None:
    """Add `evaluate`."""
    command = add_parser(commands, "evaluate", _evaluate, help="evaluate outputs of models on a suite")
    command.add_argument(
        "suite",
        metavar="SUITE",
        help="the test cases: CSV, JSONL, JSON, Parquet, Excel, COCO ground truth, or a zip",
    )
    command.add_argument(
        "outputs",
        metavar="OUTPUTS",
        nargs="*",
        help="outputs of models; leave out where SUITE contains them, or with --target",
    )
    target_options.add_options(command)
    add_evaluators(command)
    command.add_argument(
        "--preset", metavar="NAME",
        help="the evaluators of a preset that fit the data, beside those of --evaluators: rag, safety … "
        "(`evaluators --presets` lists them)",
    )  # fmt: skip
    command.add_argument(
        "--run-consistency", action="store_true",
        help="also compare every metric over the repeats of each case (evaluator consistency_statistics); some only: "
        "--param consistency_statistics.metrics_to_run_consistency=ID,…",
    )  # fmt: skip
    command.add_argument(
        "--config", metavar="FILE",
        help="YAML configuration of Open RAG Eval: its files, evaluators and judge in place of SUITE and options",
    )  # fmt: skip
    command.add_argument("--name", help="name of the run")
    judge_options.add_options(command)
    command.add_argument("--seed", type=int, default=0, help="random seed of the bootstrap intervals (default 0)")
    command.add_argument("--task", choices=TASKS, help="task of the suite, if its columns do not show it")
    command.add_argument("--images", metavar="DIR|ZIP", help="images of the suite")
    command.add_argument(
        "--artifacts", metavar="DIR|ZIP", help="files made by agents, as the outputs name them or in folders CASE/…"
    )
    command.add_argument(
        "--model-name", metavar="NAME", action="append", default=[],
        help="model name of each OUTPUTS file, in order, repeatable",
    )  # fmt: skip
    add_mapping(command)
    reading_options.add_options(command)
    command.add_argument(
        "--keep-good-rows", action="store_true",
        help="skip invalid rows instead of stopping; the run records how many were skipped",
    )  # fmt: skip
    object_checks.add_options(command)
    command.add_argument(
        "--fail-under", metavar="METRIC=VALUE", action="append", default=[],
        help="exit with 1 if a model is worse than VALUE (METRIC or EVALUATOR.METRIC), repeatable",
    )  # fmt: skip
    command.add_argument("--pdf", metavar="FILE", help="write the report to FILE")
    command.add_argument("--junit", metavar="FILE", help="write the result of each --fail-under to FILE as JUnit XML")


def _evaluate(options: argparse.Namespace) -> int:
    from metrics.ingest import attach_files
    from metrics.library.evaluate import CONSISTENCY
    from metrics.reports.gates import Gate, check, require_known

    if options.pdf:
        check_ending(options.pdf)  # before anything is computed
    fetch_inputs(options)
    config = rag_config.read(Path(options.config)) if options.config else None
    if config and config.unused and not options.quiet:
        print(f"not used of {options.config}: {', '.join(config.unused)}", file=sys.stderr)
    gates = [Gate.parse(text) for text in options.fail_under]
    given: Mapping[str, Mapping[str, Any]] = with_chosen_rubric(parameters_of(options.param), options)
    suite, outputs = _read(options)
    if outputs is None:
        return 0
    outputs = object_checks.checked(suite, outputs, options)
    if options.artifacts:
        outputs = attach_files(outputs, options.artifacts, keep_good_rows=options.keep_good_rows).value
    chosen = _chosen(options, suite, outputs)
    if options.run_consistency and CONSISTENCY not in chosen:
        chosen.append(CONSISTENCY)
    chosen, parameters = engine.with_followed(chosen, given)
    parameters = with_thresholds(parameters, chosen, options.threshold)
    parameters, resources = with_prompts(parameters, judge_options.resources(options), chosen, options)
    require_known(gates, chosen, parameters)
    workspace = Workspace(options.workspace)
    if options.dry_run:
        judge_options.print_estimate(suite, outputs, chosen, parameters, resources, workspace)
        return 0
    run = engine.create(workspace, suite, outputs, chosen, parameters, options.name, options.seed, resources=resources)
    if not options.quiet:
        warn_of_skipped(run)
    execute(run, options.quiet)
    if config:
        rag_config.write_results(run, config)
    outcomes = check(run, gates)
    if options.pdf:
        write_report(run, options.pdf)
    if options.junit:
        from metrics.reports.renderers.junit import junit

        Path(options.junit).write_bytes(junit(run, outcomes))
    if not options.quiet:
        _print_leaderboard(run)
        for outcome in outcomes:
            print(outcome.message)
    print(run.id)
    return NO_VALUE if told_no_value(run) else 0 if all(outcome.passed for outcome in outcomes) else FAILED


def _chosen(options: argparse.Namespace, suite: Suite, outputs: Outputs) -> list[str]:
    """Return the evaluators of --preset and --evaluators; without either, the default ones."""
    from metrics.library.evaluate import available_inputs, runnable
    from metrics.library.presets import chosen_by

    named = names_of(options.evaluators or "")
    if options.preset:
        named = [*chosen_by(options.preset, suite.task, available_inputs(suite, outputs)), *named]
    return list(dict.fromkeys(named)) or runnable(suite, outputs)


def _read(options: argparse.Namespace) -> tuple[Suite, Outputs | None]:
    """Return suite and outputs; None where a dry run leaves targets unasked."""
    from metrics.ingest import load_combined, load_outputs, load_suite

    mapping, keep = dict(pairs(options.map, "--map")) or None, options.keep_good_rows
    readings = reading_options.readings_of(options, [options.suite, *options.outputs])
    reading = readings[options.suite]
    if options.target:
        if options.outputs:
            expected = "outputs or targets; `complete` writes the answers of targets to a file of outputs"
            raise InputError([InputProblem("--target", f"OUTPUTS {options.outputs[0]}", expected)])
        cases = load_suite(options.suite, task=options.task, mapping=mapping, keep_good_rows=keep, reading=reading)
        reading_options.print_notes(cases.notes, options)
        return cases.value, target_options.asked(options, cases.value)
    if not options.outputs:
        unused = [name for name in ("images", "model_name") if getattr(options, name)]
        if unused:
            found = ", ".join("--" + name.replace("_", "-") for name in unused)
            raise InputError([InputProblem(found, "no OUTPUTS", "one or more files of outputs beside the suite")])
        both = load_combined(options.suite, task=options.task, mapping=mapping, keep_good_rows=keep, reading=reading)
        reading_options.print_notes(both.notes, options)
        return both.value
    names, files = options.model_name, options.outputs
    if len(names) > len(files):
        raise InputError([InputProblem("--model-name", f"{len(names)} names", f"at most one a file: {len(files)}")])
    cases = load_suite(
        options.suite, task=options.task, mapping=mapping, images=options.images, keep_good_rows=keep, reading=reading
    )
    reading_options.print_notes(cases.notes, options)
    named = dict(zip(files, names, strict=False))
    answers = load_outputs(
        files,
        suite=cases.value,
        mapping=mapping,
        model_names=named,
        keep_good_rows=keep,
        readings=readings,
        keep_unknown_classes=True,
    )
    reading_options.print_notes(answers.notes, options)
    return cases.value, answers.value


def warn_of_skipped(run: Run) -> None:
    """Print, before anything is computed, which models are missing or at hand, and how to use them."""
    from metrics.core.registry import choose
    from metrics.engine.inference_hint import inference_hint
    from metrics.engine.load_resources import missing_resources

    for entry, parameters in choose(list(run.evaluators), run.evaluators).values():
        if reason := missing_resources(entry, parameters, run.spec.get("resources", {})):
            print(f"{entry.id} will be skipped: {reason}", file=sys.stderr)
    resources = run.spec.get("resources", {})
    if hint := inference_hint(run.evaluators, resources):
        model = "" if resources.get("classifier") else " --classifier NAME"
        print(f"{hint} Add it: --evaluators …,hallucination_hhem{model}", file=sys.stderr)


def _print_leaderboard(run: Run) -> None:
    from metrics.analysis import headline, leaderboard, local_agreement

    board = leaderboard(run)
    print(headline(board).sentence)
    wide = max([len("model"), *(len(model) for model in board.models)])
    for column in board.columns:
        if column.minor:
            continue
        print(f"{column.evaluator} · {column.title} {ARROWS[column.direction]}")
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None:
                continue
            value = cell.reason if cell.value is None else with_interval(cell.value, cell.low, cell.high)
            unscored = f", {cell.unscored} unscored" if cell.unscored else ""
            print(f"  {model:<{wide}}  {value}  n {cell.n}{unscored}")
    for evaluator, words in local_agreement(run).items():
        print(f"local judge, {evaluator}: {words}")
    for note in footnotes(column for column in board.columns if not column.minor):
        print(note)
    _print_panel(run)


def _print_panel(run: Run) -> None:
    """Print how far the judges of a panel agree; nothing without a panel."""
    from metrics.analysis.labels.panel_agreement import panel_agreement
    from metrics.presentation.panel_rows import panel_table

    found = panel_agreement(run)
    if found:
        print("agreement of the judges")
        for row in panel_table(found).to_dict("records"):
            figures = [f"{name} {row[key]}" for name, key in FIGURES.items() if row[key] not in ("", MISSING)]
            print(f"  {row['metric']}, {row['raters']}: {', '.join(figures)}")
