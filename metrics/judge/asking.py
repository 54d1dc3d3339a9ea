"""Judge: what an evaluator gets as `judge`. Cache, limits, budget and repair are the client's job."""

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

from metrics.core.prompt import Data, Prompt


class Reply(BaseModel):
    """Base of a judge's replies: a flat JSON object; the schema asks for every field and describes it.

    A field with a default may be missing (a `reason`); one without must not.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    # set by keep_shares() alone: nothing that a judge writes into its JSON gets here
    _shares: Mapping[str, Mapping[str, float]] = PrivateAttr(default_factory=dict)

    @property
    def shares(self) -> Mapping[str, Mapping[str, float]]:
        """The judge's probability of each label, by field that is a choice: {"verdict": {"yes": .8, "no": .2}}.

        Empty where the judge did not hand them on. For a list of numbers: "yes" it has any, "no" it is empty.
        """
        return self._shares

    def probability(self, field: str, label: str) -> float | None:
        """Return the judge's probability of one label of a field; None where it was not handed on."""
        return self._shares.get(field, {}).get(label)


class ItemReply(Reply):
    """Base of the reply to one numbered item: `id` is the item's number, from 1."""

    id: int


T = TypeVar("T", bound=Reply)
I = TypeVar("I", bound=ItemReply)  # noqa: E741 - an item


class Judge(Protocol):
    """A model that can be asked.

    Both methods are answered from the cache where any evaluator or run has got a verdict before. They raise Unreadable
    (the engine makes the case a parse_failure; Cut, its kind for a reply that the token limit has cut, may be caught to
    ask about less at once), BudgetSpent (skipped) and JudgeDown (the run stops); an evaluator does
    not catch them. The engine records the replies that a score rests on.
    """

    @property
    def name(self) -> str:
        """The judge's name, which stands beside its numbers."""

    @property
    def edited(self) -> Set[str]:
        """The ids of the prompts in place of which the judge is asked other texts."""

    @property
    def room(self) -> int:
        """The tokens that the texts of one question may have; longer ones are divided (metrics.judge.long_texts)."""

    def note(self, what: str, count: int) -> None:
        """Add to a count of how long texts were read, which the evidence states under `judge.notes`."""

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        """Return the reply to the prompt over the data. `repeat` numbers independent draws of the same question."""

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        """Return one reply per item, in the items' order; they are shown numbered, under `name`. No items, no call.

        Items whose reply is missing, unreadable or contradicted are asked about once more, on their own, with the
        complaint; ids that do not exist are dropped. A question whose reply is cut is halved, down to one item. Raises
        Unreadable where an item still has no reply: a missing verdict never counts as a pass.
        """


@lru_cache(maxsize=256)
def schema_of(reply: type[BaseModel]) -> dict[str, Any]:
    """Return a reply's JSON schema in the strict form of providers: closed, every field required, no defaults.

    Computed once; callers must not change it.
    """
    schema = reply.model_json_schema()
    for node in [schema, *schema.get("$defs", {}).values()]:
        if node.get("type") == "object":
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])
            for field in node["properties"].values():
                field.pop("default", None)
    return schema
