"""What context precision and context recall share: what the retrieved contexts should hold, by the suite."""

from typing import Literal

from pydantic import Field

from metrics.core.evaluator import Parameters
from metrics.core.suite import Case

NO_REFERENCE_CONTEXTS = "the case has no reference contexts"
NO_EXPECTED_ANSWER = "the case has no expected answer"
AGAINST_CONTEXTS = {"against": "reference contexts"}  # a fact of a case that was not compared with expected answers


class AgainstParameters(Parameters):
    """What the retrieved contexts are compared with."""

    against: Literal["auto", "expected_answers", "reference_contexts"] = Field(
        "auto",
        description="What the retrieved contexts should hold: the suite's reference_contexts, or the expected answers; "
        "auto: the reference contexts of the cases that have any.",
    )


def reference_contexts(case: Case, parameters: AgainstParameters) -> dict[int, str] | None:
    """Return the case's reference contexts to compare with, by number from 1, without blank ones; {} without any.

    None where the expected answers are compared with.
    """
    if parameters.against == "expected_answers":
        return None
    found = {number: text for number, text in enumerate(case.reference_contexts, 1) if text.strip()}
    return found if found or parameters.against == "reference_contexts" else None


def holds(context: str, reference: str) -> bool:
    """Return whether a retrieved context holds a reference context word for word; white space and case may differ."""
    return " ".join(reference.split()).casefold() in " ".join(context.split()).casefold()
