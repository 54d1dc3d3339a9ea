"""The side of its threshold that each value of a case is on: as SQL over a run's scores, or as shares per case."""

from collections.abc import Callable
from typing import Any

import numpy as np

from metrics.analysis.leaderboard.case_sums import case_sums, open_scores
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Floats
from metrics.core.conventions import BOOLEAN
from metrics.core.rounding import at_least, at_least_sql
from metrics.stats.float_tolerance import ratio
from metrics.store import Run

MIRRORED = BOOLEAN[1:-1]  # failures say again what passes says

GOOD = at_least_sql("avg(value) * any_value(sign)", "any_value(threshold) * any_value(sign)")


def outcomes_sql(condition: str = "TRUE") -> str:
    """Return SQL of two tables, `thresholds` and `outcomes`; its arguments are those of `threshold_arguments`.

    outcomes: a row for each model, evaluator, metric and case that meets `condition`, with the case's position, value
    (repeats averaged), threshold, sign (−1 if lower is better) and good (on the good side of the threshold or on it,
    see metrics.core.rounding).
    """
    return f"""
    thresholds AS (SELECT unnest(?) AS evaluator, unnest(?) AS metric, unnest(?) AS threshold, unnest(?) AS sign),
    outcomes AS (
        SELECT model, evaluator, metric, case_id, position, avg(value) AS value, any_value(threshold) AS threshold,
               any_value(sign) AS sign, {GOOD} AS good
        FROM scores JOIN thresholds USING (evaluator, metric)
        WHERE value IS NOT NULL AND {condition}
        GROUP BY model, evaluator, metric, case_id, position
    )"""


def says_its_own(column: Column) -> bool:
    """Return whether a metric is neither minor nor, as failures of a check, another from its other side."""
    return not column.minor and column.metric not in MIRRORED


def threshold_arguments(run: Run, keep: Callable[[Column], bool] = says_its_own) -> list[list[Any]]:
    """Return the thresholds in force, as four equally long lists: evaluator, metric, threshold, sign.

    Only of metrics that `keep` accepts and that have a threshold and a direction.
    """
    columns = {
        (column.evaluator, column.metric): column
        for column in reversed(leaderboard(run).columns)
        if column.threshold is not None and column.direction != "none" and keep(column)
    }
    signs = [-1.0 if column.direction == "lower" else 1.0 for column in columns.values()]
    thresholds = [column.threshold for column in columns.values()]
    return [[name for name, _ in columns], [name for _, name in columns], thresholds, signs]


def shares_passed(run: Run, keep: Callable[[Column], bool]) -> Floats:
    """Return the share of the metrics on the good side of their thresholds [cases, models], NaN without any value.

    Metrics as in `threshold_arguments`; repeats are averaged.
    """
    shape = run.spec.suite.cases, len(run.models)
    good, scored = np.zeros(shape), np.zeros(shape)
    with open_scores(run) as files:
        for evaluator, metric, threshold, sign in zip(*threshold_arguments(run, keep), strict=True):
            found = case_sums(files, evaluator, [metric], run.models, shape[0])
            means = ratio(found.sums[0], found.counts[0])
            good += at_least(means * sign, threshold * sign)
            scored += found.counts[0] > 0
    return ratio(good, scored)
