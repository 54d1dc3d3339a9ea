"""What evaluators of one label a case share: their declaration, and examples, of which a line is a case."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from metrics.core.evaluator_decorator import evaluator

classification_evaluator = partial(
    evaluator,
    tasks=("classification",),
    inputs=("label", "predictions"),
    standards=("valid and reliable", "outcomes analysis"),
)


def scored_cases(*cases: tuple[str, Mapping[str, float]]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example and their predictions, from the true label and the scores of each."""
    return {
        "cases": [{"case_id": str(number), "label": label} for number, (label, _) in enumerate(cases, 1)],
        "predictions": [
            {"case_id": str(number), "label": label, "score": score}
            for number, (_, scores) in enumerate(cases, 1)
            for label, score in scores.items()
        ],
    }
