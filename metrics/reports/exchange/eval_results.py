"""A number of the leaderboard as evaluation results of the Hugging Face Hub: `.eval_results/*.yaml` of each model.

A benchmark of the Hub has one number for a model, so the user says which benchmark, and of several main metrics which.
"""

import re
from pathlib import Path

from metrics import __version__, analysis
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.presentation.format import DIRECTIONS, range_text
from metrics.presentation.safe_text import shown
from metrics.reports.build import changes_of
from metrics.reports.exchange.contents import Number, file_name, numbers, unique_names
from metrics.store import Run

BENCHMARK = re.compile(
    r"(?P<id>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?:(?P<task_id>[\w.-]+)(?:=(?P<metric>\S+))?", re.ASCII
)
EXPECTED = "the benchmark on the Hub, as DATASET:TASK or DATASET@REVISION:TASK, =EVALUATOR.METRIC behind it"


def export(run: Run, folder: Path, benchmark: str | None) -> None:
    """Write MODEL/.eval_results/BENCHMARK.yaml for each model with a value; see `notes` for the others.

    Raises InputError where the benchmark or its metric is not given as EXPECTED, or no model has a value.
    """
    import yaml

    dataset, found = _choose_numbers(run, benchmark)
    valued = [one for one in found if one.has_value]
    refuse([] if valued else [InputProblem("metric", f"{found[0].name} without a value", "a value of some model")])
    names = unique_names(run.models)
    for one in valued:
        path = folder / names[one.model] / ".eval_results" / f"{file_name('_'.join(dataset.values()))}.yaml"
        path.parent.mkdir(parents=True)
        entry = {
            "dataset": dataset,
            "value": one.cell.value,
            "date": run.behind(one.model, one.column.evaluator).sealed,
            "notes": _notes(run, one),
        }
        path.write_text(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True), encoding="utf-8")


def notes(run: Run, benchmark: str | None) -> list[str]:
    """Return why nothing can be written, else the models without a file, each with the reason; none before the
    benchmark is given.
    """
    if benchmark is None:
        return []
    try:
        found = _choose_numbers(run, benchmark)[1]
    except InputError as failure:
        return str(failure).splitlines()
    return [f"{one.model}: no file: {one.cell.reason or 'no value'}" for one in found if not one.has_value]


def _choose_numbers(run: Run, benchmark: str | None) -> tuple[dict[str, str], list[Number]]:
    """Return the data set as the Hub names it, and the numbers of the metric that is chosen, a model each."""
    given = BENCHMARK.fullmatch(benchmark or "")
    if given is None:
        raise InputError([InputProblem("benchmark", repr(benchmark) if benchmark else "none", EXPECTED)])
    parts = {name: text for name, text in given.groupdict().items() if text}
    metric = parts.pop("metric", None)
    found = numbers(run)
    main = list(dict.fromkeys(one.name for one in found if one.column.primary))
    known = list(dict.fromkeys(one.name for one in found))
    if metric not in known and (metric or len(main) != 1):
        expected = f"=EVALUATOR.METRIC behind it: one of {', '.join(main if metric is None else known)}"
        raise InputError([InputProblem("benchmark", repr(benchmark), expected)])
    order = ("id", "task_id", "revision")
    chosen = [one for one in found if one.name == (metric or main[0])]
    return {name: parts[name] for name in order if name in parts}, chosen


def _notes(run: Run, one: Number) -> str:
    """Return what the number is: metric, run, interval, counts, parameters that are not the default, judge."""
    column, cell = one.column, one.cell
    behind = run.behind(one.model, column.evaluator)
    judge = analysis.judged_by(behind).get(column.evaluator)
    parts = (
        f"{one.name} by Assay {__version__}, run {behind.id}, suite {run.spec.suite.name}", *run.made_of,
        f"{range_text(column.low, column.high)}, {DIRECTIONS[column.direction]}",
        "no interval" if cell.low is None and cell.high is None else
        f"95 % interval {cell.low} to {cell.high} ({cell.interval})",
        f"n {cell.n}", f"{cell.unscored} unscored",
        *([changed] if (changed := changes_of(run, column.evaluator)) else []), *([f"judge {judge}"] if judge else []),
    )  # fmt: skip
    return shown("; ".join(parts))
