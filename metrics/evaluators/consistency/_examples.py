"""Worked examples of consistency: a line a case, the answers of its repeats."""

from collections.abc import Sequence
from typing import Any


def repeated_scores(metric: str, *values: Sequence[float]) -> dict[str, Any]:
    """Return the stored scores of the cases 1, 2, … of an example in a metric (evaluator.metric), one a repeat."""
    evaluator, _, name = metric.partition(".")
    return {
        "scores": [
            {"case_id": str(number), "run": run, "evaluator": evaluator, "metric": name, "value": value, "status": "ok"}
            for number, repeats in enumerate(values, 1)
            for run, value in enumerate(repeats, 1)
        ]
    }


def repeated_answers(*answers: Sequence[str], expected: Sequence[str] = ()) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example, with an expected answer each if given, and the answers of their runs."""
    known = [{"expected_answers": [text]} for text in expected] or [{}] * len(answers)
    return {
        "cases": [{"case_id": str(number), **more} for number, more in enumerate(known, 1)],
        "outputs": [
            {"case_id": str(number), "run": run, "answer": answer}
            for number, repeats in enumerate(answers, 1)
            for run, answer in enumerate(repeats, 1)
        ],
    }
