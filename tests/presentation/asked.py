"""The answer of one question."""

from metrics.presentation.blocks import Answer
from metrics.presentation.question import questions
from metrics.store import Run


def ask(id: str, run: Run) -> Answer | None:
    """The answer of the question with this id."""
    return next(one for one in questions() if one.id == id).answer(run)
