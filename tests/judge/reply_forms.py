"""The forms of the tables of replies, and what a row of them is."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from metrics.judge.asking import ItemReply, Reply
from metrics.judge.replies import items_of
from metrics.judge.steps import Entailment, YesNoReply


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Claims(Reply):
    claims: list[str]


class Assigned(ItemReply):
    reason: str = ""
    assignment: Literal["support", "partial_support", "not_support"]


class Coherence(Reply):
    reason: str = ""
    coherence: Literal[1, 2, 3, 4, 5]


class Passing(Reply):
    reason: str = ""
    verdict: bool


class Scored(Reply):
    evaluation_summary: str = ""
    evaluation_score: Annotated[float, Field(ge=0, le=1)]


class Better(Reply):
    reason: str = ""
    better: Literal["1", "2", "Tie"]


VERDICTS = items_of(YesNoReply, "CLAIMS")
ENTAILED = items_of(Entailment, "CLAIMS")
ASSIGNED = items_of(Assigned, "NUGGETS")


@dataclass(frozen=True)
class Given:
    """A reply to a form; `count` items were asked about. `read`: the values expected; `why`: part of the complaint."""

    id: str
    form: type[BaseModel]
    text: str
    read: Any = None
    why: str = ""
    count: int = 0


def verdicts(*labels: str) -> dict[int, Any]:
    return {number: {"verdict": label} for number, label in enumerate(labels, 1)}


def supported(*lists: list[int]) -> dict[int, Any]:
    return {number: {"supported_by": found} for number, found in enumerate(lists, 1)}


def assigned(*labels: str) -> dict[int, Any]:
    return {number: {"assignment": label} for number, label in enumerate(labels, 1)}


YES, NO = {"verdict": "yes"}, {"verdict": "no"}
TWO = ["The tower is 330 m high.", "It was built in 1889."]
LISTED = '{"claims": ["The tower is 330 m high.", "It was built in 1889."]}'
GRADES = {"match": 3, "trust": 2, "grade": 2}
