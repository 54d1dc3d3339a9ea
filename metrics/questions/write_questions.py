"""Write questions about documents: the judge writes, rules and the judge check; failures are replaced or dropped."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from metrics import models
from metrics.core.array_types import Floats
from metrics.core.errors import BudgetSpent, InputError, InputProblem, JudgeDown, JudgeError
from metrics.core.schema import now
from metrics.ingest.documents import read_documents
from metrics.judge.client import CaseJudge, Client
from metrics.judge.injection import suspected
from metrics.judge.open_judges import open_judges
from metrics.judge.settings import settings_of
from metrics.models.embedder import BUNDLED, Embedder
from metrics.questions.draft import Draft, Dropped, Passage, Proposed
from metrics.questions.plan import Plan, Task, languages_of
from metrics.questions.settings import QuestionSettings, question_settings
from metrics.questions.steps import WORD, Written, check, chunk_text, words, write
from metrics.store import Workspace
from metrics.text.chunks import Chunk, Document, chunked
from metrics.text.shared_words import quoted

ROUNDS = 3  # questions that were dropped are written again, from other passages, until the third time
NEAREST = 5  # passages that must not answer an unanswerable question
NO_REPLY, TOO_FEW = "the judge gave no readable reply", "the judge wrote fewer than it was asked for"
ORDERED = "its passage, written for the judge, tells it to ask this"
SAME, LIKE = "the same as another", "nearly the same as another"
Listen = Callable[[str, int, int], None]  # what is done, how many of it are done, of how many


class Embedded:
    """The embeddings of the chunks, computed on first use: which are about the same; see Nearness."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder):
        self._chunks = chunks
        self._embedder = embedder

    def nearest(self, chunk: int, most: int) -> Sequence[int]:
        """Return the chunks that are most like that one, without itself and such as say the same in the same words."""
        cosines = self._vectors @ self._vectors[chunk]
        order = [int(place) for place in np.argsort(-cosines, kind="stable") if place != chunk]
        other = [place for place in order if self._chunks[place].text != self._chunks[chunk].text]
        return (other or order)[:most]

    def near(self, texts: Sequence[str], most: int) -> list[list[int]]:
        """Return for each text the chunks that are most like it."""
        if not texts:
            return []
        cosines = self.of(texts) @ self._vectors.T
        return [[int(place) for place in row[:most]] for row in np.argsort(-cosines, axis=1, kind="stable")]

    def of(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors of texts."""
        return np.asarray(self._embedder.encode(list(texts)), np.float64)

    @cached_property
    def _vectors(self) -> Floats:
        return self.of([chunk_text(chunk) for chunk in self._chunks])


class _Writer:
    """The questions of one draft as they come to be."""

    def __init__(
        self, client: Client, chunks: Sequence[Chunk], settings: QuestionSettings, embedded: Embedded, listen: Listen
    ):
        self._client = client
        self._chunks = chunks
        self._settings = settings
        self._embedded = embedded
        self._listen = listen
        self.kept: list[Written] = []
        self.dropped: list[Dropped] = []
        self.stopped = ""
        self._asked: list[Written] = []  # of all rounds, kept or not
        self._vectors: list[Floats] = []  # of the questions that were not dropped as alike
        self._wordings: set[str] = set()

    async def write_all(self) -> None:
        """Write questions in rounds, until there are enough, or too many rounds."""
        plan = Plan(self._chunks, self._settings, self._embedded)
        wanted = languages_of(plan.counts(), self._settings.languages)
        for number in range(ROUNDS):
            made = Counter((entry.task.kind.name, entry.task.language) for entry in self.kept)
            missing = {key: count - made[key] for key, count in wanted.items() if count > made[key]}
            per_document = Counter(self._chunks[entry.task.chunks[0]].document for entry in self.kept)
            tasks = plan.tasks(missing, per_document)
            if not tasks or self.stopped:
                break
            await self._round(tasks, f"round {number + 1}" if number else "")

    async def _round(self, tasks: Sequence[Task], round: str) -> None:
        beside = f" again, {round}" if round else ""
        replies = await self._together([self._written(task) for task in tasks], f"Writing{beside}")
        fresh: list[Written] = []
        for task, written in zip(tasks, replies, strict=True):
            if written is not None:
                self._asked += written
                self.dropped += [Dropped(kind=task.kind.name, reason=TOO_FEW)] * (task.count - len(written))
                fresh += self._different([entry for entry in written if self._fits(entry)])
        if not self._settings.check:
            self.kept += fresh
            return
        nearest = self._embedded.near([entry.question for entry in fresh], NEAREST)
        coroutines = [self._checked(entry, near) for entry, near in zip(fresh, nearest, strict=True)]
        verdicts = await self._together(coroutines, f"Checking{beside}")
        self.kept += [entry for entry, good in zip(fresh, verdicts, strict=True) if good]

    async def _together(self, coroutines: Sequence[Any], what: str) -> list[Any]:
        done = 0

        async def counted(coroutine: Any) -> Any:
            nonlocal done
            found = await coroutine
            done += 1
            self._listen(what, done, len(coroutines))
            return found

        self._listen(what, 0, len(coroutines))
        return list(await asyncio.gather(*map(counted, coroutines)))

    async def _written(self, task: Task) -> list[Written] | None:
        """Return the questions of a task; None where the judge gave none, which is noted."""
        asked = [entry.question for entry in self._asked if set(entry.task.chunks) & set(task.chunks)]
        try:
            return await write(CaseJudge(self._client), task, self._chunks, self._settings, asked)
        except JudgeDown:
            raise
        except BudgetSpent as failure:
            self.stopped = str(failure)
        except JudgeError as failure:
            self.dropped += [Dropped(kind=task.kind.name, reason=NO_REPLY, detail=str(failure))] * task.count
        return None

    async def _checked(self, written: Written, nearest: Sequence[int]) -> bool:
        try:
            reason, detail = await check(CaseJudge(self._client), written, self._chunks, nearest)
        except JudgeDown:
            raise
        except BudgetSpent as failure:
            self.stopped = str(failure)
            reason, detail = "the budget was spent before it could be checked", ""
        except JudgeError as failure:
            reason, detail = NO_REPLY, str(failure)
        if reason:
            self._drop(written, reason, detail)
        return not reason

    def _fits(self, written: Written) -> bool:
        """Return whether a question and its answer have the lengths asked for; else the question is dropped.

        So is one that stands in a passage written for the judge, which was told to ask it.
        """
        own = self._settings
        for what, text, least, most in (
            ("question", written.question, own.min_words, own.max_words),
            ("answer", written.answer, own.min_answer_words, own.max_answer_words),
        ):
            count = words(text)
            if not least <= count <= most:
                bound = f"fewer than {least}" if count < least else f"more than {most}"
                self._drop(written, f"its {what} has {bound} words", f"{count} words")
                return False
        wording = _wording(written.question)
        for place in written.task.chunks:
            text = self._chunks[place].text
            if suspected([("passage", text)]) and wording in _wording(text):
                self._drop(written, ORDERED)
                return False
        return True

    def _different(self, written: Sequence[Written]) -> list[Written]:
        """Return the questions that are not the same as one before, by their words or by their embeddings."""
        kept = []
        for entry in written:
            wording = _wording(entry.question)
            if wording in self._wordings:
                self._drop(entry, SAME)
                continue
            (vector,) = self._embedded.of([entry.question])
            cosines = [float(vector @ other) for other in self._vectors]
            if max(cosines, default=-1.0) >= self._settings.duplicate:
                self._drop(entry, LIKE, f"cosine {max(cosines):.2f}")
                continue
            self._wordings.add(wording)
            self._vectors.append(vector)
            kept.append(entry)
        return kept

    def _drop(self, written: Written, reason: str, detail: str = "") -> None:
        name = written.task.kind.name
        self.dropped.append(Dropped(kind=name, reason=reason, question=written.question, detail=detail))


def chunks_of(documents: Sequence[Document], settings: QuestionSettings) -> list[Chunk]:
    """Return the chunks of the documents that are long enough, in their order; InputError where there are none."""
    long = [document for document in documents if document.characters >= settings.min_document]
    found = [chunk for document in long for chunk in chunked(document, settings.chunk_size)]
    if not found:
        expected = f"at least one with {max(1, settings.min_document):,} characters of text"
        raise InputError([InputProblem("documents", f"{len(documents):,} documents, all too short", expected)])
    return found


def write_questions(
    documents: Sequence[Document],
    settings: QuestionSettings,
    judge: Any,
    *,
    name: str = "",
    workspace: str | Path | None = None,
    embedder: str = BUNDLED,
    listen: Listen = lambda *_: None,
) -> Draft:
    """Return a draft of questions about the documents.

    `judge` (a model's name or the fields of JudgeSettings) writes each question from passages that the seed chooses,
    and is asked a second time whether it holds; equal and nearly equal questions are dropped by the embedder. What is
    dropped is replaced from other passages, twice at most. Every reply is kept in the workspace's cache, so an
    unfinished draft continues where it stopped. `listen` is called with what is being done, how many are done, and of
    how many.

    Raises InputError, MissingResource without a judge or an embedder, JudgeDown.
    """
    folder = Workspace(workspace).path / "cache"
    chunks = chunks_of(documents, settings)
    setting = settings_of(judge) if judge else None
    embedded = Embedded(chunks, models.provide(["embedder"], {"embedder": embedder}, folder)["embedder"])

    async def written() -> tuple[_Writer, dict[str, Any]]:
        clients = open_judges(setting, folder)
        try:
            writer = _Writer(clients[0], chunks, settings, embedded, listen)
            await writer.write_all()
            return writer, clients[0].ledger.spend.as_row()
        finally:
            for client in clients:
                await client.close()

    with ThreadPoolExecutor(1) as thread:  # since the caller may be in an event loop, as in notebooks
        writer, spend = thread.submit(lambda: asyncio.run(written())).result()
    return _draft(writer, chunks, documents, settings, str(setting and setting.name), name, spend)


def _draft(
    writer: _Writer,
    chunks: Sequence[Chunk],
    documents: Sequence[Document],
    settings: QuestionSettings,
    judge: str,
    name: str,
    spend: Mapping[str, Any],
) -> Draft:
    used = sorted({place for entry in writer.kept for place in entry.task.chunks})
    numbers: Counter[str] = Counter()
    questions = []
    for entry in sorted(writer.kept, key=lambda entry: (entry.task.chunks, entry.task.kind.name)):
        document = PurePosixPath(chunks[entry.task.chunks[0]].document).with_suffix("").as_posix()
        numbers[document] += 1
        questions.append(
            Proposed(
                id=f"{document}-{numbers[document]}",
                kind=entry.task.kind.name,
                question=entry.question,
                answer=entry.answer,
                passages=tuple(chunks[place].id for place in entry.task.chunks),
                quotes=_quotes_in(entry, chunks),
                language=entry.task.language,
            )
        )
    counts = Counter(chunk.document for chunk in chunks)
    return Draft(
        name=name or _name(documents),
        created=now(),
        judge=judge,
        settings=settings,
        documents=dict(counts),
        passages=tuple(
            Passage(id=own.id, document=own.document, place=own.place, text=own.text)
            for own in (chunks[place] for place in used)
        ),
        questions=tuple(questions),
        dropped=tuple(writer.dropped),
        stopped=writer.stopped,
        spend=dict(spend),
    )


def _name(documents: Sequence[Document]) -> str:
    """Return a name made of the first titles."""
    titles = [document.title for document in documents]
    if len(titles) < 3:
        return " and ".join(titles)
    return f"{titles[0]} and {len(titles) - 1} more documents"


def _quotes_in(written: Written, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the quotes that stand in the passages, as they stand there; white space and case may differ."""
    found = (quoted(quote, chunks[place].text) for quote in written.quotes for place in written.task.chunks)
    return tuple(dict.fromkeys(quote for quote in found if quote))


def _wording(text: str) -> str:
    """Return the words of a text, without case and punctuation."""
    return " ".join(WORD.findall(text.casefold()))


def questions_from_documents(
    places: str | Path | Iterable[str | Path],
    *,
    judge: Any,
    workspace: str | Path | None = None,
    name: str = "",
    embedder: str = BUNDLED,
    **settings: Any,
) -> Draft:
    """Return a draft of questions about the documents in files, folders and zips: text, Markdown, HTML, PDF.

    `judge` is a model's name or the fields of JudgeSettings; `settings` are those of QuestionSettings: number, weights,
    languages, min_words, max_words, chunk_size, seed … Raises InputError listing every document that cannot be read,
    MissingResource, JudgeDown; see `write_questions`.
    """
    wanted = question_settings(settings)
    listed = [places] if isinstance(places, str | Path) else list(places)
    read = read_documents(listed)
    if read.problems:
        raise InputError(read.problems)
    return write_questions(
        read.documents, wanted, judge, workspace=workspace, embedder=embedder, name=name or Path(listed[0]).stem
    )
