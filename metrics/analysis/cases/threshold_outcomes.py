"""The side of its threshold that each value of a case is on, as SQL over a run's scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.store import Run


def outcomes_sql(condition: str = "TRUE") -> str:
    """Return SQL of two tables, `thresholds` and `outcomes`; its arguments are those of `threshold_arguments`.

    outcomes: a row for each model, evaluator, metric and case that meets `condition`, with the case's position, value
    (repeats averaged), threshold, sign (−1 if lower is better) and good (on the good side of the threshold or exactly
    on it).
    """
    return f"""
    thresholds AS (SELECT unnest(?) AS evaluator, unnest(?) AS metric, unnest(?) AS threshold, unnest(?) AS sign),
    outcomes AS (
        SELECT model, evaluator, metric, case_id, position, avg(value) AS value, any_value(threshold) AS threshold,
               any_value(sign) AS sign, avg(value) * any_value(sign) >= any_value(threshold) * any_value(sign) AS good
        FROM scores JOIN thresholds USING (evaluator, metric)
        WHERE value IS NOT NULL AND {condition}
        GROUP BY model, evaluator, metric, case_id, position
    )"""


def threshold_arguments(run: Run, keep: Callable[[Column], bool] = lambda column: not column.minor) -> list[list[Any]]:
    """Return the thresholds in force, as four equally long lists: evaluator, metric, threshold, sign.

    Only of metrics that `keep` accepts and that have a threshold and a direction; by default all but minor ones.
    """
    columns = {
        (column.evaluator, column.metric): column
        for column in reversed(leaderboard(run).columns)
        if column.threshold is not None and column.direction != "none" and keep(column)
    }
    signs = [-1.0 if column.direction == "lower" else 1.0 for column in columns.values()]
    thresholds = [column.threshold for column in columns.values()]
    return [[name for name, _ in columns], [name for _, name in columns], thresholds, signs]
