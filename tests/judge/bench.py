"""A judge at the scripted server, asked directly: one question, or one about numbered items."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from metrics.core.prompt import Prompt
from metrics.judge.asking import ItemReply, Reply
from metrics.judge.client import CaseJudge, Client
from metrics.judge.open_judges import open_judges
from tests.judge.server import JudgeServer

GRADE = Prompt("test.grade", "Is TEXT polite?")
SORT = Prompt("test.sort", "Which of the THINGS are alive?")
Result = TypeVar("Result")


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Alive(ItemReply):
    alive: Literal["yes", "no"]


class Bench:
    """A judge at the scripted server, with its cache in a folder; `with_judge` runs what it is given in a loop."""

    def __init__(self, server: JudgeServer, folder: Path, hosted: bool = False):
        self.server = server
        self.folder = folder
        self.way = {"model": "openai/gpt-4o-mini"} if hosted else {"model": "scripted", "base_url": server.url}

    def with_judge(self, work: Callable[[CaseJudge], Awaitable[Result]], **settings: Any) -> Result:
        async def run() -> Result:
            given = {**self.way, "backoff": 0.001, **settings}
            (client,) = open_judges(given, self.folder)
            self.client: Client = client
            self.judge = CaseJudge(client)
            try:
                return await work(self.judge)
            finally:
                await client.close()

        return asyncio.run(run())

    def ask(self, text: str = "Thank you.", repeat: int = 0, **settings: Any) -> Verdict:
        return self.with_judge(lambda judge: judge.ask(GRADE, Verdict, {"TEXT": text}, repeat=repeat), **settings)

    def sort(self, *things: str, **settings: Any) -> tuple[str, ...]:
        said = self.with_judge(lambda judge: judge.each(SORT, Alive, things, name="THINGS"), **settings)
        assert [entry.id for entry in said] == list(range(1, len(things) + 1))
        return tuple(entry.alive for entry in said)
