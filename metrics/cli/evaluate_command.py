"""`evaluate`: run evaluators on a suite and the outputs of models, and check its gates."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metrics import engine
from metrics.cli import (
    gate_options,
    judge_options,
    log_lines,
    object_checks,
    rag_config,
    reading_options,
    scheduler_options,
    target_options,
)
from metrics.cli.execution import execute
from metrics.cli.options import (
    add_evaluators,
    add_mapping,
    add_parser,
    mappings_of,
    names_of,
    parameters_of,
    with_chosen_rubric,
    with_prompts,
    with_thresholds,
)
from metrics.cli.remote_command import fetch_inputs
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import TASKS, Outputs, Suite
from metrics.engine.deadlines import checked_timeout
from metrics.store import Run, Workspace


def add_command(commands: Any) -> None:
    """Add `evaluate`."""
    command = add_parser(commands, "evaluate", _evaluate, help="evaluate outputs of models on a suite")
    command.add_argument(
        "suite",
        metavar="SUITE",
        help="the test cases: CSV, JSONL, JSON, YAML, Parquet, Excel, an export (docs/formats.md), or a zip",
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
    command.add_argument(
        "--case-timeout", metavar="SECONDS", type=checked_timeout,
        help="most seconds that scoring a case may take before it is an error, 0 for no limit (default: "
        "$ASSAY_CASE_TIMEOUT, else 300; ten times as long with a local model; docs/scale.md)",
    )  # fmt: skip
    command.add_argument("--task", choices=TASKS, help="task of the suite, if its columns do not show it")
    command.add_argument("--images", metavar="DIR|ZIP", help="images of the suite")
    command.add_argument(
        "--artifacts", metavar="DIR|ZIP", help="files made by agents, as the outputs name them or in folders CASE/…"
    )
    command.add_argument(
        "--model-name", metavar="NAME", action="append", default=[],
        help="model name of each OUTPUTS file, in order, repeatable",
    )  # fmt: skip
    add_mapping(command, of_files=True)
    reading_options.add_options(command)
    command.add_argument(
        "--keep-good-rows", action="store_true",
        help="skip invalid rows instead of stopping; the run records how many were skipped",
    )  # fmt: skip
    object_checks.add_options(command)
    scheduler_options.add_options(command)
    scheduler_options.add_shard(command)
    gate_options.add_options(command)
    log_lines.add_option(command)


def _evaluate(options: argparse.Namespace) -> int:
    from metrics.ingest import attach_files
    from metrics.library.evaluate import CONSISTENCY

    scheduler_options.check_shard(options)
    fetch_inputs(options)
    config = rag_config.read(Path(options.config)) if options.config else None
    if config and config.unused:
        log_lines.note(options, f"not used of {options.config}: {', '.join(config.unused)}")
    gates = gate_options.Gates.of(options)
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
    gates.require_fitting(chosen, parameters, suite, outputs.models)
    workspace = Workspace(options.workspace)
    if options.dry_run:
        judge_options.print_estimate(suite, outputs, chosen, parameters, resources, workspace)
        return 0
    run = engine.create(
        workspace, suite, outputs, chosen, parameters, options.name, options.seed, resources=resources,
        case_timeout=options.case_timeout,
    )  # fmt: skip
    scheduler_options.place(run, options)
    log_lines.note(options, *skipped(run))
    execute(run, options)
    if options.shard:
        say(run.folder)
        return 0
    if config:
        rag_config.write_results(run, config)
    return gates.conclude(run, options)


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

    keep = options.keep_good_rows
    mappings = mappings_of(options, [options.suite, *options.outputs])
    mapping = mappings[options.suite]
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
        mappings=mappings,
        model_names=named,
        keep_good_rows=keep,
        readings=readings,
        keep_unknown_classes=True,
    )
    reading_options.print_notes(answers.notes, options)
    return cases.value, answers.value


def skipped(run: Run) -> Iterator[str]:
    """Yield, before anything is computed, which models are missing or at hand, and how to use them."""
    from metrics.core.registry import choose
    from metrics.engine.inference_hint import inference_hint
    from metrics.engine.load_resources import missing_resources

    for entry, parameters in choose(list(run.evaluators), run.evaluators).values():
        if reason := missing_resources(entry, parameters, run.spec.resources):
            yield f"{entry.id} will be skipped: {reason}"
    resources = run.spec.resources
    if hint := inference_hint(run.evaluators, resources):
        model = "" if resources.get("classifier") else " --classifier NAME"
        yield f"{hint} Add it: --evaluators …,hallucination_hhem{model}"
