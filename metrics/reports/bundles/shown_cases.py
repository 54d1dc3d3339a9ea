"""Which cases a bundle shows: the worst of each number, and of all numbers together as many as it has room for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metrics import analysis
from metrics.presentation.format import plural
from metrics.reports.bundles import MOST_CASES
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Column, Leaderboard

Number = tuple[str, str, str]  # evaluator, metric, model


@dataclass(frozen=True, slots=True)
class CaseList:
    """The cases that are shown of one number, the worst first, and how many it has."""

    rows: pd.DataFrame
    total: int


@dataclass(frozen=True, slots=True)
class ShownCases:
    """The ids of the cases in the order of the suite, the list of each number, and what is left out, in words."""

    ids: tuple[str, ...]
    lists: Mapping[Number, CaseList]
    left_out: str


def shown_cases(run: Run, board: Leaderboard, most: int) -> ShownCases:
    """Return the `most` worst cases of each number; where they are more than MOST_CASES, the worst of each first."""
    lists = {number: _list(run, number, most) for number in _numbers(board)}
    ids = dict.fromkeys(_worst_first(lists, most))
    chosen = set(list(ids)[:MOST_CASES])
    kept = {
        number: replace(found, rows=found.rows[found.rows["case_id"].isin(chosen)].reset_index(drop=True))
        for number, found in lists.items()
    }
    every = [str(case_id) for case_id in run.suite.cases["case_id"].to_pylist()]
    there = tuple(case_id for case_id in every if case_id in chosen)
    return ShownCases(there, kept, _left_out(len(there), len(every), most))


def _numbers(board: Leaderboard) -> Iterator[Number]:
    first: dict[tuple[str, str], Column] = {}
    for column in board.columns:  # a metric by label has a column a label, and the same cases behind each
        first.setdefault((column.evaluator, column.metric), column)
    yield from ((evaluator, metric, model) for evaluator, metric in first for model in board.models)


def _list(run: Run, number: Number, most: int) -> CaseList:
    evaluator, metric, model = number
    found = analysis.with_answers(run, analysis.cases(run, evaluator, metric, model=model, limit=most))
    return CaseList(found.rows, found.total)


def _worst_first(lists: Mapping[Number, CaseList], most: int) -> Iterator[str]:
    columns = [found.rows["case_id"].tolist() for found in lists.values()]
    for rank in range(most):
        yield from (ids[rank] for ids in columns if rank < len(ids))


def _left_out(shown: int, there: int, most: int) -> str:
    if shown == there:
        return ""
    return (
        f"{plural(shown, 'case')} of {there:,}: at most {most:,} of each number, the worst, and {MOST_CASES:,} in all. "
        "The numbers are those of all cases."
    )
