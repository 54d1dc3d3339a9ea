"""`labels`: labels that people gave to the outputs of a run."""

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

from metrics.cli import given_rows
from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.label_schema import SAMPLINGS
from metrics.store import Run
from metrics.store.export_formats import write
from metrics.store.rating_sets import Labels

if TYPE_CHECKING:
    import pandas as pd

CHOICES = {name: SAMPLINGS[name] for name in ("random", "picked", "unknown")}
UNKNOWN = "Without --sampling random, labels speak for the labelled outputs alone, unless every output has one."


def add_command(commands: Any) -> None:
    words = (
        "people's labels of a run's outputs: add, list, remove, export; agreement with them, and what they let through"
    )
    command = commands.add_parser("labels", help=words)
    actions = command.add_subparsers(required=True, metavar="ACTION")

    words = "add the labels of files; every run of the same data shares them"
    action = add_parser(actions, "add", _add, of_run=True, help=words)
    action.add_argument(
        "files", metavar="FILE", nargs="+", help="CSV, JSONL, JSON, Parquet or Excel, long or wide; see docs/labels.md"
    )
    add_reading(action)

    given_rows.add_kept(actions, Labels, _exported)

    words = "print or write how far each metric agrees with the labels, a statistic a row"
    action = add_parser(actions, "agreement", _agreement, of_run=True, help=words)
    action.add_argument("--criterion", help="what was labelled (default: every criterion)")
    action.add_argument("--metric", metavar="METRIC", help="METRIC or EVALUATOR.METRIC (default: every one)")
    add_table_output(action, "csv")

    words = "print or write from which score on answers can be accepted without a person, a model a row"
    action = add_parser(actions, "acceptance", _acceptance, of_run=True, help=words)
    action.add_argument("--criterion", help="what was labelled (default: every criterion)")
    action.add_argument("--metric", metavar="METRIC", help="METRIC or EVALUATOR.METRIC (default: every one)")
    action.add_argument(
        "--most-errors", metavar="SHARE", type=float, default=0.05,
        help="share of the accepted answers that may be wrong by people's labels, at 95 %% confidence (default: 0.05)",
    )  # fmt: skip
    add_table_output(action, "csv")


def add_reading(action: argparse.ArgumentParser) -> None:
    """Add the options of reading files of labels; see `add_files`."""
    given_rows.add_reading(action)
    action.add_argument(
        "--sampling", choices=tuple(CHOICES), default="unknown",
        help="; ".join(f"{name}: {text}" for name, text in CHOICES.items()) + ". Only random labels, or those of every "
        "output, speak for outputs without a label",
    )  # fmt: skip


def _add(options: argparse.Namespace) -> None:
    for name in add_files(run_of(options), options):
        say(name)


def add_files(run: Run, options: argparse.Namespace) -> list[str]:
    """Add the labels of `options.files` to a run, all of them or none, and return the ids of their sets."""
    from metrics.ingest.label_files import read_labels

    notes = [UNKNOWN] if options.sampling == "unknown" else []
    return given_rows.add_files(run, Labels, partial(read_labels, sampling=options.sampling), options, *notes)


def _exported(run: Run) -> "pd.DataFrame":
    from metrics.analysis.labels.human_labels import exported

    return exported(run)


def _agreement(options: argparse.Namespace) -> None:
    from metrics.analysis.labels.judge_agreement import agreements
    from metrics.presentation.agreement_words import agreement_frame

    run = run_of(options)
    only, wanted = _asked(run, options)
    rows = [(name, found) for name in wanted for found in agreements(run, name, only=only)]
    write_output(write(agreement_frame(rows), options.format), options.output)


def _acceptance(options: argparse.Namespace) -> None:
    from metrics.analysis.labels.acceptance import acceptances
    from metrics.analysis.labels.labelled_scores import metric_columns
    from metrics.presentation.guarantee_words import acceptance_frame

    if not 0 < options.most_errors < 1:
        raise InputError([InputProblem("--most-errors", f"{options.most_errors:g}", "a share between 0 and 1")])
    run = run_of(options)
    only, wanted = _asked(run, options)
    metrics = list(metric_columns(run)) if only is None else [only]
    rows = [
        (name, found)
        for name in wanted
        for metric in metrics
        for found in acceptances(run, name, metric, most=options.most_errors)
    ]
    write_output(write(acceptance_frame(rows), options.format), options.output)


def _asked(run: Run, options: argparse.Namespace) -> tuple[tuple[str, str] | None, list[str]]:
    """Return the metric asked for, None for every one, and the criteria."""
    from metrics.analysis.labels.calibrate import chosen_criterion, chosen_metric
    from metrics.analysis.labels.human_labels import criteria

    only = chosen_metric(run, options.metric) if options.metric else None
    wanted = [one.name for one in criteria(run)]
    if options.criterion is not None or not wanted:
        wanted = [chosen_criterion(run, options.criterion, "")]
    return only, wanted
