"""Thresholds of a classifier's scores from which on its answers are guaranteed, model by model."""

import json
from typing import NamedTuple

from metrics.core.label_keys import KEY
from metrics.core.rounding import none_if_nan
from metrics.store import Run

EVALUATOR = "selective_accuracy"


class ScoreGuarantee(NamedTuple):
    """Answers from `threshold` on, a share `coverage` of the cases, are wrong in at most `most` of cases.

    It holds with the confidence `sure`. Without a threshold (None) `reason` says why. `series`: the model, and the
    repeat where it has several; `key`: of labels with keys, else None.
    """

    series: str
    model: str
    key: str | None
    most: float
    sure: float
    threshold: float | None
    coverage: float | None
    reason: str | None


def score_guarantees(run: Run) -> list[ScoreGuarantee]:
    """Return what selective_accuracy guarantees of each model and repeat; a mean of repeats has no guarantee."""
    asked = run.evaluators.get(EVALUATOR)
    if asked is None:
        return []
    rows = run.query(
        """SELECT model, run, columns, max(value) FILTER (metric = 'guaranteed_threshold') AS threshold,
                  max(value) FILTER (metric = 'guaranteed_coverage') AS coverage, max(reason) AS reason,
                  count(run) OVER (PARTITION BY model, columns) AS repeats FROM aggregates
           WHERE evaluator = ? AND starts_with(metric, 'guaranteed_') AND slice IS NULL
           GROUP BY model, run, columns QUALIFY run IS NOT NULL OR repeats = 0""",
        [EVALUATOR],
    )
    found = [
        ScoreGuarantee(
            f"{row['model']} #{int(row['run'])}" if row["repeats"] > 1 else row["model"],
            row["model"],
            json.loads(row["columns"]).get(KEY),
            asked["most_errors"],
            asked["sureness"],
            none_if_nan(row["threshold"]),
            none_if_nan(row["coverage"]),
            row["reason"] if isinstance(row["reason"], str) else None,
        )
        for row in rows.to_dict("records")
    ]
    return sorted(found, key=lambda one: (one.key or "", run.models.index(one.model), one.series))
