"""A judge in the same process, for tests that ask often: it sees the requests a server would, and counts them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from metrics.core.errors import Unreadable
from metrics.core.evaluator import Example, ScriptedReply
from metrics.core.prompt import Data, Prompt
from metrics.judge.asking import I, T, schema_of
from metrics.judge.replies import by_number, items_of, read
from tests.judge.server import Request

Answer = Callable[[Request], Any]  # a JSON value; a list for numbered items, ids added where they are missing


class ScriptedJudge:
    """Answers by a function of the request. `calls` holds every request, `distinct` each different one once."""

    name = "scripted"
    edited: frozenset[str] = frozenset()

    def __init__(self, answer: Answer, room: int = 10_000) -> None:
        self.answer = answer
        self.room = room
        self.notes: Counter[str] = Counter()
        self.calls: list[Request] = []

    @property
    def distinct(self) -> dict[str, Request]:
        return {json.dumps(request.body, ensure_ascii=False): request for request in self.calls}

    def note(self, what: str, count: int) -> None:
        self.notes[what] += count

    async def ask(self, prompt: Prompt, reply: type[T], data: Data, *, repeat: int = 0) -> T:
        request = Request(
            {
                "messages": prompt.messages(data),
                "response_format": {"json_schema": {"name": prompt.id.replace(".", "_"), "schema": schema_of(reply)}},
                "repeat": repeat,
            },
            {},
        )
        self.calls.append(request)
        said = self.answer(request)
        if isinstance(said, list):
            said = {"replies": [{"id": number, **entry} for number, entry in enumerate(said, 1)]}
        return read(said if isinstance(said, str) else json.dumps(said), reply)

    async def each(
        self, prompt: Prompt, reply: type[I], items: Sequence[str], data: Data | None = None, *, name: str = "items"
    ) -> tuple[I, ...]:
        if not items:
            return ()
        said: Any = await self.ask(prompt, items_of(reply, name), {**(data or {}), name: items})  # type: ignore[type-var]
        found = by_number(said.replies, len(items))
        if len(found) < len(items):
            raise Unreadable(f"{len(found)} replies for {len(items)} items")
        return tuple(found[number] for number in range(1, len(items) + 1))


def fits(said: ScriptedReply, request: Request) -> bool:
    """Whether a worked example's `said` is the reply to the request."""
    return request.step == said.prompt.replace(".", "_") and all(
        text in request.data.get(name, "") for name, text in said.about.items()
    )


def as_said(said: Iterable[ScriptedReply]) -> Answer:
    """Replies as a worked example has them, the first that fits."""
    script = list(said)

    def answer(request: Request) -> Any:
        for entry in script:
            if fits(entry, request):
                return entry.reply
        raise AssertionError(f"the example does not say what the judge replies to {request.step}: {request.data}")

    return answer


def judge_of(example: Example) -> ScriptedJudge:
    """The judge of a worked example."""
    return ScriptedJudge(as_said(example.judge))


def answers(script: Mapping[str, Any]) -> Answer:
    """Replies by prompt id: a value, or a function of the request."""

    def answer(request: Request) -> Any:
        found = {name.replace(".", "_"): reply for name, reply in script.items()}[request.step]
        return found(request) if callable(found) else found

    return answer
