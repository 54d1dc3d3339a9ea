"""Problems: models on the wrong side of a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metrics.analysis.leaderboard import leaderboard
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "model", "evaluator", "metric", "value", "low", "high", "threshold", "direction", "n", "severity", "message"
]  # fmt: skip


def problems(run: Run) -> pd.DataFrame:
    """One row per model and metric whose value is on the wrong side of the threshold, the gravest first.

    Severity: `high` when the whole 95 % interval is on the wrong side, `low` when the interval still reaches the good
    side, so that chance may explain it; `unknown` without an interval. Minor metrics are left to the leaderboard.
    """
    import pandas as pd

    board = leaderboard(run)
    rows = []
    for column in board.columns:
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None or not cell.problem or column.minor or cell.value is None or column.threshold is None:
                continue
            lower = column.direction == "lower"
            severity = "unknown"
            if cell.low is not None and cell.high is not None:
                nearest = cell.low if lower else cell.high
                severity = "high" if (nearest > column.threshold) == lower and nearest != column.threshold else "low"
            side = "above" if lower else "below"
            name = (
                column.evaluator_title
                if column.metric == column.evaluator
                else f"{column.evaluator_title} {column.title}"
            )
            message = f"{model}: {name} is {cell.value:.3g}, {side} the threshold {column.threshold:g}"
            rows.append(
                (model, column.evaluator, column.metric, cell.value, cell.low, cell.high, column.threshold,
                 column.direction, cell.n, severity, message)
            )  # fmt: skip
    frame = pd.DataFrame(rows, columns=COLUMNS)
    grave = frame["severity"].map({"high": 0, "unknown": 1, "low": 2})
    distance = (frame["value"] - frame["threshold"]).abs()
    order = (
        pd.DataFrame({"grave": grave, "distance": -distance}).sort_values(["grave", "distance"], kind="stable").index
    )
    return frame.loc[order].reset_index(drop=True)
