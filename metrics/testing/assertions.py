"""Assertions about a finished run, which say why they fail: value, interval, worst cases, and how to open the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrics.reports.gates import Gate, Outcome
    from metrics.store import Run

SHOWN_CASES = 3


def assert_metric(
    run: "Run",
    metric: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    lower_bound: bool = False,
    upper_bound: bool = False,
    not_worse_than: "Run | str | Path | None" = None,
    margin: float | None = None,
    model: str | None = None,
    allow_unscored: bool = False,
) -> None:
    """Assert that every model of a run, or one, is good enough at a metric; the gates are those of the command.

    Args:
        run: a finished run.
        metric: METRIC or EVALUATOR.METRIC.
        at_least, at_most: the limit of the value, in the metric's unit.
        lower_bound: the lower end of the 95 % interval must be `at_least` that, not just the value.
        upper_bound: the upper end of the 95 % interval must be `at_most` that.
        not_worse_than: the baseline: a run, its id, `latest`, a board's address, or a run archive. The model must not
            be significantly worse (paired test on the shared cases, 5 %) than the one of the same name in it, or
            the only one; or than the MODEL of RUN:MODEL.
        margin: by how much it may be worse, in the metric's unit, > 0: the 95 % interval of the difference must show
            that it is worse by less (non-inferiority), which also asks for enough cases.
        model: the model; None: all of the run.
        allow_unscored: take the value of the scored cases alone; otherwise cases without a score count as the worst
            where they are more than 2 %, and a metric whose range has no worst end fails.

    Raises:
        AssertionError: where a model is not good enough, or has no value.
        InputError: where run or baseline have no such metric, model or suite, or the limits make no sense.
    """
    __tracebackhide__ = True
    gates = _gates(metric, at_least, at_most, lower_bound, upper_bound)
    outcomes = _outcomes(run, metric, gates, not_worse_than, margin, model, allow_unscored)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if failed:
        raise AssertionError("\n".join(line for outcome in failed for line in _told(run, outcome)))


def _gates(
    metric: str, at_least: float | None, at_most: float | None, lower_bound: bool, upper_bound: bool
) -> "list[Gate]":
    from metrics.core.errors import InputProblem, refuse
    from metrics.reports.gates import Gate

    problems = []
    if lower_bound and at_least is None:
        problems.append(InputProblem("assert_metric", "lower_bound without at_least", "the least lower bound"))
    if upper_bound and at_most is None:
        problems.append(InputProblem("assert_metric", "upper_bound without at_most", "the largest upper bound"))
    refuse(problems)
    evaluator, dot, name = metric.rpartition(".")
    of = evaluator if dot else None
    found = []
    if at_least is not None:
        found.append(Gate(name, at_least, of, "lower" if lower_bound else None, at_most=False))
    if at_most is not None:
        found.append(Gate(name, at_most, of, "upper" if upper_bound else None, at_most=True))
    return found


def _outcomes(
    run: "Run",
    metric: str,
    gates: "list[Gate]",
    baseline: "Run | str | Path | None",
    margin: float | None,
    model: str | None,
    allow_unscored: bool,
) -> "list[Outcome]":
    from metrics.core.errors import InputError, InputProblem, one_of
    from metrics.reports import baseline as baselines
    from metrics.reports.gates import check, require_known
    from metrics.store import Workspace

    if model is not None and model not in run.models:
        raise InputError([InputProblem("model", repr(model), one_of(model, run.models))])
    if not gates and baseline is None:
        raise InputError([InputProblem("assert_metric", "no limit", "at_least, at_most or not_worse_than")])
    if margin is not None and baseline is None:
        raise InputError([InputProblem("assert_metric", "margin without not_worse_than", "the run to compare with")])
    require_known(gates, list(run.evaluators), run.evaluators)
    outcomes = check(run, gates, model, allow_unscored)
    if baseline is not None:
        baselines.require_metrics([metric], list(run.evaluators), run.evaluators)
        before, only = (
            baselines.open_baseline(str(baseline), Workspace(run.workspace.path))
            if isinstance(baseline, str | Path)
            else (baseline, None)
        )
        baselines.require_comparable(before, run.suite, run.models if model is None else [model], only)
        margins = {} if margin is None else baselines.parse_margins([f"{metric}={margin}"])
        every = baselines.differences(run, before, [metric], margins, allow_unscored=allow_unscored, only=only)
        against = [each for each in every if model in (None, each.model)]
        outcomes += baselines.worse(against, [metric]) if margin is None else baselines.non_inferior(against, margins)
    return outcomes


def _told(run: "Run", outcome: "Outcome") -> Iterator[str]:
    """Yield what a failure says: the outcome, the value with its interval, the worst cases, and how to open the run."""
    from metrics.analysis import leaderboard, worst_cases
    from metrics.core.input_problems import short
    from metrics.presentation.format import number
    from metrics.presentation.phrases import unscored_words, with_interval
    from metrics.reports.baseline import column_id

    yield short(outcome.message, 600)
    board = leaderboard(run)
    for column in board.columns:
        cell = board.cells.get((outcome.model, column.key))
        if column_id(column) != outcome.metric or cell is None:
            continue
        unscored = unscored_words(cell)
        value = with_interval(cell.value, cell.low, cell.high)
        yield f"  value {value}, n {cell.n:,}{f', {unscored}' if unscored else ''}"
        rows = worst_cases(run, column.evaluator, column.metric, outcome.model, most=SHOWN_CASES).rows
        if len(rows):
            yield "  worst cases:"
        for row in rows.to_dict("records"):
            why = " · ".join(short(str(row[name])) for name in ("reason", "answer") if row[name])
            yield f"    {short(str(row['case_id']), 60)}  {number(row['value'])}{f'  {why}' if why else ''}"
    command = f"python -m metrics report {run.id} --workspace {run.workspace.path.absolute()} -o report.html"
    yield f"  open the run: {command}"
