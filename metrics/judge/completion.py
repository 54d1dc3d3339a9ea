"""The interface between judge and model: a request returns a text, or the reason why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Trouble = Literal["busy", "refused", "unusable"]
Messages = Sequence[Mapping[str, str]]
LONGEST_BODY = 1 << 24  # bytes of a reply, whoever completes


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's text; tokens and dollars are None where they are unknown. `cut`: it ended at the token limit.

    `left_out` names the sampling parameters that the model does not take and that were therefore not sent. `shares` has
    the probability of each label (label → probability) at each label that the text states, in order: one for each
    choice of a reply, or of each item in a list; see metrics.judge.label_probabilities. Empty where the model
    does not tell. `reasoning`: what the model thought, where the provider tells it beside the text.
    """

    text: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    cut: bool = False
    left_out: tuple[str, ...] = ()
    shares: tuple[Mapping[str, float], ...] = ()
    reasoning: str = ""


class CallFailed(Exception):
    """A call that returned no text.

    `trouble`: "busy" is temporary (429, 5xx, a time-out, a dropped connection), for `wait` seconds where the provider
    gives them; "refused" concerns this request only (too long, against a policy); "unusable" concerns every request (a
    wrong key, no such model).
    """

    def __init__(self, text: str, trouble: Trouble = "busy", wait: float | None = None, limited: bool = False):
        super().__init__(text)
        self.trouble = trouble
        self.wait = wait
        self.limited = limited  # by the provider's rate limit
        self.tries = 1  # how often the request was sent


class Completer(Protocol):
    """A model that completes chats: by litellm, on a server, on this machine, or simulated for an estimate."""

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:
        """Return the model's reply in JSON of that schema, named `name`; any text without one. Raises CallFailed."""

    async def close(self) -> None:
        """Close the connections."""
