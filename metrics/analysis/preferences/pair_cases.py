"""The cases on which two models were compared, with what people and judges prefer."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from metrics.analysis.preferences.matches import Match, Source, all_matches
from metrics.store import Run

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
