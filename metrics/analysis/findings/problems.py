"""Problems: models on the wrong side of a threshold, perturbations that move cases across it, defects of cases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from metrics.analysis.cases.case_pages import NAMED, failing
from metrics.analysis.findings.case_defects import case_defects
from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.leaderboard.cells import misses_surely
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.core.metric_names import full_name
from metrics.core.number_text import interval, number, p_words
from metrics.core.registry import standards_of
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "kind", "model", "evaluator", "metric", "perturbation", "value", "low", "high", "threshold", "threshold_of",
    "direction", "n", "severity", "message", "evidence", "affected", "case_ids", "standards",
]  # fmt: skip
ORDER = {"high": 0, "unknown": 1, "low": 2}


def problems(run: Run) -> pd.DataFrame:
    """Return the problems of the models of a run, most severe first: columns COLUMNS.

    kind `threshold`: a model and metric whose value is on the wrong side of the threshold. Severity `high` if the whole
    95 % interval is on the wrong side, `low` if the interval reaches the good side, so that chance may explain it,
    `unknown` without an interval. Minor metrics are left to the leaderboard.

    kind `flips`: a kind of perturbation that moved cases of a model across the threshold of a metric; value, low and
    high are the rate, n the pairs. Severity `high` if there are significantly more flips than with unchanged copies,
    `low` if not, `unknown` without copies to compare with. See metrics.analysis.findings.flips. Behind it stand its
    cases, kind `flip`: one for each perturbed case whose metric flipped, with the variant's value.

    kind `artifact`: a file of an agent that is not intact, one problem each; kind `blank`: answers without any
    text, by model; kind `empty`: others that leave no sentence to embed, by model and evaluator. All are `high`:
    they are certain. See metrics.analysis.findings.case_defects.

    evidence: what the severity rests on, in words; affected: number of cases (None: the metric has no cases of its
    own), case_ids: the worst of them, at most NAMED; standards: those that the evaluator gives evidence for.
    """
    import pandas as pd

    board = leaderboard(run)
    found = sorted([*_thresholds(run, board), *_flips(run, board), *_defects(run, board)], key=_rank)
    rows = (row for one in found for row in (one, *one.get("cases", ())))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"affected": "Int64"})


def _rank(row: dict[str, Any]) -> tuple[int, bool, float]:
    """Return the sort key of a problem: by severity, thresholds first, then by what is farthest or most often wrong."""
    missed = row["kind"] == "threshold"
    size = abs(row["value"] - row["threshold"]) if missed else row.get("value", -math.inf)
    return ORDER[row["severity"]], not missed, -size


def _thresholds(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    for column in board.columns:
        if column.minor or column.threshold is None:
            continue
        behind: dict[str, tuple[int, list[str]]] | None = None
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None or not cell.problem or cell.value is None:
                continue
            if behind is None:  # queried once per metric, and only if a model has a problem
                behind = failing(run, column.evaluator, column.metric)
            lower = column.direction == "lower"
            side = "above" if lower else "below"
            severity, evidence = "unknown", f"n = {cell.n:,}, without an interval"
            if cell.low is not None and cell.high is not None:
                beyond = misses_surely(column, cell)
                severity = "high" if beyond else "low"
                reach = f"is entirely {side} it" if beyond else "reaches the good side, so it may be chance"
                evidence = f"the 95 % interval {interval(cell.low, cell.high)} {reach}; n = {cell.n:,}"
            affected, named = behind.get(model, (None, []))
            name = full_name(column)
            yield _row(
                column, kind="threshold", model=model, value=cell.value, low=cell.low, high=cell.high, n=cell.n,
                severity=severity, evidence=evidence, affected=affected, case_ids=named,
                message=f"{model}: {name} is {number(cell.value)}, {side} the threshold {column.mark}",
            )  # fmt: skip


def _flips(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    columns = {(column.evaluator, column.metric): column for column in reversed(board.columns)}
    rates = flip_rates(run)
    flipped = rates[rates["flips"] > 0].to_dict("records")
    behind = flips(run).groupby(["model", "evaluator", "metric", "perturbation"]) if flipped else None
    for row in flipped:
        column = columns[row["evaluator"], row["metric"]]
        assert behind is not None
        name = full_name(column)
        cases = behind.get_group((row["model"], row["evaluator"], row["metric"], row["perturbation"]))
        shared = {
            "model": row["model"], "perturbation": row["perturbation"], "evidence": flip_evidence(row),
            "severity": "high" if row["exceeds"] else "unknown" if row["exceeds"] is None else "low",
        }  # fmt: skip
        yield _row(
            column, kind="flips", value=row["rate"], low=row["low"], high=row["high"], n=row["pairs"],
            affected=row["flips"], case_ids=list(cases["case_id"][:NAMED]), **shared,
            cases=[_flip(column, name, one, shared) for one in cases.to_dict("records")],
            message=f"{row['model']}: {name} flips in {row['flips']:,} of {row['pairs']:,} cases perturbed"
            f" by {row['perturbation']}; {row['worse']:,} of them are now on the wrong side of "
            f"{column.mark}",
        )  # fmt: skip


def _flip(column: Column, name: str, flip: dict[Any, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return the problem of one perturbed case whose metric flipped."""
    side = "wrong" if flip["change"] == "worse" else "good"
    return _row(
        column, kind="flip", value=flip["after"], n=1, affected=1, case_ids=[flip["case_id"]], **shared,
        message=f"{flip['model']}: {name} of {flip['case_id']} ({flip['perturbation']} of "
        f"{flip['original']}) flips from {number(flip['before'])} to {number(flip['after'])}, now on the {side} side "
        f"of {column.mark}",
    )  # fmt: skip


def _defects(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    columns = {(column.evaluator, column.metric): column for column in reversed(board.columns)}
    evidence = {
        "artifact": "checked by reading the file",
        "blank": "counted in the outputs, whatever the evaluators",
        "empty": "the answer has no word",
        "extract": "compared over all cases",
    }
    for one in case_defects(run, NAMED):
        column = board.columns[0] if one.kind == "blank" else columns.get((one.evaluator, one.metric))
        if column is not None:
            yield _row(
                column, kind=one.kind, model=one.model, threshold=None, n=one.affected, severity="high",
                message=one.message, evidence=evidence[one.kind], affected=one.affected, case_ids=list(one.case_ids),
            )  # fmt: skip


def flip_evidence(row: Any) -> str:
    """Return how a row of metrics.analysis.flip_rates compares with the copies, in words."""
    if row["control"]:
        return "unchanged copies flipped: the model or the evaluator is not deterministic"
    if row["exceeds"] is None:
        return "the suite has no copies of these cases to separate the perturbation from chance"
    base = f"copies flip in {row['control_flips']:,} of {row['control_pairs']:,}"
    if row["p"] != row["p"]:
        return base
    more = "significantly more than copies" if row["exceeds"] else "not significantly more than copies"
    return f"{base}; {more} (exact test, {p_words(row['adjusted'])} after Holm's correction)"


def _row(column: Column, **values: Any) -> dict[str, Any]:
    return {
        "perturbation": None, "evaluator": column.evaluator, "metric": column.metric, "threshold": column.threshold,
        "threshold_of": column.threshold_of, "direction": column.direction,
        "standards": list(standards_of(column.evaluator)), **values,
    }  # fmt: skip
