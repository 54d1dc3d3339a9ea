"""Judge: what an evaluator gets as `judge`. Cache, limits, budget and repair are the client's job."""

from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from metrics.core.prompt import Data, Prompt


class Reply(BaseModel):
    """Base of a judge's replies: a flat JSON object; the schema asks for every field and describes it.

    A field with a default may be missing (a `reason`); one without must not.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


class ItemReply(Reply):
    """Base of the reply to one numbered item: `id` is the item's number, from 1."""

    id: int


T = TypeVar("T", bound=Reply)
I = TypeVar("I", bound=ItemReply)  # noqa: E741 - an item


class Judge(Protocol):
    """A model that can be asked.

    Both methods are answered from the cache where any evaluator or run has asked the same before. They raise Unreadable
    (the engine makes the case a parse_failure), BudgetSpent (skipped) and JudgeDown (the run stops); an evaluator does
    not catch them. The engine records the replies that a score rests on.
    """

    @property
    def name(self) -> str:
        """The judge's name, which stands beside its numbers."""
        ...

    @property
    def edited(self) -> Set[str]:
        """The ids of the prompts in place of which the judge is asked other texts."""
        ...

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        """Return the reply to the prompt over the data. `repeat` numbers independent draws of the same question."""
        ...

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        """Return one reply per item, in the items' order; they are shown numbered, under `name`. No items, no call.

        Items without a reply are asked about once more; ids that do not exist are dropped. Raises Unreadable where an
        item still has no reply: a missing verdict never counts as a pass.
        """
        ...


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
