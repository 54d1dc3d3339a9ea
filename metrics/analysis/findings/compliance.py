"""Compliance: the standards for which a run gives evidence, by model, and what was not measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metrics.analysis.leaderboard.leaderboard import Cell, Column, leaderboard
from metrics.core.registry import evaluators, standards_of
from metrics.core.rounding import at_least
from metrics.core.standards import FRAMEWORKS
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

NOTICE = (
    "This is evidence, not certification: it shows what was measured on these cases and what was not. Whether a system"
    " meets a standard is for its owner and reviewers to judge, based on far more than test results."
)
GLYPHS = {  # of the outcome of a model in a metric; in brackets if the interval crosses the threshold or is missing
    "passed": "✓",  # meets the threshold with the whole 95 % interval
    "passed_unsure": "(✓)",  # meets the threshold, but the interval reaches the wrong side
    "passed_only": "(✓)",  # meets the threshold; there is no interval
    "failed": "✗",  # misses the threshold with the whole 95 % interval
    "failed_unsure": "(✗)",  # misses the threshold, but the interval reaches the good side
    "failed_only": "(✗)",  # misses the threshold; there is no interval
    "measured": "○",  # there is no threshold to meet
    "unmeasured": "–",  # no value
}
COLUMNS = [
    "framework", "standard", "evaluator", "metric", "model", "value", "low", "high", "threshold", "threshold_of",
    "direction", "n", "unscored", "outcome",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MeasuredEvidence:
    """One evaluator's primary metric as evidence for a standard; `cells` and `outcomes` have one for each model."""

    column: Column
    cells: tuple[Cell | None, ...]
    outcomes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """An evaluator that could give evidence for a standard but was not run; `needs` are inputs and resources."""

    evaluator: str
    title: str
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standard:
    """One standard: what it requires, what was measured for it, and which evaluators of the task were not run."""

    framework: str
    name: str
    asks: str
    evidence: tuple[MeasuredEvidence, ...]
    unmeasured: tuple[Unmeasured, ...]


@dataclass(frozen=True, slots=True)
class Compliance:
    """Standards × evaluators × models of a run."""

    models: tuple[str, ...]
    standards: tuple[Standard, ...]


def compliance(run: Run) -> Compliance:
    """Return the evidence of a run for every standard of FRAMEWORKS, by the standards that its evaluators declare.

    For each evaluator the first column of its primary metric. An outcome is a key of GLYPHS.
    """
    board = leaderboard(run)
    primary: dict[str, Column] = {}
    for column in board.columns:
        if column.primary:
            primary.setdefault(column.evaluator, column)
    measured: dict[str, list[MeasuredEvidence]] = {}
    for name, column in primary.items():
        cells = tuple(board.cells.get((model, column.key)) for model in board.models)
        evidence = MeasuredEvidence(column, cells, tuple(outcome(column, cell) for cell in cells))
        for standard in standards_of(name):
            measured.setdefault(standard, []).append(evidence)
    task, missing = run.spec.suite.task, dict[str, list[Unmeasured]]()
    for entry in evaluators().values():
        if task in entry.tasks and entry.id not in primary:
            for standard in entry.standards:
                missing.setdefault(standard, []).append(
                    Unmeasured(entry.id, entry.title, (*entry.input_words, *entry.needs))
                )
    standards = tuple(
        Standard(
            framework, name, asks, tuple(measured.get(f"{framework}: {name}", ())),
            tuple(missing.get(f"{framework}: {name}", ())),
        )
        for framework, names in FRAMEWORKS.items()
        for name, asks in names.items()
    )  # fmt: skip
    return Compliance(board.models, standards)


def outcome(column: Column, cell: Cell | None) -> str:
    """Return the key of GLYPHS for one number."""
    if cell is None or cell.value is None:
        return "unmeasured"
    if column.threshold is None or column.direction == "none":
        return "measured"
    side = "failed" if cell.problem else "passed"
    if cell.low is None or cell.high is None:
        return f"{side}_only"
    sign = -1 if column.direction == "lower" else 1
    worst, best = sorted((sign * cell.low, sign * cell.high))
    unsure = at_least(best if cell.problem else worst, sign * column.threshold) == cell.problem
    return f"{side}_unsure" if unsure else side


def compliance_table(run: Run) -> pd.DataFrame:
    """Return the matrix as rows, one per standard, evaluator and model; evaluators that were not run have no model."""
    import pandas as pd

    found, rows = compliance(run), []
    for standard in found.standards:
        head = (standard.framework, standard.name)
        for one in standard.evidence:
            column = one.column
            of = (*head, column.evaluator, column.metric)
            for model, cell, result in zip(found.models, one.cells, one.outcomes, strict=True):
                numbers = (None, None, None) if cell is None else (cell.value, cell.low, cell.high)
                sizes = (None, None) if cell is None else (cell.n, cell.unscored)
                rows.append(
                    (*of, model, *numbers, column.threshold, column.threshold_of, column.direction, *sizes, result)
                )
        rows += [(*head, one.evaluator, *[None] * 10, "not run") for one in standard.unmeasured]
    return pd.DataFrame(rows, columns=COLUMNS).astype(
        dict.fromkeys(("value", "low", "high", "threshold"), "float64") | {"n": "Int64", "unscored": "Int64"}
    )
