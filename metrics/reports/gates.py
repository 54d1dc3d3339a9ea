"""What a run says to CI: whether it has any value, and its gates on values and on the bounds of their intervals.

The gates on differences to a baseline are in metrics.reports.baseline. Both give Outcomes, from which exit codes,
JUnit, Markdown and the assertions of metrics.testing follow.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

from metrics.analysis import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.leaderboard.unscored import worst_interval
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.registry import choose
from metrics.core.rounding import at_least, at_most, same_number
from metrics.presentation.format import STATUSES, interval, number
from metrics.store import Run

UNSCORED = ("error", "parse_failure", "skipped", "not_applicable")  # in the order in which they are listed
FAIL_UNDER = "fail-under"
FORM = "METRIC=NUMBER or EVALUATOR.METRIC=NUMBER; METRIC.lower=NUMBER or METRIC.upper=NUMBER for the 95 % bound"
Bound = Literal["lower", "upper"]


@dataclass(frozen=True, slots=True)
class Gate:
    """No model may be worse than `value` at `metric`; `evaluator` None: at every metric of that name.

    `bound`: the end of the 95 % interval that is compared in place of the value: the lower one must be at least
    `value`, the upper one at most. `at_most`: which side of the limit is asked for; None: the metric's better one.
    """

    metric: str
    value: float
    evaluator: str | None = None
    bound: Bound | None = None
    at_most: bool | None = None

    @classmethod
    def parse(cls, text: str) -> "Gate":
        """Return the gate of METRIC=VALUE, EVALUATOR.METRIC=VALUE or one with .lower or .upper; else InputError."""
        name, _, number = text.partition("=")
        *before, last = name.strip().split(".")
        bound = last if before and last in ("lower", "upper") else None
        evaluator, dot, metric = (".".join(before) if bound else name.strip()).rpartition(".")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not metric or not isfinite(value):
            raise InputError([InputProblem("--fail-under", repr(text), FORM)])
        return cls(metric, value, evaluator if dot else None, bound)  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        """How the metric is named: `rougeL`, `rouge.rougeL.lower`."""
        return ".".join(part for part in (self.evaluator, self.metric, self.bound) if part)

    def covers(self, evaluator: str, metric: str) -> bool:
        """Return whether the gate is about this metric."""
        return self.metric == metric and self.evaluator in (None, evaluator)

    def asks_at_most(self, direction: str) -> bool:
        """Return whether a metric with this better end must be at most `value`, not at least."""
        if self.at_most is None:
            return direction == "lower" or (direction == "none" and self.bound == "upper")
        return self.at_most

    def fits(self, direction: str) -> bool:
        """Return whether side and bound are those on which a metric with this better end is worse."""
        at_most = self.asks_at_most(direction)
        bound = "upper" if at_most else "lower"
        return (direction == "none" or at_most == (direction == "lower")) and self.bound in (None, bound)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one gate for one model: `gate` as it was asked for, what was `found` and `wanted`.

    `option`: what asks for such gates on the command line: fail-under, fail-if-worse or non-inferior.
    """

    option: str
    gate: str
    model: str
    metric: str
    found: str
    wanted: str
    passed: bool

    @property
    def message(self) -> str:
        """The result in one line."""
        return f"{'passed' if self.passed else 'FAILED'}: {self.model} {self.metric} {self.found}, wanted {self.wanted}"


def directions(
    chosen: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[tuple[str, str], str]:
    """Return the better end of each metric of the chosen evaluators by (evaluator, metric)."""
    return {
        (entry.id, metric.name): metric.direction.value
        for entry, _ in choose(chosen, parameters).values()
        for metric in entry.metrics
    }


def require_known(
    gates: Sequence[Gate], chosen: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Raise InputError with every gate that names no metric of the chosen evaluators, or a bound on its better side.

    Call it before the run.
    """
    there = directions(chosen, parameters)
    problems = []
    for gate in gates:
        covered = {key: direction for key, direction in there.items() if gate.covers(*key)}
        if not covered:
            asked = ".".join(part for part in (gate.evaluator, gate.metric) if part)
            expected = one_of(asked, (".".join(key) for key in there))
            problems.append(InputProblem("--fail-under", repr(asked), expected))
        for key, direction in covered.items():
            if not gate.fits(direction):
                problems.append(InputProblem("--fail-under", repr(gate.name), _other_side(key, direction)))
    if problems:
        raise InputError(problems)


def _other_side(key: tuple[str, str], direction: str) -> str:
    bound, side = ("upper", "at most") if direction == "lower" else ("lower", "at least")
    return f"{'.'.join(key)}.{bound}: {direction} is better, so its {bound} bound must be {side} the limit"


def check(run: Run, gates: Sequence[Gate], model: str | None = None, allow_unscored: bool = False) -> list[Outcome]:
    """Return the outcome of each gate for each model, or for one, and column of its metric.

    A missing value or interval does not pass. Of a model that lacks a score of more than MAX_MISSING of its cases the
    value is taken that it had if these were the worst, unless `allow_unscored`; one without such a value does not pass.
    """
    board = leaderboard(run)
    models = [each for each in board.models if model in (None, each)]
    outcomes = []
    for gate in gates:
        columns = [column for column in board.columns if gate.covers(column.evaluator, column.metric)]
        outcomes += [
            _outcome(gate, each, column, *_cell_of_gate(run, board, gate, each, column, allow_unscored))
            for column in columns
            for each in models
        ]
        if not columns:
            name, limit = gate.name, f"{gate.value:g}"
            outcomes += [
                Outcome(FAIL_UNDER, f"{name}={limit}", each, name, "no value", limit, passed=False) for each in models
            ]
    return outcomes


def _cell_of_gate(
    run: Run, board: Leaderboard, gate: Gate, model: str, column: Column, allow_unscored: bool
) -> tuple[Cell | None, str]:
    """Return a cell as a gate takes it, and what was made of its missing cases.

    As it is where they are few or allowed, else with the value and bounds that it had if they were on the gate's wrong
    side; without a value where nothing bounds it.
    """
    cell = board.cells.get((model, column.key))
    if cell is None or not cell.is_partial or allow_unscored:
        return cell, ""
    share = f"{100 * cell.missing_share:.0f} % of the cases unscored"
    upper = gate.asks_at_most(column.direction)
    metric, end = run.metric(column.evaluator, column.metric), column.high if upper else column.low
    if cell.bounds is None or metric is None:
        why = "the range has no end" if not isfinite(end) else "no mean over cases"
        return replace(cell, value=None, low=None, high=None), f"{share} and no worst case: {why}"
    low, high = worst_interval(run, metric, column, model, end) or (None, None)
    whole = replace(cell, value=cell.bounds[upper], low=low, high=high, n=cell.n + cell.missing)
    return whole, f"at worst, with {share}; {number(cell.value)} of the others"


def _outcome(gate: Gate, model: str, column: Column, cell: Cell | None, note: str) -> Outcome:
    upper = gate.asks_at_most(column.direction)
    side = f"{'at most' if upper else 'at least'} {gate.value:g}"
    value = None if cell is None else {None: cell.value, "lower": cell.low, "upper": cell.high}[gate.bound]
    passed = value is not None and (at_most if upper else at_least)(value, gate.value)
    name = f"{column.evaluator}.{column.title}"
    return Outcome(
        option=FAIL_UNDER,
        gate=f"{name}{f'.{gate.bound}' if gate.bound else ''}={gate.value:g}",
        model=model,
        metric=name,
        found=_describe_found(gate, value, cell, f" ({note})" if note else ""),
        wanted=f"{gate.bound} 95 % bound {side}" if gate.bound else side,
        passed=passed,
    )


def _describe_found(gate: Gate, value: float | None, cell: Cell | None, note: str) -> str:
    """Return what a gate found, with enough digits to see on which side of the limit it is."""
    if cell is None or cell.value is None:
        return f"no value{note}"
    if value is None:
        return f"{cell.value:.4g}{note} without an interval (n {cell.n:,})"
    shown = next(text for text in (f"{value:.{digits}g}" for digits in (4, 8, 17)) if (float(text) == gate.value) is (
        bool(same_number(value, gate.value))
    ))  # fmt: skip
    if gate.bound is None:
        return shown + note
    return f"{cell.value:.4g}{note} with {gate.bound} bound {shown} ({interval(cell.low, cell.high)}, n {cell.n:,})"


def no_value(run: Run) -> str | None:
    """Return in one line why a run has no value, of cases or of the data set; None where it has one."""
    table = run.stored_table("aggregates", columns=["value", "reason"])
    valued = run.query("SELECT count(value) AS n FROM scores")["n"].iloc[0]
    if valued or table["value"].null_count < len(table):
        return None
    # a score has a row for each metric
    without = run.query(
        """SELECT status, reason, count(*) AS cases FROM
             (SELECT DISTINCT ON (evaluator, model, run, case_id) status, reason FROM scores WHERE status != 'ok'
              ORDER BY evaluator, model, run, case_id, metric)
           GROUP BY ALL ORDER BY cases DESC, reason"""
    )
    if without.empty:
        reasons = Counter(filter(None, table["reason"].to_pylist())).most_common(1)
        return "no evaluator has a value" + "".join(f"; most often: {reason}" for reason, _ in reasons)
    counts = without.groupby("status")["cases"].sum()
    by_status = ", ".join(f"{STATUSES[status]}: {counts[status]:,}" for status in UNSCORED if status in counts)
    if "parse_failure" in counts and run.spec.judge and "replay" not in run.spec.judge:
        by_status += "; a new run asks the judge again"
    reason, times = without.loc[0, ["reason", "cases"]]
    return f"no case has a value ({by_status}); {times:,} times: {reason}"
