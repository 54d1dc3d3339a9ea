"""The judge's rating of an answer in the dimensions of a rubric: one question for those with the same levels."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from pydantic import create_model

from metrics.core.prompt import Prompt
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.rubrics import USUAL
from metrics.judge.steps import each, together

Level = Literal["excellent", "good", "acceptable", "poor", "failed"]
LEVELS = Prompt(
    "rubric.levels",
    "Rate ANSWER, an agent's output for TASK, in each of the DIMENSIONS: excellent, good, acceptable, poor or failed, "
    "as the dimension's text describes them. Where it does not: excellent, without fault; good, with minor faults "
    "that change nothing; acceptable, right in what matters most, with gaps; poor, with significant faults; failed, "
    "not met at all. Judge each dimension on its own. TRACE is what the agent did, SOURCES what it retrieved, "
    "CITATIONS what it cites, EXPECTED what is known to be right, where they are given.",
)
OWN_LEVELS = Prompt(
    "rubric.own_levels",
    "Rate ANSWER, an agent's output for TASK, in each of the DIMENSIONS: of the levels that the dimension lists, "
    "choose the one that fits best, by its label. Judge each dimension on its own. TRACE is what the agent did, "
    "SOURCES what it retrieved, CITATIONS what it cites, EXPECTED what is known to be right, where they are given.",
)


class _Rated(ItemReply):
    reason: str = ""
    level: Level


async def rate_dimensions(
    judge: Judge, dimensions: Mapping[str, tuple[str, ...]], material: Mapping[str, str | Sequence[str] | None]
) -> list[_Rated]:
    """Return the judge's rating of each dimension, in their order.

    `dimensions` are texts as the judge is shown them, each with the labels of its levels; those with the same labels
    are asked about together.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for shown, labels in dimensions.items():
        alike.setdefault(labels, []).append(shown)
    replies = await together(
        each(judge, LEVELS if labels == tuple(USUAL) else OWN_LEVELS, _form(labels), own, material, name="DIMENSIONS")
        for labels, own in alike.items()
    )
    found: dict[str, _Rated] = {}
    for own, part in zip(alike.values(), replies, strict=True):
        found |= zip(own, part, strict=True)
    return [found[shown] for shown in dimensions]


@lru_cache(maxsize=64)
def _form(labels: tuple[str, ...]) -> type[_Rated]:
    """Return the form of a rating by these labels."""
    if labels == tuple(USUAL):
        return _Rated
    fields: dict[str, Any] = {"reason": (str, ""), "level": (Literal[labels], ...)}
    return cast(type[_Rated], create_model("_Level", __base__=ItemReply, **fields))
