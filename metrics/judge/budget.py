"""The cost of a run's judge, and the limit that it never exceeds."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from metrics.core.errors import BudgetSpent, InputError, InputProblem
from metrics.judge.completion import Completion
from metrics.judge.settings import Budget, JudgeSettings


@dataclass(slots=True)
class Spend:
    """The cost so far: requests sent, replies, tokens, dollars of replies with a known price, and `unpriced` ones.

    `cached` counts the questions that were answered without a request; `left_out` names the sampling parameters that
    a judge does not take.
    """

    calls: int = 0
    cached: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    left_out: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Spend":
        """Return the spend of a row that as_row() made, to add to."""
        own = {entry.name: row[entry.name] for entry in fields(cls) if entry.name in row}
        return cls(**own | {"usd": row.get("priced_usd", 0.0)})

    def as_row(self) -> dict[str, Any]:
        """Return plain data; `usd` is None if any reply's price is unknown, `priced_usd` the sum of the others."""
        return asdict(self) | {"usd": None if self.unpriced else round(self.usd, 6), "priced_usd": self.usd}


@dataclass(frozen=True, slots=True)
class Reserved:
    """The most that a request in flight may cost."""

    tokens: int
    usd: float


class Ledger:
    """Keeps the spend of a run within its budget: a request is sent only if its highest possible cost still fits."""

    def __init__(self, budget: Budget, spend: Spend | None = None, asked: str = "judge"):
        self.spend = spend or Spend()
        self._budget = budget
        self._asked = asked  # who is, in messages
        self._tokens = 0  # reserved
        self._usd = 0.0
        self._assumed = 0  # tokens of replies whose provider did not count them
        self._settled: asyncio.Event | None = None
        self._began: float | None = None

    @property
    def limits_usd(self) -> bool:
        """Whether the budget is in dollars."""
        return self._budget.usd is not None

    async def reserve(self, judge: JudgeSettings, prompt_tokens: int) -> Reserved:
        """Reserve budget for a request, waiting for what requests in flight return unused. Raises BudgetSpent."""
        if self._budget == Budget():
            return await self.hold(Reserved(0, 0.0))
        most = price(judge, prompt_tokens, judge.max_tokens) or 0.0
        return await self.hold(Reserved(prompt_tokens + judge.max_tokens, most))

    async def hold(self, wanted: Reserved) -> Reserved:
        """Reserve budget for a request that costs at most `wanted`, as `reserve` does. Raises BudgetSpent."""
        limits = self._budget
        while True:
            if limits.seconds is not None:
                now = asyncio.get_running_loop().time()
                self._began = now if self._began is None else self._began
                if now - self._began > limits.seconds:
                    raise BudgetSpent(f"the {limits.seconds:g} seconds for {self._asked} calls are over")
            if limits.calls is not None and self.spend.calls >= limits.calls:
                raise BudgetSpent(f"the budget of {limits.calls:,} {self._asked} calls is used up")
            short = self._short(wanted)
            if short is None:
                break
            if not self._tokens:
                raise BudgetSpent(short)
            self._settled = self._settled or asyncio.Event()
            await self._settled.wait()
        self.spend.calls += 1
        self._tokens += wanted.tokens
        self._usd += wanted.usd
        return wanted

    def settle(self, reserved: Reserved, completion: Completion | None) -> None:
        """Replace the reservation by the real cost; `completion` None: there was no reply."""
        self._tokens -= reserved.tokens
        self._usd = self._usd - reserved.usd if self._tokens else 0.0
        if completion is not None:
            spend = self.spend
            spend.replies += 1
            self._assumed += reserved.tokens if completion.prompt_tokens is None else 0
            spend.prompt_tokens += completion.prompt_tokens or 0
            spend.completion_tokens += completion.completion_tokens or 0
            spend.usd += completion.cost_usd or 0.0
            spend.unpriced += completion.cost_usd is None
            spend.left_out = sorted({*spend.left_out, *completion.left_out})
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def _short(self, wanted: Reserved) -> str | None:
        """Return which limit the request could exceed, in words; None where it fits."""
        limits, spend = self._budget, self.spend
        spent = spend.prompt_tokens + spend.completion_tokens + self._assumed
        if limits.tokens is not None and spent + self._tokens + wanted.tokens > limits.tokens:
            return (
                f"the budget of {limits.tokens:,} {self._asked} tokens has {limits.tokens - spent:,} left, too few for "
                "a call"
            )
        if limits.usd is not None and spend.usd + self._usd + wanted.usd > limits.usd:
            return f"the budget of {limits.usd:g} dollars has {limits.usd - spend.usd:.4f} left, too few for a call"
        return None


def about_tokens(text: str) -> int:
    """Return an upper estimate of a text's tokens: one per 3 ASCII characters or per other character."""
    plain = len(text) if text.isascii() else sum(character.isascii() for character in text)
    return math.ceil(plain / 3) + (len(text) - plain)


def price(judge: JudgeSettings, prompt_tokens: int, completion_tokens: int) -> float | None:
    """Return the dollars for that many tokens of a judge; None where unknown, as for a server at a base_url."""
    if judge.is_local:
        return 0.0
    if judge.base_url is not None:
        return None
    from metrics.judge.provider import listed_price

    return listed_price(judge.model, prompt_tokens, completion_tokens)


def check_priced(budget: Budget, judge: JudgeSettings) -> None:
    """Raise InputError where dollars are limited and the judge's price is unknown."""
    if budget.usd is not None and price(judge, 1000, 1000) is None:
        expected = f"calls or tokens: the price of {judge.name} is unknown"
        raise InputError([InputProblem("judge budget", f"usd={budget.usd:g}", expected)])
