"""Insights: what stands out in a run without anybody asking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from metrics.analysis.leaderboard import Column, Leaderboard, leaderboard
from metrics.registry import evaluators
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["kind", "evaluator", "metric", "model", "case_id", "value", "message"]


def insights(run: Run) -> pd.DataFrame:
    """Best and worst model of each evaluator's primary metric, its hardest case, and the fastest, slowest, cheapest and
    dearest model where the outputs say so. Columns: kind, evaluator, metric, model, case_id, value, message.
    """
    import pandas as pd

    board = leaderboard(run)
    rows: list[dict[str, Any]] = []
    for column in board.columns:
        if column.primary and not column.minor and column.direction != "none":
            rows += _extremes(board, column)
            rows += _hardest(run, column)
    rows += _resources(run)
    return pd.DataFrame(rows, columns=COLUMNS)


def _extremes(board: Leaderboard, column: Column) -> Iterator[dict[str, Any]]:
    values = {
        model: cell.value
        for model in board.models
        if (cell := board.cells.get((model, column.key))) is not None and cell.value is not None
    }
    if len(values) < 2:
        return
    sign = -1 if column.direction == "lower" else 1
    ranked = sorted(values, key=lambda model: -sign * values[model])
    best, worst = ranked[0], ranked[-1]
    tied = [model for model in ranked[1:] if board.cells[model, column.key].best]
    if board.cells[worst, column.key].best:
        message = f"{column.title}: the models cannot be told apart (their 95 % intervals overlap)"
        yield _row("no_difference", column, None, None, None, message)
        return
    also = f"; {', '.join(tied)} cannot be told apart from it" if tied else ""
    yield _row(
        "best_model", column, best, None, values[best], f"{best} is best at {column.title} ({values[best]:.3g}){also}"
    )
    yield _row(
        "worst_model", column, worst, None, values[worst], f"{worst} is worst at {column.title} ({values[worst]:.3g})"
    )


def _hardest(run: Run, column: Column) -> Iterator[dict[str, Any]]:
    """The case that most models fail: by how many are on the wrong side of the threshold, then by its mean."""
    if column.threshold is None or len(run.models) < 2:
        return
    metric = evaluators()[column.evaluator].metric(column.metric)
    wrong, order = (">", "DESC") if metric.direction.value == "lower" else ("<", "ASC")
    found = run.query(
        f"""SELECT case_id, count(DISTINCT model) FILTER (value {wrong} ?) AS failing, count(DISTINCT model) AS models,
                   avg(value) AS mean
            FROM scores WHERE evaluator = ? AND metric = ? AND value IS NOT NULL
            GROUP BY case_id HAVING failing >= 2
            ORDER BY failing DESC, mean {order}, case_id LIMIT 1""",
        [column.threshold, column.evaluator, column.metric],
    )
    for row in found.to_dict("records"):
        failing = f"{row['failing']} of {row['models']} models fail it at {column.title}"
        message = f"case {row['case_id']} is the hardest: {failing}"
        yield _row("hardest_case", column, None, str(row["case_id"]), float(row["mean"]), message)


def _resources(run: Run) -> Iterator[dict[str, Any]]:
    path = run.workspace.path / "outputs" / run.spec["outputs"]["fingerprint"] / "outputs.parquet"
    frame = pq.read_table(path, columns=["model", "duration_s", "cost_usd"]).to_pandas()
    for name, unit, least, most in (
        ("duration_s", "s", "fastest", "slowest"),
        ("cost_usd", "USD", "cheapest", "dearest"),
    ):
        means = frame.groupby("model")[name].mean().dropna()
        if len(means) < 2 or means.min() == means.max():
            continue
        for kind, model in ((least, str(means.idxmin())), (most, str(means.idxmax()))):
            message = f"{model} is the {kind}: {means[model]:.3g} {unit} a case on average"
            yield dict(
                zip(COLUMNS, (f"{kind}_model", None, name, model, None, float(means[model]), message), strict=True)
            )


def _row(
    kind: str, column: Column, model: str | None, case_id: str | None, value: float | None, message: str
) -> dict[str, Any]:
    return dict(zip(COLUMNS, (kind, column.evaluator, column.metric, model, case_id, value, message), strict=True))
