"""`calibrate`: set the threshold of a metric, for the models that a run used, by people's labels."""

import argparse
import sys
from typing import Any

from metrics.cli.labels_command import add_files, add_reading
from metrics.cli.options import add_parser, run_of
from metrics.cli.terminal import say
from metrics.store.threshold_profiles import Calibrations


def add_command(commands: Any) -> None:
    words = "set a metric's threshold by people's labels; later runs with the same models use it"
    command = add_parser(commands, "calibrate", _calibrate, of_run=True, help=words)
    add = command.add_argument
    add("--metric", metavar="METRIC", required=True, help="the metric to calibrate: METRIC or EVALUATOR.METRIC")
    add(
        "--labels", metavar="FILE", dest="files", action="append", default=[],
        help="labels of the run's outputs, added to it first as by `labels add`, repeatable (default: those it has)",
    )  # fmt: skip
    add_reading(command)
    add("--criterion", metavar="NAME", help="criterion of the labels (default: the metric's name, or the only one)")
    add("--passing", type=float, metavar="GRADE", help="grade from which an output is good (default: above the middle)")
    add("--forget", action="store_true", help="remove what was calibrated before for the run's models and parameters")


def _calibrate(options: argparse.Namespace) -> None:
    from metrics.analysis.labels.calibrate import calibrate, calibrated_here, chosen_criterion, chosen_metric
    from metrics.presentation.guarantee_words import calibrated

    run = run_of(options, finished=True)
    kept = Calibrations(run.workspace.path)
    evaluator, metric = chosen_metric(run, options.metric)
    if options.forget:
        removed = calibrated_here(run, evaluator, metric)
        if removed is not None:
            kept.forget(removed)
        say(f"{evaluator}.{metric}: " + ("nothing was calibrated" if removed is None else "forgotten"))
        return
    if options.files:
        add_files(run, options)
    found = calibrate(run, evaluator, metric, chosen_criterion(run, options.criterion, metric), options.passing)
    kept.keep(found)
    say(f"{evaluator}.{metric}: {calibrated(found)}")
    if not options.quiet:
        used = "later runs with the same models and parameters use it; this run keeps its own"
        unfit = "these labels support no threshold; later runs say so beside the number"
        say(used if found.separates else unfit, file=sys.stderr)
