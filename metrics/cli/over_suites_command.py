"""`over-suites`: one metric of the models of several runs, each of a suite, and all suites together."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.analysis import SeveralSuites, several_suites
from metrics.analysis.boards.board import open_run
from metrics.analysis.ranking.objectives import objective_key
from metrics.cli.options import add_parser, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.presentation.phrases import with_interval
from metrics.store import Workspace

ALL, MEAN = "all suites", "mean of suites"  # in place of a suite


def add_command(commands: Any) -> None:
    words = "compare models over several suites: a metric in each, and in all of them"
    command = add_parser(commands, "over-suites", _over_suites, help=words)
    command.add_argument(
        "runs", metavar="RUN", nargs="+",
        help="ids of finished runs, latest, or board:SUITE; "
        "those that computed the metric otherwise than the first are left out",
    )  # fmt: skip
    command.add_argument("--metric", metavar="METRIC", required=True, help="METRIC or EVALUATOR.METRIC")
    command.add_argument("-o", "--output", metavar="FILE.csv", help="write the table of models and suites to FILE.csv")


def _over_suites(options: argparse.Namespace) -> None:
    from metrics.presentation.ranking_words import suites_lines, suites_sentence

    if options.output and Path(options.output).suffix.lower() != ".csv":
        raise InputError([InputProblem(options.output, "another ending", ".csv")])
    workspace = Workspace(options.workspace)
    runs = [open_run(workspace, name, finished=True) for name in dict.fromkeys(options.runs)]
    found = several_suites(runs, objective_key(runs[0], options.metric, "--metric"))
    if options.output:
        import pandas as pd

        from metrics.store.table_files import write

        table = pd.DataFrame(_rows(found)).astype(dict.fromkeys(("n", "best_rank", "worst_rank"), "Int64"))
        write_output(write(table, "csv"), options.output)
    if not options.quiet:
        say(suites_sentence(found), *_lines(found), *suites_lines(found))


def _lines(found: SeveralSuites) -> Iterator[str]:
    """Yield each suite with the models' numbers in it."""
    wide = max(len(one.model) for one in found.overall)
    for suite in found.suites:
        yield f"{suite.name}, {suite.cases:,} cases"
        for one in found.overall:
            own = found.cells[one.model, suite.fingerprint]
            cell = own.cell
            value = own.reason if cell is None else f"{with_interval(cell.value, cell.low, cell.high)}  n {cell.n}"
            yield f"  {one.model:<{wide}}  {value}"


def _rows(found: SeveralSuites) -> Iterator[dict[str, Any]]:
    """Yield a row for each model and suite, and for what is said of all suites."""
    for one in found.overall:
        for suite in found.suites:
            own = found.cells[one.model, suite.fingerprint]
            cell = own.cell
            yield {
                "model": one.model, "suite": suite.name, "run": own.run, "metric": found.column.key,
                "value": cell and cell.value, "low": cell and cell.low, "high": cell and cell.high,
                "n": cell.n if cell else 0, "best_rank": None, "worst_rank": None, "reason": own.reason,
            }  # fmt: skip
        yield _row(found, one.model, MEAN, one.mean, one.mean_low, one.mean_high)
        ranks = {"best_rank": one.best_rank, "worst_rank": one.worst_rank}
        yield _row(found, one.model, ALL, one.value, one.low, one.high) | ranks


def _row(
    found: SeveralSuites, model: str, suite: str, value: float | None, low: float | None, high: float | None
) -> dict[str, Any]:
    return {
        "model": model, "suite": suite, "run": None, "metric": found.column.key, "value": value, "low": low,
        "high": high, "n": None, "best_rank": None, "worst_rank": None, "reason": "",
    }  # fmt: skip
