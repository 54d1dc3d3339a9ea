"""Cases that a suite has twice, that stand in its contexts, or that another suite has too."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Suite
from metrics.text.shared_words import alike, held_in, shingles, words

MIN_LIKENESS = (
    0.8  # Jaccard index of shingles from which texts are nearly the same, and share of a question in a context
)
FEWEST = 8  # words of a question that may be sought in contexts: a shorter one stands in them by chance

Kind = Literal["same", "near", "in context"]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two cases that are not independent: `case_id`, and `other` of the same suite or of the one compared with.

    kind: `same` (the same words), `near` (a Jaccard index of at least MIN_LIKENESS of their runs of three words) or `in
    context` (the question of the first stands in a context of the other). likeness: 0 … 1; texts: the two, as given.
    """

    kind: Kind
    case_id: str
    other: str
    likeness: float
    texts: tuple[str, str]


def duplicates(
    suite: Suite, against: Suite | None = None, least: float = MIN_LIKENESS, contexts: bool = True
) -> list[Duplicate]:
    """Return the pairs of cases whose questions are alike, or stand in a context, the most alike first.

    Within the suite, or between it and the suite `against`; without `contexts` the questions alone are compared. A
    variant and its original are alike on purpose and not listed, nor is a case in its own context. A conversation is
    compared whole: its last turn alone may be asked of anything. InputError for a suite without texts.
    """
    for one in (suite, *((against,) if against else ())):
        if one.cases["question"].null_count == len(one.cases):
            raise InputError([InputProblem(one.name, "no questions", "a suite of texts")])
    found = [*_alike(suite, against or suite, least)]
    if contexts:
        found += _in_contexts(suite, against or suite, least)
    return sorted(found, key=lambda one: (-one.likeness, one.kind, one.case_id, one.other))


def independent_cases(suite: Suite, found: Iterable[Duplicate]) -> int:
    """Return how many cases are left if of every chain of `same` and `near` cases only one counts."""
    root = {case_id: case_id for case_id in suite.cases["case_id"].to_pylist()}

    def first(case_id: str) -> str:
        while root[case_id] != case_id:
            root[case_id] = root[root[case_id]]
            case_id = root[case_id]
        return case_id

    for one in found:
        if one.kind != "in context" and one.case_id in root and one.other in root:
            root[first(one.case_id)] = first(one.other)
    return len({first(case_id) for case_id in root})


def _alike(suite: Suite, other: Suite, least: float) -> Iterator[Duplicate]:
    rows = [*_rows(suite), *(() if other is suite else _rows(other))]
    border = len(rows) if other is suite else len(suite.cases)
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, (_, text, _) in enumerate(rows):
        if own := tuple(words(text)):
            groups[own].append(place)
    every = list(groups.values())
    for places in every:
        for first, second in _pairs(places, places, border, len(rows)):
            yield from _pair(rows, first, second, 1.0, "same")
    for pair in alike([shingles(rows[places[0]][1]) for places in every], least):
        one, two = every[pair.first], every[pair.second]
        for first, second in {*_pairs(one, two, border, len(rows)), *_pairs(two, one, border, len(rows))}:
            yield from _pair(rows, first, second, pair.likeness, "near")


def _pairs(some: Sequence[int], others: Sequence[int], border: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield pairs that tie together all rows of two groups of like rows, or of one; across the border if there is one.

    Each of the first suite with the first of the second's, and the other way round.
    """
    if border == size:
        if some is others:
            yield from ((some[0], place) for place in some[1:])
        elif some[0] < others[0]:
            yield some[0], others[0]
        return
    mine, theirs = [place for place in some if place < border], [place for place in others if place >= border]
    if mine and theirs:
        yield from ((place, theirs[0]) for place in mine)
        yield from ((mine[0], place) for place in theirs[1:])


def _pair(
    rows: Sequence[tuple[str, str, str]], first: int, second: int, likeness: float, kind: Kind
) -> Iterator[Duplicate]:
    """Yield the pair unless it is one family."""
    one, two = rows[first], rows[second]
    if one[2] != two[2]:
        yield Duplicate(kind, one[0], two[0], likeness, (one[1], two[1]))


def _in_contexts(suite: Suite, other: Suite, least: float) -> Iterator[Duplicate]:
    asked = [(id, text, family) for id, text, family in _rows(suite) if len(words(text)) >= FEWEST]
    texts = [(id, text, family) for id, family, held in _contexts(other) for text in held]
    sets = [shingles(text) for _, text, _ in texts]
    for pair in held_in([shingles(text) for _, text, _ in asked], sets, least):
        one, two = asked[pair.first], texts[pair.second]
        if one[2] != two[2]:
            yield Duplicate("in context", one[0], two[0], pair.likeness, (one[1], two[1]))


def _rows(suite: Suite) -> list[tuple[str, str, str]]:
    """Return id, question and family of each case: its original, in its suite."""
    columns = (suite.cases[name].to_pylist() for name in ("case_id", "question", "perturbs"))
    of = suite.fingerprint
    return [(id, text or "", f"{of}/{origin or id}") for id, text, origin in zip(*columns, strict=True)]


def _contexts(suite: Suite) -> Iterator[tuple[str, str, list[str]]]:
    columns = (suite.cases[name].to_pylist() for name in ("case_id", "perturbs", "reference_contexts", "source_text"))
    for id, origin, contexts, source in zip(*columns, strict=True):
        yield id, f"{suite.fingerprint}/{origin or id}", [text for text in (*(contexts or ()), source) if text]
