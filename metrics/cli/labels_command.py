"""`labels`: labels that people gave to the outputs of a run."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from metrics.analysis.labels.human_labels import criteria, exported
from metrics.analysis.labels.judge_agreement import agreements
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.raters import rater_agreement
from metrics.cli import given_rows
from metrics.cli.options import add_parser, add_table_output, run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.schema import SAMPLINGS
from metrics.presentation.guarantee_words import acceptance_frame
from metrics.store import Run
from metrics.store.rating_sets import Labels
from metrics.store.table_files import write

if TYPE_CHECKING:
    import pandas as pd

CHOICES = {name: SAMPLINGS[name] for name in ("random", "weighted", "picked", "unknown")}
UNKNOWN = "Without --sampling random, labels speak for the labelled outputs alone, unless every output has one."


def add_command(commands: Any) -> None:
    words = "people's labels of a run's outputs: add, list, remove, export; agreement with them, and "
    command = commands.add_parser("labels", help=words + "what they let through")
    actions = command.add_subparsers(required=True, metavar="ACTION")

    words = "add the labels of files; every run of the same data shares them"
    action = add_parser(actions, "add", _add, of_run=True, help=words)
    action.add_argument(
        "files", metavar="FILE", nargs="+", help="CSV, JSONL, JSON, Parquet or Excel, long or wide; see docs/labels.md"
    )
    add_reading(action)

    words = "write which outputs to label next, drawn more often where a metric's score leaves doubt"
    action = add_parser(actions, "next", _next, of_run=True, help=words)
    action.add_argument("--criterion", required=True, help="what to label")
    action.add_argument("--metric", required=True, metavar="METRIC", help="METRIC or EVALUATOR.METRIC")
    action.add_argument("--most", metavar="N", type=int, default=50, help="how many outputs (default: 50)")
    add_table_output(action, "csv")

    given_rows.add_kept(actions, Labels, exported)

    words = "print or write how far each metric agrees with the labels, a statistic a row"
    _add_table(actions, "agreement", _agreement, words)
    words = "print or write each model's mean as judged and corrected by labels, a statistic a row"
    _add_table(actions, "means", _means, words)
    words = "print or write how far raters agree, and of three or more how often each errs, a statistic a row"
    _add_table(actions, "raters", _raters, words, of_metric=False)
    words = "print or write whether a metric's verdicts may replace a rater (alternative annotator test), a rater a row"
    help = (
        "by how much the judge may be behind a rater, as people cost more: 0.1 for crowd workers, 0.15 for skilled "
        "raters, 0.2 for experts (default: 0.1)"
    )
    _add_table(actions, "replacement", _replacement, words, share=("--epsilon", 0.1, help))
    words = "print or write from which score on answers can be accepted without a person, a model a row"
    help = "share of the accepted answers that may be wrong by people's labels, at 95 %% confidence (default: 0.05)"
    _add_table(actions, "acceptance", _acceptance, words, share=("--most-errors", 0.05, help))


def _add_table(
    actions: Any, name: str, frame_of: Callable[[Run, argparse.Namespace], "pd.DataFrame"], words: str,
    of_metric: bool = True, share: tuple[str, float, str] | None = None,
) -> None:  # fmt: skip
    """Add an action that writes a table, of one criterion and metric or all; `share`: an option with default, help."""

    def write_table(options: argparse.Namespace) -> None:
        if share and not 0 < (given := getattr(options, share[0].removeprefix("--").replace("-", "_"))) < 1:
            raise InputError([InputProblem(share[0], f"{given:g}", "a share between 0 and 1")])
        write_output(write(frame_of(run_of(options), options), options.format), options.output)

    action = add_parser(actions, name, write_table, of_run=True, help=words)
    action.add_argument("--criterion", help="what was labelled (default: every criterion)")
    if of_metric:
        action.add_argument("--metric", metavar="METRIC", help="METRIC or EVALUATOR.METRIC (default: every one)")
    if share:
        flag, default, help = share
        action.add_argument(flag, metavar="SHARE", type=float, default=default, help=help)
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


def _next(options: argparse.Namespace) -> None:
    import pandas as pd

    from metrics.analysis.labels.calibrate import chosen_metric
    from metrics.analysis.labels.label_queue import keep_draw_sizes, queue

    run = run_of(options)
    only = chosen_metric(run, options.metric)
    keep_draw_sizes(run, options.criterion, only)
    coming = queue(run, options.criterion, "", only, most=options.most, mixed=False).next
    names = ("case_id", "model", "criterion", "label")
    rows = [dict(zip(names, (one.case_id, one.model, options.criterion, ""), strict=True)) for one in coming]
    write_output(write(pd.DataFrame(rows, columns=names), options.format), options.output)


def _agreement(run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.analysis.labels.calibrate import chosen_metric
    from metrics.presentation.agreement_words import agreement_frame

    only = chosen_metric(run, options.metric) if options.metric else None
    wanted = _criteria(run, options)
    return agreement_frame([(name, found) for name in wanted for found in agreements(run, name, only=only)])


def _acceptance(run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.analysis.labels.pass_rates import acceptances

    return acceptance_frame(
        [
            (name, found)
            for name, metric in _criteria_and_metrics(run, options)
            for found in acceptances(run, name, metric, most=options.most_errors)
        ]
    )


def _means(run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.analysis.labels.corrected_means import corrected_means
    from metrics.analysis.labels.pass_rates import pass_rates
    from metrics.presentation.rater_words import means_frame

    columns = metric_columns(run)
    return means_frame(
        [
            (columns[metric], name, *of_model)
            for name, metric in _criteria_and_metrics(run, options)
            for of_model in zip(corrected_means(run, name, metric), pass_rates(run, name, metric), strict=True)
        ]
    )


def _raters(run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.analysis.labels.rater_errors import rater_errors
    from metrics.presentation.rater_words import raters_frame

    wanted = _criteria(run, options)
    return raters_frame([(name, rater_agreement(run, name), rater_errors(run, name)) for name in wanted])


def _replacement(run: Run, options: argparse.Namespace) -> "pd.DataFrame":
    from metrics.analysis.labels.rater_errors import annotator_test
    from metrics.presentation.rater_words import replacement_frame

    asked = _criteria_and_metrics(run, options)
    return replacement_frame([(name, annotator_test(run, name, one, epsilon=options.epsilon)) for name, one in asked])


def _criteria(run: Run, options: argparse.Namespace) -> list[str]:
    from metrics.analysis.labels.calibrate import chosen_criterion

    wanted = [one.name for one in criteria(run)]
    return wanted if wanted and options.criterion is None else [chosen_criterion(run, options.criterion, "")]


def _criteria_and_metrics(run: Run, options: argparse.Namespace) -> list[tuple[str, tuple[str, str]]]:
    from metrics.analysis.labels.calibrate import chosen_metric

    metrics = [chosen_metric(run, options.metric)] if options.metric else [*metric_columns(run)]
    return [(name, metric) for name in _criteria(run, options) for metric in metrics]
