"""The command line: python -m metrics …"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metrics import engine
from metrics.cli import judging, labelling, monitor, perturbing
from metrics.cli.options import pairs, parameters_of
from metrics.core.errors import AssayError, InputError, InputProblem, RunSealed
from metrics.core.suite import TASKS, Outputs, Suite
from metrics.store import Progress, Run, Workspace

WHATS = ("aggregates", "scores", "curves", "matches", "judgements", "problems", "insights", "slices")
PASSED, FAILED, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 a --fail-under failed, 2 bad input."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except AssayError as failure:
        print(failure, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # `… | head`
        sys.stderr.close()
        return PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m metrics", description="Evaluate models; see README.md.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--workspace", metavar="DIR", help="folder of runs and inputs (default: $ASSAY_WORKSPACE or ./workspace)"
    )
    common.add_argument("--quiet", action="store_true", help="print the result only")
    run = argparse.ArgumentParser(add_help=False)
    run.add_argument("run", metavar="RUN", help="a run's id, or latest")

    command = commands.add_parser("evaluate", parents=[common], help="evaluate outputs of models on a suite")
    command.add_argument(
        "suite", metavar="SUITE", help="the test cases: CSV, JSONL, JSON, Parquet, COCO ground truth, or a zip"
    )
    command.add_argument("outputs", metavar="OUTPUTS", nargs="*", help="outputs of models; none: SUITE has them too")
    command.add_argument("--evaluators", metavar="ID,…", help="which (default: all that fit and need no model)")
    command.add_argument(
        "--param", metavar="EVALUATOR.NAME=VALUE", action="append", default=[], help="a parameter, repeatable"
    )
    command.add_argument("--name", help="a name for the run")
    command.add_argument(
        "--embedder",
        metavar="PATH|NAME",
        help="embedding model: a folder, or a hub's name to download (default: the bundled all-MiniLM-L6-v2)",
    )
    command.add_argument(
        "--classifier",
        metavar="PATH|NAME",
        help="cross-encoder or classifier, as a folder or a hub's name; for one evaluator: --param ID.classifier=…",
    )
    command.add_argument(
        "--language-model", metavar="PATH|NAME", help="causal language model: a folder, a GGUF file or a hub's name"
    )
    command.add_argument(
        "--token-encoder",
        metavar="PATH|NAME",
        help="encoder for BERTScore: a folder or a hub's name (default: the bundled all-MiniLM-L6-v2)",
    )
    judging.add_options(command)
    command.add_argument("--seed", type=int, default=0, help="seed of the resampling behind intervals (default 0)")
    command.add_argument("--task", choices=TASKS, help="what the suite is about, where its columns do not say")
    command.add_argument("--images", metavar="DIR|ZIP", help="the images of a suite about images")
    command.add_argument(
        "--artifacts", metavar="DIR|ZIP", help="the files that agents made, named by their outputs or by CASE/…"
    )
    command.add_argument(
        "--model-name",
        metavar="NAME",
        action="append",
        default=[],
        help="name of the model of each OUTPUTS file, in order",
    )
    command.add_argument(
        "--map", metavar="CANONICAL=COLUMN", action="append", default=[], help="which column is what, repeatable"
    )
    command.add_argument(
        "--keep-good-rows",
        action="store_true",
        help="leave out wrong rows instead of stopping; their count stays with the run",
    )
    command.add_argument(
        "--fail-under",
        metavar="METRIC=VALUE",
        action="append",
        default=[],
        help="exit 1 if a model is worse than VALUE (METRIC or EVALUATOR.METRIC), repeatable",
    )
    command.add_argument("--pdf", metavar="FILE", help="write the report there")
    command.add_argument("--junit", metavar="FILE", help="write the outcome of every --fail-under as JUnit XML there")
    command.set_defaults(command=_evaluate)

    command = commands.add_parser("export", parents=[run, common], help="print or write a table of a finished run")
    command.add_argument("--what", choices=WHATS, default="aggregates")
    command.add_argument("--format", choices=("json", "csv", "parquet"), default="json")
    command.add_argument("-o", "--output", metavar="FILE", help="file to write (default: standard output)")
    command.set_defaults(command=_export)

    command = commands.add_parser("report", parents=[run, common], help="write the report of a finished run")
    command.add_argument("-o", "--output", metavar="FILE", required=True, help="report.pdf, .html or .json")
    command.set_defaults(command=_report)

    monitor.add_command(commands, common)
    perturbing.add_command(commands, common)
    judging.add_cache_command(commands, common)
    judging.add_judge_command(commands)
    labelling.add_labels_command(commands, common, run)

    command = commands.add_parser("evaluators", help="list the evaluators")
    command.add_argument("--json", action="store_true", help="everything they declare, as JSON")
    command.set_defaults(command=_evaluators)

    command = commands.add_parser("runs", parents=[common], help="list the runs, newest first")
    command.set_defaults(command=_runs)
    command = commands.add_parser(
        "resume", parents=[run, common], help="go on with a run that was interrupted or cancelled"
    )
    command.set_defaults(command=_resume)
    command = commands.add_parser("cancel", parents=[run, common], help="stop a run; what it has computed is kept")
    command.set_defaults(command=_cancel)
    command = commands.add_parser(
        "samples", parents=[common], help="evaluate the bundled samples that are not there yet"
    )
    command.set_defaults(command=_samples)
    command = commands.add_parser("warm-up", help="compile what is compiled on first use")
    command.set_defaults(command=_warm_up)
    return parser


def _evaluate(options: argparse.Namespace) -> int:
    from metrics.library.evaluate import runnable
    from metrics.models import SOURCES
    from metrics.reports.gates import Gate, check, require_known

    gates = [Gate.parse(text) for text in options.fail_under]
    parameters = parameters_of(options.param)
    suite, outputs = _read(options)
    chosen = (
        [name.strip() for name in options.evaluators.split(",")] if options.evaluators else runnable(suite, outputs)
    )
    require_known(gates, chosen)
    resources: dict[str, Any] = {name: value for name in SOURCES if (value := getattr(options, name))}
    if judge := judging.setting(options):
        resources["judge"] = judge
    workspace = Workspace(options.workspace)
    if options.dry_run:
        judging.print_estimate(suite, outputs, chosen, parameters, resources, workspace)
        return PASSED
    run = engine.create(
        workspace,
        suite,
        outputs,
        chosen,
        parameters,
        options.name,
        options.seed,
        resources=resources,
    )
    if not options.quiet:
        _warn_of_skipped(run)
    _execute(run, options.quiet)
    outcomes = check(run, gates)
    if options.pdf:
        _write_report(run, options.pdf)
    if options.junit:
        from metrics.reports.renderers.junit import junit

        Path(options.junit).write_bytes(junit(run, outcomes))
    if not options.quiet:
        _print_leaderboard(run)
        for outcome in outcomes:
            print(outcome.message)
    print(run.id)
    return PASSED if all(outcome.passed for outcome in outcomes) else FAILED


def _read(options: argparse.Namespace) -> tuple[Suite, Outputs]:
    from metrics.ingest import attach_files

    suite, outputs = _read_tables(options)
    if options.artifacts:
        outputs = attach_files(outputs, options.artifacts, keep_good_rows=options.keep_good_rows).value
    return suite, outputs


def _read_tables(options: argparse.Namespace) -> tuple[Suite, Outputs]:
    from metrics.ingest import read_combined, read_outputs, read_suite

    mapping, keep = dict(pairs(options.map, "--map")) or None, options.keep_good_rows
    if not options.outputs:
        unused = [name for name in ("images", "model_name") if getattr(options, name)]
        if unused:
            found = ", ".join("--" + name.replace("_", "-") for name in unused)
            raise InputError([InputProblem(found, "no OUTPUTS", "one or more files of outputs beside the suite")])
        return read_combined(options.suite, task=options.task, mapping=mapping, keep_good_rows=keep)
    names, files = options.model_name, options.outputs
    if len(names) > len(files):
        raise InputError([InputProblem("--model-name", f"{len(names)} names", f"at most one a file: {len(files)}")])
    suite = read_suite(options.suite, task=options.task, mapping=mapping, images=options.images, keep_good_rows=keep)
    named = dict(zip(files, names, strict=False))
    return suite, read_outputs(files, suite=suite, mapping=mapping, model_names=named, keep_good_rows=keep)


def _warn_of_skipped(run: Run) -> None:
    """Tell, before anything is computed, which evaluators lack a model and how to get it."""
    from metrics.core.registry import choose
    from metrics.engine.load_resources import missing_resources

    for entry, parameters in choose(list(run.evaluators), run.evaluators).values():
        if reason := missing_resources(entry, parameters, run.spec.get("resources", {})):
            print(f"{entry.id} will be skipped: {reason}", file=sys.stderr)


def _execute(run: Run, quiet: bool) -> None:
    def listen(progress: Progress) -> None:
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        print(f"\r{progress.message}: {progress.share:4.0%}{left}   ", end="", file=sys.stderr, flush=True)

    try:
        engine.execute(run, listen=None if quiet else listen)
    except KeyboardInterrupt:
        print(f"\nstopped; `python -m metrics resume {run.id}` goes on where it stood", file=sys.stderr)
        raise SystemExit(130) from None
    if not quiet:
        print(file=sys.stderr)


def _print_leaderboard(run: Run) -> None:
    from metrics.analysis import leaderboard

    board = leaderboard(run)
    wide = max([len("model"), *(len(model) for model in board.models)])
    for column in board.columns:
        if column.minor:
            continue
        arrow = {"higher": "↑", "lower": "↓"}.get(column.direction, "")
        print(f"{column.evaluator} · {column.title} {arrow}")
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None:
                continue
            value = cell.reason if cell.value is None else f"{cell.value:.3f}"
            interval = "" if cell.low is None or cell.high is None else f" [{cell.low:.3f}, {cell.high:.3f}]"
            unscored = f", {cell.unscored} unscored" if cell.unscored else ""
            print(f"  {model:<{wide}}  {value}{interval}  n {cell.n}{unscored}")


def _export(options: argparse.Namespace) -> int:
    from metrics.reports.renderers.export_tables import table, write

    content = write(table(_finished(options), options.what), options.format)
    if options.output:
        Path(options.output).write_bytes(content)
    else:
        sys.stdout.buffer.write(content)
    return PASSED


def _finished(options: argparse.Namespace) -> Run:
    return Workspace(options.workspace).run(options.run, finished=True)


def _report(options: argparse.Namespace) -> int:
    _write_report(_finished(options), options.output)
    return PASSED


def _write_report(run: Run, file: str) -> None:
    from metrics.reports import render

    kind = Path(file).suffix.lower().lstrip(".")
    if kind not in ("pdf", "html", "json"):
        raise InputError([InputProblem(file, f"the ending {kind!r}", ".pdf, .html or .json")])
    Path(file).write_bytes(render(run, kind))


def _evaluators(options: argparse.Namespace) -> int:
    from metrics.reports.catalogue import catalogue

    entries = catalogue()
    if options.json:
        print(json.dumps(entries, ensure_ascii=False, indent=1))
        return PASSED
    for entry in entries:
        print(f"{entry['id']:<28} {entry['title']} ({', '.join(entry['tasks'])}) {entry['summary']}")
    return PASSED


def _runs(options: argparse.Namespace) -> int:
    for run in Workspace(options.workspace).runs():
        print(f"{run.id}  {run.state:<11}  {len(run.models)} models  {run.name}")
    return PASSED


def _resume(options: argparse.Namespace) -> int:
    run = Workspace(options.workspace).run(options.run)
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; a sealed run never changes")
    _execute(run, options.quiet)
    print(run.id)
    return PASSED


def _cancel(options: argparse.Namespace) -> int:
    engine.cancel(Workspace(options.workspace).run(options.run))
    return PASSED


def _samples(options: argparse.Namespace) -> int:
    from metrics.suites.samples import compute_missing

    for run in compute_missing(Workspace(options.workspace)):
        print(run.id)
    return PASSED


def _warm_up(_: argparse.Namespace) -> int:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from metrics.vision.compiled import PARTS, warm_up

    with ProcessPoolExecutor(len(PARTS), mp_context=get_context("spawn")) as processes:
        list(processes.map(warm_up, range(len(PARTS))))
    return PASSED


if __name__ == "__main__":
    sys.exit(main())
