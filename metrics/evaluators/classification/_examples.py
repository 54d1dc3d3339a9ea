"""Worked examples of classification: a line a case, its true label and the scores of the predicted ones."""

from collections.abc import Mapping
from typing import Any


def scored_cases(*cases: tuple[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example and their predictions, in the order given."""
    return {
        "cases": [{"case_id": str(number), "label": label} for number, (label, _) in enumerate(cases, 1)],
        "predictions": [
            {"case_id": str(number), "label": label, "score": score}
            for number, (_, scores) in enumerate(cases, 1)
            for label, score in scores.items()
        ],
    }
