"""Problems: models on the wrong side of a threshold, and perturbations that move cases over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from metrics.analysis.cases.case_pages import NAMED, failing
from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.core.registry import evaluators
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "kind", "model", "evaluator", "metric", "perturbation", "value", "low", "high", "threshold", "direction", "n",
    "severity", "message", "evidence", "affected", "case_ids", "standards",
]  # fmt: skip
GRAVITY = {"high": 0, "unknown": 1, "low": 2}


def problems(run: Run) -> pd.DataFrame:
    """Return what is wrong with the models of a run, the gravest first: columns COLUMNS.

    kind `threshold`: a model and metric whose value is on the wrong side of the threshold. Severity `high` when the
    whole 95 % interval is on the wrong side, `low` when the interval still reaches the good side, so that chance may
    explain it; `unknown` without an interval. Minor metrics are left to the leaderboard.

    kind `flips`: a kind of perturbation under which cases of a model moved over the threshold of a metric; value, low
    and high are the rate, n the pairs. Severity `high` when they are beyond what mere copies do, `low` when not,
    `unknown` without copies to compare with. See metrics.analysis.findings.flips.

    evidence: what the severity rests on, in words; affected: how many cases (None: the metric has no cases of its own),
    case_ids: the worst of them, at most NAMED; standards: those that the evaluator bears on.
    """
    import pandas as pd

    board = leaderboard(run)
    rows = [*_thresholds(run, board), *_flips(run, board)]
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"affected": "Int64"})
    distance = (frame["value"] - frame["threshold"]).abs().where(frame["kind"] == "threshold", frame["value"])
    order = frame.assign(
        last=frame["kind"] != "threshold", gravity=frame["severity"].map(GRAVITY), distance=-distance.astype(float)
    ).sort_values(["gravity", "last", "distance"], kind="stable")
    return frame.loc[order.index].reset_index(drop=True)


def _thresholds(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    for column in board.columns:
        if column.minor or column.threshold is None:
            continue
        behind: dict[str, tuple[int, list[str]]] | None = None
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None or not cell.problem or cell.value is None:
                continue
            if behind is None:  # asked once a metric, and only where a model has a problem
                behind = failing(run, column.evaluator, column.metric)
            lower = column.direction == "lower"
            side = "above" if lower else "below"
            severity, evidence = "unknown", f"n = {cell.n:,}, without an interval"
            if cell.low is not None and cell.high is not None:
                nearest = cell.low if lower else cell.high
                beyond = (nearest > column.threshold) == lower and nearest != column.threshold
                severity = "high" if beyond else "low"
                reach = f"lies wholly {side} it" if beyond else "reaches the good side, so it may be chance"
                evidence = f"the 95 % interval {cell.low:.3g} … {cell.high:.3g} {reach}; n = {cell.n:,}"
            affected, named = behind.get(model, (None, []))
            name = _title(column)
            yield _row(
                column, kind="threshold", model=model, value=cell.value, low=cell.low, high=cell.high, n=cell.n,
                severity=severity, evidence=evidence, affected=affected, case_ids=named,
                message=f"{model}: {name} is {cell.value:.3g}, {side} the threshold {column.threshold:g}",
            )  # fmt: skip


def _flips(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    columns = {(column.evaluator, column.metric): column for column in reversed(board.columns)}
    rates = flip_rates(run)
    flipped = rates[rates["flips"] > 0].to_dict("records")
    behind = flips(run).groupby(["model", "evaluator", "metric", "perturbation"])["case_id"] if flipped else None
    for row in flipped:
        column = columns[row["evaluator"], row["metric"]]
        assert behind is not None
        cases = behind.get_group((row["model"], row["evaluator"], row["metric"], row["perturbation"]))
        yield _row(
            column, kind="flips", model=row["model"], perturbation=row["perturbation"], value=row["rate"],
            low=row["low"], high=row["high"], n=row["pairs"], affected=row["flips"], case_ids=list(cases[:NAMED]),
            severity="high" if row["exceeds"] else "unknown" if row["exceeds"] is None else "low",
            evidence=flip_evidence(row),
            message=f"{row['model']}: {_title(column)} flips in {row['flips']:,} of {row['pairs']:,} cases perturbed"
            f" by {row['perturbation']}; {row['worse']:,} of them are now on the wrong side of {column.threshold:g}",
        )  # fmt: skip


def flip_evidence(row: Any) -> str:
    """Return what the copies say about a row of metrics.analysis.flip_rates, in words."""
    if row["control"]:
        return "mere copies flipped: model or evaluator gives another result when asked again"
    if row["exceeds"] is None:
        return "the suite has no copies of these cases, so chance cannot be told from the perturbation"
    base = f"copies flip in {row['control_flips']:,} of {row['control_pairs']:,}"
    if row["p"] != row["p"]:
        return base
    more = "more than copies do" if row["exceeds"] else "not shown to be more than copies do"
    return f"{base}; {more} (exact test, p = {row['adjusted']:.2g} after Holm's correction)"


def _title(column: Column) -> str:
    same = column.metric == column.evaluator
    return column.evaluator_title if same else f"{column.evaluator_title} {column.title}"


def _row(column: Column, **values: Any) -> dict[str, Any]:
    return {
        "perturbation": None, "evaluator": column.evaluator, "metric": column.metric, "threshold": column.threshold,
        "direction": column.direction, "standards": list(evaluators()[column.evaluator].standards), **values,
    }  # fmt: skip
