"""What a run says to CI: whether it has any value, and its gates, the --fail-under conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.analysis import leaderboard
from metrics.core.errors import InputError, InputProblem
from metrics.core.registry import choose
from metrics.presentation.format import STATUSES
from metrics.store import Run

FAILED = ("error", "parse_failure", "skipped")


@dataclass(frozen=True, slots=True)
class Gate:
    """No model may be worse than `value` at `metric`; `evaluator` None: at every metric of that name."""

    metric: str
    value: float
    evaluator: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Gate":
        """Return the gate of METRIC=VALUE or EVALUATOR.METRIC=VALUE; InputError on any other text."""
        name, _, number = text.partition("=")
        evaluator, dot, metric = name.strip().rpartition(".")
        try:
            return cls(metric, float(number), evaluator if dot else None)
        except ValueError:
            raise InputError(
                [InputProblem("--fail-under", repr(text), "METRIC=NUMBER or EVALUATOR.METRIC=NUMBER")]
            ) from None

    def covers(self, evaluator: str, metric: str) -> bool:
        """Return whether the gate is about this metric."""
        return self.metric == metric and self.evaluator in (None, evaluator)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one gate for one model."""

    gate: Gate
    model: str
    evaluator: str
    metric: str
    passed: bool
    message: str


def require_known(
    gates: Sequence[Gate], chosen: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> None:
    """Raise InputError with every gate that names no metric of the chosen evaluators; call it before the run."""
    there = [(entry.id, metric.name) for entry, _ in choose(chosen, parameters).values() for metric in entry.metrics]
    unknown = [
        InputProblem("--fail-under", repr(gate.metric), "one of " + ", ".join(f"{a}.{b}" for a, b in there))
        for gate in gates
        if not any(gate.covers(*metric) for metric in there)
    ]
    if unknown:
        raise InputError(unknown)


def check(run: Run, gates: Sequence[Gate]) -> list[Outcome]:
    """Return the outcome of each gate for each model and column of its metric; a missing value does not pass."""
    board = leaderboard(run)
    outcomes = []
    for gate in gates:
        for column in [column for column in board.columns if gate.covers(column.evaluator, column.metric)]:
            for model in board.models:
                cell = board.cells.get((model, column.key))
                value = None if cell is None else cell.value
                lower = column.direction == "lower"
                passed = value is not None and (value <= gate.value if lower else value >= gate.value)
                shown = "no value" if value is None else f"{value:.4g}"
                limit = f"{'at most' if lower else 'at least'} {gate.value:g}"
                name = f"{model} {column.evaluator}.{column.title}"
                message = f"{'passed' if passed else 'FAILED'}: {name} {shown}, wanted {limit}"
                outcomes.append(Outcome(gate, model, column.evaluator, column.metric, passed, message))
    return outcomes


def no_value(run: Run) -> str | None:
    """Return in one line why no case has a value although cases ended in errors, unreadable replies or were skipped.

    None where a case or a data set has a value, and where no evaluator applied to any case.
    """
    statuses = set(run.query("SELECT DISTINCT status FROM scores")["status"])
    per_case = set(run.query("SELECT DISTINCT evaluator FROM scores")["evaluator"])
    of_data_sets = run.aggregates.query("value.notna()")["evaluator"]
    if statuses.isdisjoint(FAILED) or "ok" in statuses or not per_case.issuperset(of_data_sets):
        return None
    # a score has a row for each metric
    failed = run.query(
        """SELECT status, reason, count(*) AS cases FROM
             (SELECT DISTINCT ON (evaluator, model, run, case_id) status, reason FROM scores WHERE status IN (?, ?, ?)
              ORDER BY evaluator, model, run, case_id, metric)
           GROUP BY ALL ORDER BY cases DESC, reason""",
        list(FAILED),
    )
    counts = failed.groupby("status")["cases"].sum()
    told = ", ".join(f"{STATUSES[status]}: {counts[status]:,}" for status in FAILED if status in counts)
    reason, times = failed.loc[0, ["reason", "cases"]]
    return f"no case has a value ({told}); {times:,} times: {reason}"
