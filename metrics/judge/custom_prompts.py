"""The user's own prompts: their placeholders are checked, they become questions to a judge."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from metrics.core.prompt import Data
from metrics.core.suite import Case
from metrics.judge.saved_objects import Saved

PLACEHOLDER = re.compile(r"\{(\w{1,60})\}")
BLOCKS = {
    "question": "QUESTION",
    "expected_answer": "EXPECTED_ANSWER",
    "contexts": "CONTEXTS",
    "actual_answer": "ACTUAL_ANSWER",
}
EXPECTED = "one or more of the placeholders " + ", ".join(f"{{{name}}}" for name in BLOCKS)

Mode = Literal["boolean", "graded"]


def checked_prompt(text: str) -> str:
    """Return the prompt itself. Raises ValueError for unknown placeholders, naming them, or where there is none."""
    found = PLACEHOLDER.findall(text)
    unknown = [f"{{{name}}}" for name in dict.fromkeys(found) if name not in BLOCKS]
    if unknown:
        raise ValueError(f"{EXPECTED}, not {' and '.join(unknown)}")
    if not found:
        raise ValueError(f"{EXPECTED}, or the judge is shown nothing of the case")
    return text


def checked_levels(levels: Mapping[str, float]) -> dict[str, float]:
    """Return the levels themselves. Raises ValueError on a single one, a blank label, or a grade outside 0 … 1."""
    if len(levels) == 1:
        raise ValueError("two or more levels, or none for any grade from 0 to 1")
    for label, grade in levels.items():
        if not label.strip():
            raise ValueError("a label for every level")
        if not 0 <= grade <= 1:
            raise ValueError(f"a grade from 0 to 1 for level {label!r}, not {grade:g}")
    return dict(levels)


def checked_meanings(meanings: Mapping[str, str], levels: Iterable[str]) -> None:
    """Raise ValueError where a meaning is not of one of the levels, naming the label."""
    unknown = [label for label in meanings if label not in levels]
    if unknown:
        raise ValueError(f"meanings only of the levels, not of {', '.join(map(repr, unknown))}")


def shown_levels(levels: Mapping[str, float], meanings: Mapping[str, str]) -> str:
    """Return the levels as a judge is shown them: each label with its meaning, else its score from 0 to 1."""
    told = {label: f": {meanings[label]}" if label in meanings else f" ({levels[label]:g} of 1)" for label in levels}
    return "; ".join(label + meaning for label, meaning in told.items())


PromptText = Annotated[str, AfterValidator(checked_prompt)]
Levels = Annotated[dict[str, float], AfterValidator(checked_levels)]


class CustomPrompt(Saved):
    """A user's own prompt as it is saved and shared."""

    FOLDER = "prompts"

    prompt: PromptText
    mode: Mode = "boolean"
    levels: Levels = Field(default_factory=dict)
    meanings: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _levels_are_grades(self) -> "CustomPrompt":
        checked_meanings(self.meanings, self.levels)
        if self.levels and self.mode != "graded":
            raise ValueError("mode graded where there are levels")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of evaluator `byop`."""
        return self.model_dump(include={"prompt", "mode", "levels", "meanings"})


def instructions(prompt: str) -> str:
    """Return the prompt with each placeholder replaced by the name of its data block."""
    return PLACEHOLDER.sub(lambda found: BLOCKS[found[1]], prompt)


def material(prompt: str, case: Case) -> Data:
    """Return the data blocks of the prompt's placeholders; None for what the case does not have."""
    values: dict[str, str | tuple[str, ...] | None] = {
        "question": case.question,
        "expected_answer": case.expected_answers[0] if len(case.expected_answers) == 1 else case.expected_answers,
        "contexts": case.retrieved_contexts,
        "actual_answer": case.answer or "",
    }
    used = dict.fromkeys(PLACEHOLDER.findall(prompt))
    return {BLOCKS[name]: None if values[name] in (None, ()) else values[name] for name in used}
