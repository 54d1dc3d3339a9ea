"""Judge: what an evaluator gets as `judge`. How it asks (cache, limits, budget, repair) is not its affair."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from metrics.core.prompt import Data, Prompt


class Reply(BaseModel):
    """Base of what a judge replies: a flat JSON object; every field is asked for and described to it by the schema.

    A field with a default may be missing (a `reason`); one without may not.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)


class ItemReply(Reply):
    """Base of the reply to one numbered item: `id` is the item's number, from 1."""

    id: int


T = TypeVar("T", bound=Reply)
I = TypeVar("I", bound=ItemReply)  # noqa: E741 - an item


class Judge(Protocol):
    """A model that can be asked.

    Both ways of asking are answered from the cache where the same was asked before, by whatever evaluator or run. They
    raise Unreadable (the engine makes the case a parse_failure), BudgetSpent (skipped) and JudgeDown (the run pauses);
    an evaluator lets them pass. Which replies a score rests on is recorded by the engine, with the raw replies.
    """

    @property
    def name(self) -> str:
        """The judge's name, which stands beside its numbers."""
        ...

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        """One reply to the prompt over the data. `repeat` counts independent draws of the same question."""
        ...

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        """One reply per item, in the items' order; no items, no call. They are shown numbered, under `name`.

        Ids that are missing are asked for once more, ids that do not exist are dropped and count as missing ones do:
        if an item still has no reply then, Unreadable. A missing verdict never counts as a pass.
        """
        ...


def schema_of(reply: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a reply in the strict form that providers take: closed, all fields required, no
    defaults.
    """
    schema = reply.model_json_schema()
    for node in [schema, *schema.get("$defs", {}).values()]:
        if node.get("type") == "object":
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])
            for field in node["properties"].values():
                field.pop("default", None)
    return schema
