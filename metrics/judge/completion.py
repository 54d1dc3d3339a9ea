"""What stands between the judge and a model: a request goes out, a text comes back, or the reason why none does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Trouble = Literal["busy", "refused", "unusable"]
Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's text; tokens and dollars are None where they are unknown. `cut`: it ended at the token limit."""

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    cut: bool = False


class CallFailed(Exception):
    """A call that brought no text.

    `trouble`: "busy" may pass (429, 5xx, a time-out, a dropped connection), after `wait` seconds where the provider
    says so; "refused" concerns this request only (too long, against a policy); "unusable" every request (a wrong key,
    no such model).
    """

    def __init__(self, text: str, trouble: Trouble = "busy", wait: float | None = None, limited: bool = False):
        super().__init__(text)
        self.trouble = trouble
        self.wait = wait
        self.limited = limited  # the provider said: too many requests


class Completer(Protocol):
    """A model that completes chats: litellm's, a server's, one in this process, or the stand-in of a dry run."""

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        """Return the model's reply in JSON of that schema, whose name is `name`; CallFailed where none comes."""
        ...

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Dollars for so many tokens; None where the price is unknown."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
