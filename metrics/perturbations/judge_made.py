"""The perturbations that a judge writes: requested once, then answered from the cache."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from metrics.core.errors import BudgetSpent, JudgeDown, JudgeError
from metrics.core.prompt import Prompt
from metrics.judge.asking import Reply
from metrics.judge.client import CaseJudge, Client
from metrics.judge.open_judges import open_judges

AT_ONCE = 1_000  # questions prepared at once; how many are in flight is the judge's setting


class Written(Reply):
    """A text that the judge wrote."""

    text: str = Field(min_length=1, description="the text asked for, and nothing else")


@dataclass(frozen=True, slots=True)
class Question:
    """One text to be varied, and what is known to be true about it."""

    prompt: Prompt
    text: str
    truth: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the judge wrote, or why there is no text."""

    text: str | None
    reason: str = ""


def ask_all(questions: Sequence[Question], judge: Any, cache_folder: Path, draw: int) -> list[Answered]:
    """Return the judge's text for each question; `draw` numbers independent draws, so another seed asks again.

    MissingResource where there is no judge, JudgeDown where it does not answer at all: its replies so far are kept, and
    asking again continues from there.
    """
    # in a thread, since the caller may be in an event loop, as in notebooks
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(_ask_all(questions, judge, cache_folder, draw))).result()


async def _ask_all(questions: Sequence[Question], judge: Any, cache_folder: Path, draw: int) -> list[Answered]:
    clients = open_judges(judge, cache_folder)
    try:
        answers: list[Answered] = []
        for start in range(0, len(questions), AT_ONCE):
            part = questions[start : start + AT_ONCE]
            answers += await asyncio.gather(*(_ask(clients[0], question, draw) for question in part))
        return answers
    finally:
        for client in clients:
            await client.close()


async def _ask(client: Client, question: Question, draw: int) -> Answered:
    data = {"TEXT": question.text, "TRUTH": question.truth or None}
    try:
        reply = await CaseJudge(client).ask(question.prompt, Written, data, repeat=draw)
    except JudgeDown:
        raise
    except BudgetSpent as failure:
        return Answered(None, str(failure))
    except JudgeError as failure:
        return Answered(None, f"the judge returned no text: {failure}")
    return Answered(reply.text.strip()) if reply.text.strip() else Answered(None, "the judge returned an empty text")
