"""A judge in the same process, for tests that ask often: it sees the requests a server would, and counts them."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from metrics.core.evaluator import ScriptedReply
from metrics.core.prompt import Data, Prompt
from metrics.judge import dry_run
from metrics.judge.asking import schema_of
from tests.judge.server import Request

Answer = Callable[[Request], Any]  # a JSON value; a list for numbered items, ids added where they are missing


class ScriptedJudge(dry_run.ScriptedJudge):
    """Answers by a function of the request. `calls` holds every request, `distinct` each different one once."""

    def __init__(self, answer: Answer, room: int = 10_000) -> None:
        super().__init__()
        self.answer = answer
        self.room = room
        self.calls: list[Request] = []

    @property
    def distinct(self) -> dict[str, Request]:
        return {json.dumps(request.body, ensure_ascii=False): request for request in self.calls}

    def reply_to(self, prompt: Prompt, reply: type[Any], data: Data, repeat: int) -> Any:
        request = Request(
            {
                "messages": prompt.messages(data),
                "response_format": {"json_schema": {"name": prompt.id.replace(".", "_"), "schema": schema_of(reply)}},
                "repeat": repeat,
            },
            {},
        )
        self.calls.append(request)
        return self.answer(request)


def fits(said: ScriptedReply, request: Request) -> bool:
    """Whether a worked example's `said` is the reply to the request."""
    return request.step == said.prompt.replace(".", "_") and dry_run.fits(said.about, request.data)


def as_said(said: Iterable[ScriptedReply]) -> Answer:
    """Replies as a worked example has them, the first that fits."""
    script = list(said)

    def answer(request: Request) -> Any:
        for entry in script:
            if fits(entry, request):
                return entry.reply
        raise AssertionError(f"the example does not say what the judge replies to {request.step}: {request.data}")

    return answer


def answers(script: Mapping[str, Any]) -> Answer:
    """Replies by prompt id: a value, or a function of the request."""

    def answer(request: Request) -> Any:
        found = {name.replace(".", "_"): reply for name, reply in script.items()}[request.step]
        return found(request) if callable(found) else found

    return answer
