"""What evaluators share that compare answers with expected answers word by word: their declaration and examples."""

from functools import partial
from typing import Any

from metrics.core.evaluator_decorator import evaluator

overlap_evaluator = partial(
    evaluator,
    inputs=("answer", "expected_answers"),
    has_thresholds=False,
    standards=("valid and reliable", "outcomes analysis"),
)


def answered_cases(*cases: tuple[str, list[str]]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example with their answers, from pairs of an answer and the expected ones."""
    numbered = [(str(number), answer, expected) for number, (answer, expected) in enumerate(cases, 1)]
    return {
        "cases": [{"case_id": id, "expected_answers": expected} for id, _, expected in numbered],
        "outputs": [{"case_id": id, "answer": answer} for id, answer, _ in numbered],
    }
