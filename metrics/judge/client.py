"""Asking one judge: from the cache or by one request for equal questions, within limits and budget, with retries."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

from pydantic import BaseModel

from metrics.core.errors import Cut, JudgeError, Unreadable
from metrics.core.prompt import Data, Prompt
from metrics.judge import replies
from metrics.judge.asking import I, Reply, T, schema_of
from metrics.judge.budget import Ledger, about_tokens
from metrics.judge.cache import Replies, Stored
from metrics.judge.completion import CallFailed, Completer, Completion
from metrics.judge.keys import redact
from metrics.judge.label_probabilities import keep_shares
from metrics.judge.limits import LONGEST_PAUSE, Gate, send_repeatedly
from metrics.judge.long_texts import INSTRUCTIONS, check_length, question_room
from metrics.judge.settings import JudgeSettings

V = TypeVar("V")

QUOTED = 2_000  # characters of an unreadable reply that are shown in the repair request
RECENT, SHORT = 1_000, 10_000  # replies kept in memory, and the most characters of one
CALM = 10  # turns of the event loop without a question, after which none is expected
TOLD = 5  # items without a verdict whose complaints are told
AGAIN = "An earlier reply could not be used: {complaints}. Give one reply to each item, its id the item's number."
REPAIR = "Your reply cannot be used: {complaint}. Give the whole reply again, as one JSON object of the form asked for."


@dataclass(frozen=True)
class Request:
    """One complete question: the judge's identity (JSON), the step, the messages, the form of the reply, the repeat.

    `draw` numbers the draws of a judge that is asked everything repeatedly; the first has the key of the only one.
    """

    identity: str
    step: str
    messages: tuple[dict[str, str], ...]
    form: type[BaseModel]
    repeat: int = 0
    draw: int = 0

    @cached_property
    def key(self) -> str:
        """The sha256 of everything that can change the reply."""
        content = [self.identity, self.step, self.messages, replies.schema_text(self.form), self.repeat]
        content += [{"draw": self.draw}] if self.draw else []
        return sha256(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()

    def ending(self, words: str) -> "Request":
        """Return the question with words after it."""
        *before, last = self.messages
        return replace(self, messages=(*before, {**last, "content": f"{last['content']}\n\n{words}"}))

    @cached_property
    def tokens(self) -> int:
        """The approximate tokens of the prompt."""
        return sum(about_tokens(message["content"]) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Call:
    """A reply that a score rests on, or the error in its place; `cached`: it cost nothing this time."""

    judge: str
    step: str
    key: str
    cached: bool
    stored: Stored | None
    error: str | None = None


@dataclass
class _Asked:
    """One question being asked: its replies, and whether those of earlier runs are passed over."""

    again: bool = False
    calls: list[Call] = field(default_factory=list)


Question = Callable[[Sequence[int]], Request]  # about the items of these numbers


class Client:
    """One judge with its cache, limits and budget, for one event loop.

    Without a completer no request is sent: a question without a stored reply is an error. With several, each sends the
    requests of one draw. `asked_by`: the id of the run that asks, stored with the replies. `patience`: the most seconds
    that the judge may make a question wait.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        kept: Replies,
        completers: Sequence[Completer],
        ledger: Ledger,
        asked_by: str = "",
        patience: float = LONGEST_PAUSE,
    ):
        self.settings = settings
        self._asked_by = asked_by
        self.name = settings.name
        self.ledger = ledger
        self._kept = kept
        self._completers = completers
        # the local judge answers one question after the other: waiting must not count as its time
        at_once = 1 if settings.is_local else settings.concurrency
        limits = settings.requests_per_minute, settings.tokens_per_minute
        self._gate = Gate(settings.name, at_once, *limits, patience=patience)
        self._patience = patience
        self._flights: dict[str, asyncio.Task[Stored]] = {}
        self._read: dict[str, Reply] = {}  # the recent ones, parsed
        self._recent: dict[str, Stored] = {}  # several evaluators ask the same about a case at about the same time
        self.identity = settings.identity()
        self._began = round(time.time(), 3)  # as replies have it

    @property
    def room(self) -> int:
        """The tokens that the texts of one question may have."""
        return self._question_room - INSTRUCTIONS

    @cached_property
    def _question_room(self) -> int:
        return question_room(self.settings)

    def can_ask_again(self, stored: Stored) -> bool:
        """Return whether a reply is kept from an earlier run, and its question can be sent again."""
        return bool(self._completers) and stored.at < self._began

    async def reply(self, request: Request, again: bool = False) -> tuple[Stored, bool]:
        """Return the judge's reply to a request, and whether it cost nothing. Equal requests are sent once.

        `again`: the replies of earlier runs are passed over.
        """
        flight = self._flights.get(request.key)
        if flight is not None:
            self.ledger.spend.cached += 1
            return await asyncio.shield(flight), True
        stored = self._recent.get(request.key) or self._kept.get(request.key)
        if stored is not None and not (again and self.can_ask_again(stored)):
            self.ledger.spend.cached += 1
            self._remember(request.key, stored)
            return stored, True
        if not self._completers:
            raise JudgeError(f"the replayed recording has no reply to this question (step {request.step})")
        check_length(request.messages, self.name, request.tokens, self._question_room)
        flight = asyncio.create_task(self._ask_once(request))
        self._flights[request.key] = flight
        flight.add_done_callback(lambda done: self._landed(request.key, done))
        return await asyncio.shield(flight), False

    def read(self, key: str, stored: Stored, form: type[T]) -> T:
        """Return a reply parsed as `form`. Raises Unreadable."""
        known = self._read.get(key)
        if isinstance(known, form):
            return known
        found = replies.read(stored.reply, form, cut=stored.cut, limit=self.settings.max_tokens)
        if self.settings.probabilities is not False:
            keep_shares(found, stored.shares)
        if key in self._recent:
            self._read[key] = found
        return found

    async def close(self) -> None:
        """Cancel what is in flight and close the connections and the cache."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        for completer in self._completers:
            await completer.close()
        self._kept.close()

    def _remember(self, key: str, stored: Stored) -> None:
        if len(stored.reply) <= SHORT:
            self._recent[key] = stored
        if len(self._recent) > RECENT:
            oldest = next(iter(self._recent))
            del self._recent[oldest]
            self._read.pop(oldest, None)

    def _landed(self, key: str, flight: asyncio.Task[Stored]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # nobody may be waiting for it any more

    async def _ask_once(self, request: Request) -> Stored:
        completion, seconds = await self._completion(request)
        stored = Stored(
            self.name,
            request.step,
            # a careless tokenizer may send half a character, which no file can hold
            redact(completion.text[: replies.LONGEST + 1]),
            completion.cut,
            completion.prompt_tokens,
            completion.completion_tokens,
            completion.cost_usd,
            round(seconds, 3),
            round(time.time(), 3),
            tuple({label: round(share, 6) for label, share in own.items()} for own in completion.shares),
            self._asked_by,
        )
        self._kept.put(request.key, stored)  # before it is used: an answered request is never repeated
        for of_earlier in (self._recent, self._read):
            of_earlier.pop(request.key, None)
        return stored

    async def _completion(self, request: Request) -> tuple[Completion, float]:
        """Return the reply and the seconds that its request took, without those of waiting and of failed tries."""
        tries, first = self.settings.tries, self.settings.backoff
        try:
            return (await send_repeatedly(lambda: self._send(request), tries, first, self._patience))[0]
        except CallFailed as trouble:
            failure = trouble
        self._gate.failed(str(failure), refused=failure.trouble == "refused", hopeless=failure.trouble == "unusable")
        tried = f" after {failure.tries} tries" if failure.trouble == "busy" else ""
        raise JudgeError(f"the judge {self.name} gave no reply{tried}: {failure}")

    async def _send(self, request: Request) -> tuple[Completion, float]:
        """Send a request once; see `_completion`.

        The budget is reserved last, so that none is held while waiting for a turn.
        """
        completer = self._completers[request.draw % len(self._completers)]
        async with self._gate.turn(request.tokens + (self.settings.max_tokens // 4)):
            reserved = await self.ledger.reserve(self.settings, request.tokens)
            completion, begun = None, time.perf_counter()
            try:
                completion = await completer.complete(request.messages, schema_of(request.form), request.step)
            finally:
                self.ledger.settle(reserved, completion)
            return completion, time.perf_counter() - begun


class CaseJudge:
    """The Judge that one evaluator has for one case, by one draw; it records the replies."""

    def __init__(self, client: Client, draw: int = 0):
        self._client = client
        self._draw = draw
        self.calls: list[Call] = []
        self.notes: dict[str, int] = {}
        self._unreadable: list[tuple[str, str]] = []  # step and complaint
        self._questions = 0  # being asked

    @property
    def name(self) -> str:
        """The judge's name."""
        return self._client.name

    @property
    def edited(self) -> Set[str]:
        """The ids of the prompts in place of which it is asked other texts."""
        return self._client.settings.prompts.keys()

    @property
    def room(self) -> int:
        """The tokens that the texts of one question may have."""
        return self._client.room

    def note(self, what: str, count: int) -> None:
        """Add to a count that the evidence states; see Judge."""
        self.notes[what] = self.notes.get(what, 0) + count

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        """Return the reply to the prompt over the data; see Judge."""
        request = self._request(prompt, data, reply, repeat)
        return await self._verdict(prompt.id, lambda asked: self._read_or_repair(request, reply, asked))

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        """Return one reply per item; see Judge."""
        form = replies.items_of(reply, name)

        def question(numbers: Sequence[int]) -> Request:
            return self._request(prompt, {**(data or {}), name: [items[number - 1] for number in numbers]}, form)

        async def listed(asked: _Asked) -> tuple[I, ...]:
            found: dict[int, Any] = {}
            wrong = dict.fromkeys(range(1, len(items) + 1), "")
            for _ in range(2):
                more, wrong = await self._listed(question, form, name, wrong, asked)
                found |= more
            if wrong:
                told = "; ".join(f"{number}: {why}" for number, why in sorted(wrong.items())[:TOLD])
                which = f"{len(wrong)} of {len(items)} {name.lower()}"  # upper case only in prompts
                raise Unreadable(f"the judge gave no single verdict on {which}, twice ({told})")
            return tuple(found[number] for number in sorted(found))

        return await self._verdict(prompt.id, listed)

    async def _listed(
        self, question: Question, form: type[replies.Items], name: str, complaints: Mapping[int, str], asked: _Asked
    ) -> tuple[dict[int, Any], dict[int, str]]:
        """Return the replies to the items of these numbers, and for each that has none why.

        `complaints`: what was wrong with the last reply to each item, or "". A question whose reply is cut is halved;
        raises Cut for one item alone.
        """
        numbers = list(complaints)
        if not numbers:
            return {}, {}
        request = question(numbers)
        told = "; ".join(f"[{place}] {why}" for place, why in enumerate(complaints.values(), 1) if why)
        if told:
            request = request.ending(AGAIN.format(complaints=told))
        try:
            said = await self._read_or_repair(request, form, asked)
        except Cut as failure:
            if len(numbers) == 1:
                raise Cut(f"{failure}; it was asked about one of the {name} only, number {numbers[0]}") from None
            half = len(numbers) // 2
            halves = [{number: complaints[number] for number in part} for part in (numbers[:half], numbers[half:])]
            parts = [await self._listed(question, form, name, part, asked) for part in halves]
            return parts[0][0] | parts[1][0], parts[0][1] | parts[1][1]
        found, wrong = said.by_number(len(numbers))
        renumbered = {numbers[place - 1]: entry for place, entry in found.items()}
        return (
            {number: entry.model_copy(update={"id": number}) for number, entry in renumbered.items()},
            {numbers[place - 1]: why for place, why in wrong.items()},
        )

    async def complaint(self) -> str:
        """Return why a reply was unreadable, after the questions that were open when the evaluator failed have ended.

        Which of several failed first depends on timing; the first of all in order does not.
        """
        calm = 0
        while calm < CALM:  # a step that waited for a reply may ask another question
            await asyncio.sleep(0.01 if self._questions else 0)
            calm = 0 if self._questions else calm + 1
        return min(self._unreadable)[1]

    async def _verdict(self, step: str, ask: Callable[[_Asked], Awaitable[V]]) -> V:
        """Return what a question gives; one whose replies of earlier runs cannot be read is asked once more.

        A server may work again meanwhile. A cut reply is not asked for again: that takes another limit of tokens.
        """
        asked = _Asked()
        self._questions += 1
        try:
            try:
                return await ask(asked)
            except Unreadable as failure:
                may = any(call.stored and self._client.can_ask_again(call.stored) for call in asked.calls)
                if isinstance(failure, Cut) or not may:
                    raise
            asked = _Asked(again=True)
            return await ask(asked)
        except Unreadable as failure:
            self._unreadable.append((step, str(failure)))
            raise
        finally:
            self._questions -= 1
            self.calls += asked.calls

    def _request(self, prompt: Prompt, data: Data, form: type[Reply], repeat: int = 0) -> Request:
        settings = self._client.settings
        messages = prompt.messages(data, settings.prompts.get(prompt.id), examples=settings.examples == "few")
        return Request(self._client.identity, prompt.id, tuple(messages), form, repeat, self._draw)

    async def _read_or_repair(self, request: Request, form: type[T], asked: _Asked, *, repair: bool = True) -> T:
        """Return the reply or, with `repair`, the reply to the complaint that it cannot be read."""
        stored = await self._reply(request, asked)
        try:
            return self._client.read(request.key, stored, form)
        except Unreadable as failure:
            unread = str(failure)
            asked.calls = [replace(one, error=unread) if one.key == request.key else one for one in asked.calls]
            if stored.cut or not repair:
                raise
            said = {"role": "assistant", "content": stored.reply[:QUOTED]}
            complaint = {"role": "user", "content": REPAIR.format(complaint=failure)}
        repaired = replace(request, messages=(*request.messages, said, complaint))
        return await self._read_or_repair(repaired, form, asked, repair=False)

    async def _reply(self, request: Request, asked: _Asked) -> Stored:
        try:
            stored, cached = await self._client.reply(request, asked.again)
        except JudgeError as failure:
            asked.calls.append(Call(self.name, request.step, request.key, False, None, str(failure)))
            raise
        asked.calls.append(Call(self.name, request.step, request.key, cached, stored))
        return stored
