"""Asking a target every case: concurrency, rate, retries with back-off, budget; answers recorded one by one."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from metrics.core.errors import BudgetSpent
from metrics.judge.budget import Ledger, Reserved, about_tokens
from metrics.judge.completion import CallFailed, Completion
from metrics.judge.limits import Gate, send_repeatedly
from metrics.targets.answers import Answer
from metrics.targets.asker import Asker
from metrics.targets.description import ModelTarget, Target
from metrics.targets.recording import Recording

DEAD = 5  # cases in a row without an answer, none before, after which a target counts as down
REFUSING = 20  # the same where it refuses them
LOST = 50  # the same after answers


@dataclass(frozen=True, slots=True)
class Question:
    """One case to be asked, for one repeat: the request, and the key that it is recorded under."""

    case_id: str
    run: int
    request: Any
    key: str


class TargetSession:
    """Asks one target. `stopped` says why it went no further: the target is down, or the budget is spent."""

    def __init__(self, target: Target, asker: Asker, kept: Recording, ledger: Ledger, listen: Callable[[], None]):
        self.target = target
        self.stopped: str | None = None
        self.down = False
        self._asker = asker
        self._kept = kept
        self._ledger = ledger
        self._listen = listen
        at_once = 1 if isinstance(target, ModelTarget) and target.settings().is_local else target.concurrency
        self._at_once = at_once
        self._gate = Gate(target.title, at_once, target.requests_per_minute, target.tokens_per_minute)
        self._answered = any("error" not in entry for entry in kept.entries.values())
        self._failed: list[dict[str, Any]] = []  # in a row: of the cases, if an answer follows; of the target, if not

    async def ask(self, questions: Iterable[Question]) -> None:
        """Ask these questions, equal ones once.

        What has failed is recorded as an error, unless the target turns out to be down.
        """
        left = iter({question.key: question for question in questions}.values())
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._work(left))
        if self._failed and not self._answered:
            self._end(self._failed[0]["error"])
        if not self.down:
            await self._record_failed()

    async def _work(self, left: Iterator[Question]) -> None:
        for question in left:
            if self.stopped is not None:
                return
            await self._ask_one(question)
            self._listen()

    async def _ask_one(self, question: Question) -> None:
        """Ask one question, again where that helps, and record what came of it."""
        facts = {"key": question.key, "case_id": question.case_id, "run": question.run}
        try:
            (answer, seconds), turns = await send_repeatedly(
                lambda: self._send_once(question.request), self.target.tries, self.target.backoff
            )
        except BudgetSpent as spent:
            self.stopped = str(spent)
            return
        except CallFailed as failure:
            after = f" (after {failure.tries} tries)" if failure.tries > 1 else ""
            row = {"error": f"{failure}{after}", "tries": failure.tries, "at": round(time.time(), 3)}
            self._failed.append(facts | row)
            self._check_alive(failure)
            return
        self._answered = True
        await self._record_failed()
        row = answer.as_row() | {"duration_s": seconds, "tries": turns, "at": round(time.time(), 3)}
        await self._kept.put(facts | row)
        if self._ledger.limits_usd and answer.cost_usd is None:
            self.stopped = f"the budget is in dollars, and {self.target.title} does not say what an answer costs"

    async def _send_once(self, request: Any) -> tuple[Answer, float]:
        """Send a request once; return the answer and its seconds. Raises BudgetSpent where asking has stopped."""
        if self.stopped is not None:
            raise BudgetSpent(self.stopped)
        tokens = about_tokens(str(request)) if isinstance(self.target, ModelTarget) else 0
        async with self._gate.turn(tokens):
            reserved = await self._reserved(tokens)
            completion = None
            try:
                begun = time.perf_counter()
                answer = await self._asker.send(request)
                seconds = round(time.perf_counter() - begun, 3)
                completion = Completion("", answer.tokens, 0, answer.cost_usd)
            finally:
                self._ledger.settle(reserved, completion)
            return answer, seconds

    async def _reserved(self, tokens: int) -> Reserved:
        if isinstance(self.target, ModelTarget):
            return await self._ledger.reserve(self.target.settings(), tokens)
        return await self._ledger.hold(Reserved(0, 0.0))

    async def _record_failed(self) -> None:
        failed, self._failed = self._failed, []
        for entry in failed:
            await self._kept.put(entry)

    def _check_alive(self, failure: CallFailed) -> None:
        """Stop after so many failures in a row that the target must be down or the request be wrong."""
        most = LOST if self._answered else {"busy": DEAD, "refused": REFUSING, "unusable": 1}[failure.trouble]
        if len(self._failed) >= most:
            self._end(str(failure))

    def _end(self, reason: str) -> None:
        self.down = True
        self.stopped = f"the target {self.target.title} does not answer: {reason}"
