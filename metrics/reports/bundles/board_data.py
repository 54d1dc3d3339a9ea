"""The leaderboard of a bundle: the heatmap with all its columns, each order of the models, and the cases behind it: the
worst of each number, and of all numbers together as many as it has room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from metrics import analysis
from metrics.analysis import Column, Leaderboard
from metrics.presentation.format import metric_name, plural
from metrics.presentation.viewers import board_drawing
from metrics.presentation.viewers.case_rows import case_rows
from metrics.reports.bundles import MOST_CASES
from metrics.reports.bundles.data_file import clean, clean_text, hash_address
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

OF_DRAWER = 20  # cases beside the board

FullAnswers = Mapping[tuple[str, int], str | None]  # of a case, by model and repeat
Number = tuple[str, str, str]  # evaluator, metric, model


def board_data(run: Run, board: Leaderboard) -> dict[str, Any]:
    """Return what the page Leaderboard needs: the heatmap of all columns, those shown at first, and every order.

    `orders`: of each column and of the names the models' places, best first (down) and worst first (up).
    """
    headline = analysis.headline(board)
    models = list(headline.models)
    shown = board_drawing.select_columns(board.columns, [], minor=False)
    cells = board_drawing.cells(board, board.columns)
    drawing = board_drawing.payload(
        board.columns, cells, models, headline.sentence, None, True, judges=analysis.judged_by(run),
        every=board.columns, shown=board_drawing.cells_shown(None, len(models), len(shown)), address=hash_address,
    )  # fmt: skip
    keys = [column.key for column in board.columns]
    return {
        "heatmap": drawing,
        "shown": [keys.index(column.key) for column in shown],
        "orders": {key: _orders(board, models, key) for key in (*keys, board_drawing.NAME)},
        "metrics": list(_metrics(board)),
    }


def _orders(board: Leaderboard, models: Sequence[str], key: str) -> dict[str, list[int]]:
    return {
        name: [models.index(model) for model in board_drawing.order_models(board, models, key, down)]
        for name, down in (("down", True), ("up", False))
    }


def _metrics(board: Leaderboard) -> Iterator[dict[str, Any]]:
    """Yield each metric with its evaluator, their titles, and the number of the evaluator's file of cases."""
    evaluators = list(dict.fromkeys(column.evaluator for column in board.columns))
    first: dict[tuple[str, str], Column] = {}
    for column in board.columns:  # of a metric by label, the column of its first label
        first.setdefault((column.evaluator, column.metric), column)
    for column in first.values():
        yield {
            "key": column.key, "evaluator": column.evaluator, "metric": column.metric,
            "title": column.evaluator_title, "name": metric_name(column.metric, column.evaluator),
            "file": evaluators.index(column.evaluator), "minor": column.minor, "primary": column.primary,
        }  # fmt: skip


def case_lists(
    board: Leaderboard, shown: ShownCases, evaluator: str, model: str, full: Sequence[FullAnswers]
) -> dict[str, Any]:
    """Return the cases behind the numbers of one evaluator and model: `numbers` by column key, `lists`, `answers`.

    A number has title, facts and links as the drawer of the board, how many cases it has, and the place of its list.
    A row of a list is [case, repeat, value, share, step, failing, status, reason, place of its answer or None].
    """
    places = {case_id: place for place, case_id in enumerate(shown.ids)}
    numbers: dict[str, Any] = {}
    lists: dict[tuple[Any, ...], int] = {}
    answers: dict[str, int] = {}
    for column in (column for column in board.columns if column.evaluator == evaluator):
        found = shown.lists[evaluator, column.metric, model]
        view = {"evaluator": evaluator, "metric": column.metric, "model": model}
        cell, rows = board.cells.get((model, column.key)), found.rows.head(OF_DRAWER)
        of_cases = shown.columns[evaluator, column.metric]
        drawn = board_drawing.drawer(
            column, model, cell, rows, found.total, view, address=hash_address, of_cases=of_cases
        )
        if found.total > len(found.rows):
            drawn["links"][0][0] = f"The worst {plural(len(found.rows), 'case')}"
        numbers[column.key] = {
            **{name: drawn[name] for name in ("title", "facts", "links")},
            "total": found.total,
            "list": lists.setdefault(tuple(_rows(of_cases, found, places, full, answers)), len(lists)),
        }
    return {"numbers": clean(numbers), "lists": list(lists), "answers": list(answers)}


def _rows(
    column: Column, found: CaseList, places: Mapping[str, int], full: Sequence[FullAnswers], answers: dict[str, int]
) -> Iterator[tuple[Any, ...]]:
    frame = found.rows.assign(reason=found.rows["reason"].map(clean_text, na_action="ignore"))
    drawn = case_rows(frame, column, [""] * len(frame))
    for row, facts in zip(drawn, frame[["case_id", "model", "run", "status"]].to_dict("records"), strict=True):
        place, repeat = places[facts["case_id"]], int(facts["run"])
        answer = row["answer"] and without_keys(row["answer"], full[place].get((facts["model"], repeat)))
        share = None if row["share"] is None else round(row["share"], 4)
        yield (
            place, repeat, row["value"], share, row["step"], row["failing"], facts["status"], row["reason"],
            answers.setdefault(answer, len(answers)) if answer else None,
        )  # fmt: skip


def without_keys(beginning: str, full: str | None) -> str:
    """Return the beginning of a text without keys: one that is cut in two is found only in the full text."""
    if full is None or clean_text(full) == full:
        return clean_text(beginning)
    line = next((line for line in clean_text(full).splitlines() if line.strip()), "")
    return line if len(line) <= len(beginning) else line[: len(beginning) - 1] + "…"


@dataclass(frozen=True, slots=True)
class CaseList:
    """The cases that are shown of one number, the worst first, and how many it has."""

    rows: pd.DataFrame
    total: int


@dataclass(frozen=True, slots=True)
class ShownCases:
    """The ids of the cases in the order of the suite, the list of each number, and what is left out, in words.

    columns: whose values the lists of a metric show, by evaluator and metric, see analysis.column_of_cases.
    """

    ids: tuple[str, ...]
    lists: Mapping[Number, CaseList]
    left_out: str
    columns: Mapping[tuple[str, str], Column]


def shown_cases(run: Run, board: Leaderboard, most: int) -> ShownCases:
    """Return the `most` worst cases of each number; where they are more than MOST_CASES, the worst of each first."""
    lists = {number: _list(run, number, most) for number in _numbers(board)}
    chosen = set(list(dict.fromkeys(_worst_first(lists, most)))[:MOST_CASES])
    kept = {
        number: replace(found, rows=found.rows[found.rows["case_id"].isin(chosen)].reset_index(drop=True))
        for number, found in lists.items()
    }
    every = [str(case_id) for case_id in run.suite.cases["case_id"].to_pylist()]
    there = tuple(case_id for case_id in every if case_id in chosen)
    columns = {(one.evaluator, one.metric): analysis.column_of_cases(run, one) for one in board.columns}
    return ShownCases(there, kept, _left_out(len(there), len(every), most), columns)


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
