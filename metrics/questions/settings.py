"""What questions are to be written: how many, of which kinds, how long."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from metrics.core.errors import InputError, InputProblem
from metrics.core.rounding import exact_sum
from metrics.questions.kinds import QUESTION_KINDS
from metrics.text.chunks import LEAST_SIZE, SIZE

MAX_QUESTIONS = 2_000


class QuestionSettings(BaseModel):
    """The settings of a draft of questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int = Field(
        20, ge=1, le=MAX_QUESTIONS, description="Questions to write; fewer where the documents allow no more."
    )
    weights: dict[str, float] = Field(
        default_factory=lambda: {kind.name: kind.share for kind in QUESTION_KINDS.values()},
        description="Weight of each kind; the questions are shared out in proportion.",
    )
    languages: tuple[str, ...] = Field(
        (), description="Languages to ask in, in turn, such as English, Deutsch; none: that of each document."
    )
    min_words: int = Field(5, ge=1, description="Fewest words of a question.")
    max_words: int = Field(30, ge=1, description="Most words of a question.")
    min_answer_words: int = Field(1, ge=1, description="Fewest words of a reference answer.")
    max_answer_words: int = Field(100, ge=1, description="Most words of a reference answer.")
    chunk_size: int = Field(
        SIZE, ge=LEAST_SIZE, le=8_000, description="Most characters of a passage; a chunk ends after a sentence."
    )
    min_document: int = Field(0, ge=0, description="Documents with fewer characters are not asked about.")
    per_document: int | None = Field(None, ge=1, description="Most questions about one document; empty: no limit.")
    duplicate: float = Field(
        0.9, gt=0, le=1, description="Cosine of two questions' embeddings from which they count as the same."
    )
    check: bool = Field(True, description="Ask the judge a second time whether each question and answer hold.")
    seed: int = Field(0, ge=0, description="The same seed chooses the same passages.")

    @field_validator("weights")
    @classmethod
    def _check_weights(cls, weights: dict[str, float]) -> dict[str, float]:
        unknown = [name for name in weights if name not in QUESTION_KINDS]
        if unknown:
            raise ValueError(
                f"{', '.join(map(repr, unknown))}: no kind of question; there are {', '.join(QUESTION_KINDS)}"
            )
        if any(not 0 <= weight < float("inf") for weight in weights.values()) or not any(weights.values()):
            raise ValueError("weights are numbers from 0, of which at least one is above 0")
        return weights

    @field_validator("languages")
    @classmethod
    def _check_languages(cls, languages: tuple[str, ...]) -> tuple[str, ...]:
        named = tuple(dict.fromkeys(language.strip() for language in languages if language.strip()))
        if any(len(language) > 40 or not language.isprintable() for language in named):
            raise ValueError("a language has at most 40 letters")
        return named

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_words > self.max_words or self.min_answer_words > self.max_answer_words:
            raise ValueError("the fewest words are more than the most")
        return self


def question_settings(given: Mapping[str, Any]) -> QuestionSettings:
    """Return the settings from plain data. Raises InputError."""
    try:
        return QuestionSettings.model_validate(dict(given))
    except ValidationError as failure:
        raise InputError(
            InputProblem(
                "settings of the questions",
                repr(error["input"]) if error["loc"] else "these lengths",
                str(error["msg"]).removeprefix("Value error, "),
                column=".".join(map(str, error["loc"])) or None,
            )
            for error in failure.errors()
        ) from None


def shared_out(number: int, weights: Mapping[str, float]) -> dict[str, int]:
    """Return `number` shared out in proportion to the weights, by largest remainder; ties go to the earlier name.

    >>> shared_out(10, {"a": 1, "b": 1, "c": 1})
    {'a': 4, 'b': 3, 'c': 3}
    """
    total = exact_sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    exact = {name: number * weight / total for name, weight in weights.items()}
    counts = {name: int(share) for name, share in exact.items()}
    left = sorted(exact, key=lambda name: counts[name] - exact[name])  # stable: the first of equal remainders first
    for name in left[: number - sum(counts.values())]:
        counts[name] += 1
    return counts
