"""Rate limits of a judge or target: requests at once and per minute, tokens per minute, pauses that it asks for."""

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from metrics.core.errors import JudgeDown
from metrics.judge.completion import CallFailed

MINUTE = 60.0
LONGEST_PAUSE = 300.0  # seconds that a provider may make one question wait, in all its tries
FAILURES = 3  # failed calls in a row, each after all its tries, that open the circuit; before any reply, one
REFUSALS = 8  # refused calls in a row that open it before any reply
LONGEST_BACKOFF = 60.0
LIMITED = 4  # factor on the wait after a rate limit: providers count by the minute

Reply = TypeVar("Reply")


async def send_repeatedly(
    send: Callable[[], Awaitable[Reply]], tries: int, first: float, patience: float = LONGEST_PAUSE
) -> tuple[Reply, int]:
    """Return what `send` returns, and the number of tries that it took.

    Raises the CallFailed of the last of `tries`; of one that no other try would mend; and of one after which the
    provider asks for a wait that, with those before, is longer than `patience` seconds.
    """
    waited, turn = 0.0, 0
    while True:
        turn += 1
        try:
            return await send(), turn
        except CallFailed as failure:
            failure.tries = turn
            if failure.trouble != "busy" or turn >= tries:
                raise
            waited += failure.wait or 0.0
            if waited > patience:
                failure.args = (f"{failure}; it asks to wait {waited:,.6g} s, of which {patience:,.6g} are allowed",)
                raise
            pause = backoff(failure, turn, first)
        await asyncio.sleep(pause)


def backoff(failure: CallFailed, turn: int, first: float) -> float:
    """Return the seconds before try number `turn` (0: the first): `first`, then doubled each time, with jitter."""
    if failure.wait is not None:
        return 0.0  # the gate makes all requests wait
    spread = random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    return float(min(LONGEST_BACKOFF, first * (LIMITED if failure.limited else 1) * 2 ** (turn - 1)) * spread)


class Gate:
    """Admits requests in their order, as fast as allowed.

    `busy()` halves how many may be in flight (each reply lets it grow again) and pauses all; `failed()` counts towards
    opening the circuit, after which every waiting and every new request gets JudgeDown.
    """

    def __init__(
        self,
        name: str,
        concurrency: int,
        requests: float | None = None,
        tokens: float | None = None,
        minute: float = MINUTE,
        patience: float = LONGEST_PAUSE,
    ):
        self._name = name
        self._most = self._allowed = float(concurrency)
        self._limits = (requests, tokens)
        self._minute = minute
        self._patience = patience
        self._recent: deque[tuple[float, int]] = deque()  # when and with how many tokens requests went through
        self._recent_tokens = 0
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()
        self._in_flight = 0
        self._not_before = 0.0
        self._halved_at = 0.0
        self._failures = self._refusals = 0
        self._answered = False
        self._down: JudgeDown | None = None
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a request of about that many tokens may be sent; its outcome sets the pace. Raises JudgeDown."""
        await self.enter(tokens)
        try:
            yield
        except CallFailed as trouble:
            if trouble.limited or (trouble.trouble == "busy" and trouble.wait is not None):
                self.busy(trouble.wait)
            raise
        finally:
            self.leave()
        self.answered()

    async def enter(self, tokens: int) -> None:
        """Wait until a request of about that many tokens may be sent; leave() must follow. Raises JudgeDown."""
        if self._down is not None:
            raise self._down
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, tokens))
        self._pump()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.leave()  # it was admitted in the same moment
            raise

    def leave(self) -> None:
        """Note that a request has ended."""
        self._in_flight -= 1
        self._pump()

    def answered(self) -> None:
        """Note that a reply came."""
        self._failures = self._refusals = 0
        self._answered = True
        self._allowed = min(self._most, self._allowed + 1 / self._allowed)

    def busy(self, wait: float | None) -> None:
        """Note that the provider reported too many requests, to be repeated after `wait` seconds if it gave them.

        Nothing waits for longer than the gate has patience: a request that is told to fails.
        """
        now = asyncio.get_running_loop().time()
        if now - self._halved_at > 1:  # requests in flight together fail together
            self._allowed = max(1.0, self._allowed / 2)
            self._halved_at = now
        if wait is not None and wait <= self._patience:
            self._not_before = max(self._not_before, now + wait)

    def failed(self, reason: str, *, refused: bool = False, hopeless: bool = False) -> None:
        """Note that a call failed after its tries. `refused`: only this one may be at fault; `hopeless`: all will fail.

        Raises JudgeDown where the circuit is open or opens now.
        """
        if refused:
            self._refusals += 1
        else:
            self._failures += 1
        most = FAILURES if self._answered else 1
        if hopeless or self._failures >= most or (self._refusals >= REFUSALS and not self._answered):
            self._open(reason)
        if self._down is not None:
            raise self._down

    def _open(self, reason: str) -> None:
        if self._down is None:
            self._down = JudgeDown(
                f"the judge {self._name} does not answer: {reason}. Everything it has answered is kept; check its "
                "address, key or quota and resume the run"
            )
        while self._waiting:
            future, _ = self._waiting.popleft()
            if not future.done():
                future.set_exception(self._down)

    def _pump(self) -> None:
        """Admit the waiting requests that the limits allow now, and set a timer for the next one."""
        while self._waiting and self._in_flight < int(self._allowed):
            future, tokens = self._waiting[0]
            if not future.done():
                now = asyncio.get_running_loop().time()
                wait = self._wait(now, tokens)
                if wait > 0:
                    if self._timer is not None:
                        self._timer.cancel()
                    self._timer = asyncio.get_running_loop().call_later(wait, self._pump)
                    return
                self._in_flight += 1
                if self._limits != (None, None):
                    self._recent.append((now, tokens))
                    self._recent_tokens += tokens
                future.set_result(None)
            self._waiting.popleft()

    def _wait(self, now: float, tokens: int) -> float:
        """Return the seconds until a request of that many tokens fits every limit of the last minute."""
        while self._recent and self._recent[0][0] <= now - self._minute:
            self._recent_tokens -= self._recent.popleft()[1]
        wait = self._not_before - now
        requests, most_tokens = self._limits
        too_many = requests is not None and len(self._recent) + 1 > requests
        too_long = most_tokens is not None and self._recent_tokens + tokens > most_tokens
        if self._recent and (too_many or too_long):
            wait = max(wait, self._recent[0][0] + self._minute - now)  # until the oldest is forgotten
        return wait
