"""Which questions are to be written from which passages."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice, zip_longest
from typing import Protocol

from metrics.questions.kinds import QUESTION_KINDS, Kind
from metrics.questions.settings import QuestionSettings, shared_out
from metrics.text.chunks import Chunk

FOLLOWING = 3  # passages of a summary
SCARCE = 200  # characters: a shorter chunk is asked about only where there is no longer one


class Nearness(Protocol):
    """Which chunks are about the same."""

    def nearest(self, chunk: int, most: int) -> Sequence[int]:
        """Return the places of the chunks that are most like that one, the most similar first, without itself."""
        ...


class NextTo:
    """Nearness by place, which needs no embeddings: for estimates."""

    def __init__(self, chunks: int):
        self._chunks = chunks

    def nearest(self, chunk: int, most: int) -> Sequence[int]:
        """Return the next chunks, then the first ones."""
        return [place % self._chunks for place in range(chunk + 1, chunk + self._chunks)][:most]


@dataclass(frozen=True, slots=True)
class Task:
    """One question to the judge: `count` questions of a kind about the chunks of those places, in a language."""

    kind: Kind
    chunks: tuple[int, ...]
    language: str
    count: int


class Plan:
    """Deals the chunks out to questions: each document in turn, each chunk once before any is asked about again."""

    def __init__(self, chunks: Sequence[Chunk], settings: QuestionSettings, nearness: Nearness):
        self._chunks = chunks
        self._settings = settings
        self._nearness = nearness
        self._turn = cycle(_in_turn(chunks, settings.seed))
        self._partners: Counter[tuple[int, int]] = Counter()

    def counts(self) -> dict[str, int]:
        """Return how many questions there are to be of each kind; a kind that needs two passages needs two chunks."""
        weights = self._settings.weights
        if len(self._chunks) < 2:
            weights = {name: weight for name, weight in weights.items() if QUESTION_KINDS[name].passages != "similar"}
        return shared_out(self._settings.number, {name: weights[name] for name in QUESTION_KINDS if weights.get(name)})

    def tasks(self, wanted: Mapping[tuple[str, str], int], per_document: Mapping[str, int]) -> list[Task]:
        """Return tasks for so many questions of each kind and language; `per_document` counts those that there are.

        Questions of one kind and language about the same chunks are one task. Documents that have their most questions
        are passed over; where all have, fewer are planned.
        """
        used = Counter(per_document)
        counts: Counter[tuple[str, tuple[int, ...], str]] = Counter()
        for (name, language), number in wanted.items():
            for _ in range(number):
                first = self._next(used)
                if first is None:
                    break
                used[self._chunks[first].document] += 1
                counts[name, self._with(QUESTION_KINDS[name], first), language] += 1
        return [
            Task(QUESTION_KINDS[name], places, language, count) for (name, places, language), count in counts.items()
        ]

    def _next(self, used: Mapping[str, int]) -> int | None:
        most = self._settings.per_document
        for place in islice(self._turn, len(self._chunks)):
            if most is None or used[self._chunks[place].document] < most:
                return place
        return None

    def _with(self, kind: Kind, first: int) -> tuple[int, ...]:
        """Return the chunks of a question whose first one is chosen."""
        if kind.passages == "following":
            document = self._chunks[first].document
            after = range(first, min(first + FOLLOWING, len(self._chunks)))
            return tuple(place for place in after if self._chunks[place].document == document)
        if kind.passages == "similar":
            near = list(self._nearness.nearest(first, FOLLOWING))
            partner = min(near, key=lambda place: self._partners[first, place])  # another one each time
            self._partners[first, partner] += 1
            return first, partner
        return (first,)


def languages_of(counts: Mapping[str, int], languages: Sequence[str]) -> dict[tuple[str, str], int]:
    """Return the number of questions of each kind and language: the languages in turn over all kinds."""
    turns = cycle(languages or ("",))
    return dict(Counter((kind, next(turns)) for kind, number in counts.items() for _ in range(number)))


def _in_turn(chunks: Sequence[Chunk], seed: int) -> list[int]:
    """Return the places of all chunks in random order, of each document one before any document has a second."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    by_document: dict[str, list[int]] = {}
    for place, chunk in enumerate(chunks):
        by_document.setdefault(chunk.document, []).append(place)
    own = list(by_document.values())
    draw.shuffle(own)
    for places in own:
        draw.shuffle(places)
        places.sort(key=lambda place: len(chunks[place].text) < SCARCE)
    return [place for place in chain.from_iterable(zip_longest(*own)) if place is not None]
