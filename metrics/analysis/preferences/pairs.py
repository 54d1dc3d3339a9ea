"""Pairs of answers to compare: those of a run, and which a person should see next."""

import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels.human_labels import case_ids, draw_order
from metrics.analysis.preferences.matches import Match, Source, all_matches
from metrics.core.array_types import Ints
from metrics.core.errors import InputError, InputProblem
from metrics.store import Run, cache_by_run

TASKS = ("text", "agent")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models' answers to one case, `left` shown first."""

    case_id: str
    left: str
    right: str

    @property
    def models(self) -> tuple[str, str]:
        """The models in the order of their names."""
        left, right = sorted((self.left, self.right))
        return left, right


@dataclass(frozen=True, slots=True)
class PairQueue:
    """How many of `total` pairs a person has decided, and which come next."""

    done: int
    total: int
    next: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class PairTexts:
    """What is compared: the case's question and expected answers, and each model's answer (its first repeat)."""

    case_id: str
    question: str
    expected: tuple[str, ...]
    answers: dict[str, str]


def pair_queue(
    run: Run, criterion: str, rater: str, skipped: Collection[tuple[str, str, str]] = (), most: int = 1
) -> PairQueue:
    """Return the next pairs for a person to compare by a criterion; `skipped` (case_id, models) ones come last.

    The two models that people have compared least come first, since their difference is known least; for them the case
    is the next in a random order of their own, those first that nobody has compared. Which answer stands left is drawn
    for each person, pair and case. Both draws depend on the data and the names alone, so a reload shows the same.
    """
    present = draw_order(run).reshape(len(run.models), -1) >= 0
    pairs = sorted(combinations(sorted(run.models), 2))
    both = {pair: present[run.models.index(pair[0])] & present[run.models.index(pair[1])] for pair in pairs}
    votes: dict[tuple[str, str], Counter[int]] = {pair: Counter() for pair in pairs}
    own: dict[tuple[str, str], set[int]] = {pair: set() for pair in pairs}
    for match in all_matches(run, criterion):
        votes[match.models][match.case] += len(match.people)
        if any(vote.rater == rater for vote in match.people):
            own[match.models].add(match.case)
    ids = case_ids(run)
    late = {(case_id, *models) for case_id, *models in skipped}
    chosen: list[tuple[tuple[Any, ...], Pair]] = []
    order = sorted(pairs, key=lambda pair: (votes[pair].total(), _digest(run, *pair)))
    for turn, pair in enumerate(order):
        left = [place for place in _case_order(run, *pair).tolist() if both[pair][place] and place not in own[pair]]
        left.sort(key=votes[pair].__getitem__)
        for nth, place in enumerate(left[: most + len(late)]):
            case_id = ids[place].as_py()
            turned = _digest(run, rater, case_id, *pair)[0] & 1
            chosen.append((((case_id, *pair) in late, nth, turn), Pair(case_id, *(pair[::-1] if turned else pair))))
    total = sum(int(own_cases.sum()) for own_cases in both.values())
    nexts = tuple(pair for _, pair in sorted(chosen, key=lambda each: each[0])[:most])
    return PairQueue(sum(map(len, own.values())), total, nexts)


def pair_texts(run: Run, cases: int | None = None, seed: int = 0) -> list[PairTexts]:
    """Return what there is to compare, of `cases` cases drawn at random, default all; those of two answers or more."""
    if run.spec.suite.task not in TASKS:
        raise InputError([InputProblem(run.id, f"a run of task {run.spec.suite.task}", "texts to compare")])
    if len(run.models) < 2:
        raise InputError([InputProblem(run.id, "one model", "two or more models, whose answers are compared")])
    outputs = run.outputs.restricted(run=1).outputs.select(["case_id", "model", "answer"]).to_pylist()
    answers: dict[str, dict[str, str]] = {}
    for row in outputs:
        if (row["answer"] or "").strip():
            answers.setdefault(row["case_id"], {})[row["model"]] = row["answer"]
    rows = run.suite.cases.select(["case_id", "question", "expected_answers"]).to_pylist()
    found = [
        PairTexts(row["case_id"], row["question"] or "", tuple(row["expected_answers"] or ()), answers[row["case_id"]])
        for row in rows
        if len(answers.get(row["case_id"], {})) > 1
    ]
    if cases is None or cases >= len(found):
        return found
    drawn = np.random.default_rng(seed).permutation(len(found))[:cases]
    return [found[place] for place in sorted(drawn.tolist())]


@cache_by_run(maxsize=64)
def _case_order(run: Run, one: str, other: str) -> Ints:
    """Return a random order of the cases of its own for two models."""
    seed = int.from_bytes(_digest(run, one, other)[:8], "big")
    return np.random.default_rng(seed).permutation(run.spec.suite.cases)


def _digest(run: Run, *names: str) -> bytes:
    seed = run.spec.suite.fingerprint + run.spec.outputs.fingerprint
    return hashlib.sha256("\x1f".join((seed, *names)).encode()).digest()


MAX_PAIRS = 500


@dataclass(frozen=True, slots=True)
class PairCase:
    """One case on which two models met: its question, and who is preferred by people and judges, None without a vote.

    people, judge: 1 where the first of the two models is preferred, 0.5 a tie, 0; votes: of people; note: the first
    reason of a judge, or what people noted; contradictory: a judge prefers another model in each order.
    """

    case_id: str
    question: str
    people: float | None
    judge: float | None
    votes: int
    note: str
    contradictory: bool


def pair_cases(
    run: Run, one: str, other: str, source: Source, criterion: str, tag: str | None = None
) -> tuple[list[PairCase], int]:
    """Return the cases on which two models were compared, the first MAX_PAIRS, and how many there are.

    Those where `one` is preferred by the source come first, then the ties.
    """
    inside = set(run.sampling_design(tag).inside.tolist())
    turned = one > other
    found = [
        (match, outcome)
        for match in all_matches(run, criterion)
        if set(match.models) == {one, other} and match.case in inside and (outcome := match.outcome(source)) is not None
    ]
    found.sort(key=lambda each: (each[1] if turned else -each[1], each[0].case))
    kept = [match for match, _ in found[:MAX_PAIRS]]
    table = run.case_columns(["case_id", "question"])
    questions = pc.take(table["question"], [match.case for match in kept]).to_pylist() if kept else []
    return [_row(match, text or "", turned) for match, text in zip(kept, questions, strict=True)], len(found)


def _row(match: Match, question: str, turned: bool) -> PairCase:
    people, judge = (_side(match.outcome(by), turned) for by in ("people", "judge"))
    notes = [vote.note for vote in (*match.judge, *match.people) if vote.note]
    against = any(sorted(own.values()) == [0.0, 1.0] for own in match.judged().values())
    return PairCase(match.case_id, question, people, judge, len(match.people), next(iter(notes), ""), against)


def _side(outcome: float | None, turned: bool) -> float | None:
    return None if outcome is None else 1 - outcome if turned else outcome
