"""Classifications in a line, and what evaluators find in whole data sets."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metrics.core.evaluator import Aggregate, Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite


def classified(cases: Sequence[Mapping[str, Any]], scores: Any, labels: Sequence[str]) -> tuple[Suite, Outputs]:
    """Return cases 0, 1, … with these columns, and one model's scores [cases, labels] of each label; NaN: none."""
    rows = [{"case_id": str(place), **case} for place, case in enumerate(cases)]
    predictions = [
        {"case_id": str(place), "model": "m", "label": label, "score": float(score)}
        for place, row in enumerate(scores)
        for label, score in zip(labels, row, strict=True)
        if not np.isnan(score)
    ]
    outputs = [{"case_id": row["case_id"], "model": "m"} for row in rows]
    suite = Suite.from_rows("s", "classification", rows, labels=tuple(labels))
    return suite, Outputs.from_rows(outputs, predictions)


def run(name: str, data: tuple[Suite, Outputs], **parameters: Any) -> Findings:
    """Return the findings of an evaluator of whole data sets."""
    entry = evaluators()[name]
    return entry(*data, entry.parameters.model_validate(parameters))


def overall(findings: Findings) -> dict[str, Aggregate]:
    return {row.metric: row for row in findings.aggregates if row.label is None}
