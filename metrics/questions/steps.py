"""The two questions to the judge: to write questions about passages, and to check one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from metrics.judge.asking import ItemReply, Judge, Reply
from metrics.questions.kinds import ALONE, ANSWERED, CHECK
from metrics.questions.plan import Task
from metrics.questions.settings import QuestionSettings
from metrics.text.chunks import Chunk

ASKED = 20  # earlier questions about the same passages that the judge is shown
SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # of scripts that put no space between words
WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
WRONG, UNCLEAR = "its answer does not follow from its passages", "it is unclear without its passages"
ONE_IS_ENOUGH, IS_ANSWERED = "one of its passages is enough", "the documents do answer it"


class _Question(Reply):
    quotes: list[Annotated[str, Field(json_schema_extra={"maxLength": 600})]] = Field(
        default=[], json_schema_extra={"maxItems": 3}
    )
    question: str = Field(json_schema_extra={"maxLength": 500})
    answer: str = Field(json_schema_extra={"maxLength": 2_000})


class _Questions(Reply):
    questions: list[_Question]


@lru_cache(maxsize=64)
def _questions(count: int) -> type[_Questions]:
    """Return the form of the reply with at most `count` questions; small models would write on and on."""
    field = Field(json_schema_extra={"maxItems": count})
    return create_model("Questions", __base__=_Questions, questions=(list[_Question], field))


class _Checked(Reply):
    reason: str = ""
    verdict: Literal["good", "wrong", "unclear"]


class _Answered(Reply):
    reason: str = ""
    verdict: Literal["no", "yes"]


class _Alone(ItemReply):
    reason: str = ""
    verdict: Literal["no", "yes"]


@dataclass(frozen=True, slots=True)
class Written:
    """A question as the judge wrote it, for a task."""

    task: Task
    question: str
    answer: str
    quotes: tuple[str, ...]


def words(text: str) -> int:
    """Return the number of words; in Chinese and Japanese, which put no space between them, two signs are one word.

    >>> words("What's the fee in 1,200 days?"), words("图书馆几点开门？")
    (6, 4)
    """
    signs = len(SIGN.findall(text))
    return len(WORD.findall(SIGN.sub(" ", text))) + -(-signs // 2)


def chunk_text(chunk: Chunk) -> str:
    """Return a chunk as the judge sees it: where it stands, then its text."""
    return f"{chunk.place}\n{chunk.text}"


async def write(
    judge: Judge, task: Task, chunks: Sequence[Chunk], settings: QuestionSettings, asked: Sequence[str] = ()
) -> list[Written]:
    """Return what the judge writes for a task, at most as many as asked for. Raises JudgeError."""
    count = f"{task.count} questions" if task.count > 1 else "1 question"
    language = f" in {task.language}" if task.language else ""
    wanted = (
        f"{count}{language}; each of {settings.min_words} to {settings.max_words} words, its answer of "
        f"{settings.min_answer_words} to {settings.max_answer_words} words"
    )
    data = {
        "PASSAGES": [chunk_text(chunks[place]) for place in task.chunks],
        "ASKED": list(asked[-ASKED:]) or None,
        "WANTED": wanted,
    }
    reply = await judge.ask(task.kind.prompt, _questions(task.count), data)
    return [
        Written(task, " ".join(entry.question.split()), entry.answer.strip(), tuple(entry.quotes))
        for entry in reply.questions[: task.count]
    ]


async def check(
    judge: Judge, written: Written, chunks: Sequence[Chunk], nearest: Sequence[int], repeat: int = 0
) -> tuple[str, str]:
    """Return why the judge does not accept a question ("" where it does), and its reason. Raises JudgeError.

    `nearest`: the chunks nearest to the question. An unanswerable one must not be answered by them either.
    """
    own = [chunk_text(chunks[place]) for place in written.task.chunks]
    if not written.task.kind.is_answered:
        others = [chunk_text(chunks[place]) for place in nearest if place not in written.task.chunks]
        data = {"QUESTION": written.question, "PASSAGES": [*own, *others]}
        found = await judge.ask(ANSWERED, _Answered, data, repeat=repeat)
        return (IS_ANSWERED if found.verdict == "yes" else ""), found.reason
    item = {"QUESTION": written.question, "ANSWER": written.answer}
    checked = await judge.ask(CHECK, _Checked, {**item, "PASSAGES": own}, repeat=repeat)
    if checked.verdict != "good":
        return (WRONG if checked.verdict == "wrong" else UNCLEAR), checked.reason
    if written.task.kind.passages == "similar":
        alone = await judge.each(ALONE, _Alone, own, item, name="PASSAGES")
        enough = next((entry for entry in alone if entry.verdict == "yes"), None)
        if enough is not None:
            return ONE_IS_ENOUGH, enough.reason
    return "", checked.reason
