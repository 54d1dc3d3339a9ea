"""What to look at first in a run: at most three lines, each a link to the cases behind it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from components.data.run_reads import of_run
from components.widgets import url
from components.widgets.literal import literal
from metrics.analysis import Column, Leaderboard
from metrics.analysis.findings import problems
from metrics.analysis.leaderboard.cells import Cell, misses_surely
from metrics.presentation import format
from metrics.presentation.format import middle
from metrics.presentation.phrases import metric_title

MAX_LINES = 3
SHARE = 0.05  # of a model's answers, above which that they are empty is said first
blank_answers = of_run(problems.blank_answers)
Line = tuple[str, str, Column, bool]  # text, model, metric, whether it is about the cases beyond the threshold


def draw_lines(
    run: str,
    board: Leaderboard,
    columns: Sequence[Column],
    models: Collection[str],
    objects: Mapping[str, Mapping[str, url.Value]],
) -> None:
    """Draw the lines; `objects`: the gallery's filters for metrics of objects, by key. Nothing where nothing is wrong.

    They rest on the board and the outputs alone, so that the page does not wait for them; insights are on What went
    wrong.
    """
    empty = [
        f"{middle(model, 30)}: {len(cases):,} of {format.plural(total, 'answer')} are empty"
        for model, (cases, total) in blank_answers(run).items()
        if model in models and len(cases) > SHARE * total
    ][:MAX_LINES]
    lines = [*missed_thresholds(board, columns, models), *missing_values(board, columns, models)]
    lines = lines[: MAX_LINES - len(empty)]
    if not lines and not empty:
        return
    with st.container(gap="xxsmall", key="look-at"):
        st.subheader("What to look at", anchor=False)
        for text in empty:
            url.link(literal(text), "problems", run=run, view="defects")
        for text, model, column, failing in lines:
            own = objects.get(column.key)
            about: dict[str, Any] = (
                dict(own) if own else {"evaluator": column.evaluator, "metric": column.metric, "failing": failing}
            )
            url.link(literal(text), "gallery" if own else "cases", run=run, model=model, **about)


def missed_thresholds(board: Leaderboard, columns: Sequence[Column], models: Collection[str]) -> Iterator[Line]:
    """Yield the values on the wrong side of a threshold: significant ones first, then the farthest from it."""
    found = [
        (column, model, cell)
        for column in columns
        for model in models
        if (cell := board.cells.get((model, column.key))) and cell.problem and cell.value is not None
    ]
    for column, model, cell in sorted(found, key=lambda each: _severity(each[0], each[2])):
        sure = "" if misses_surely(column, cell) else "; may be chance"
        values = f"{format.number(cell.value)}, threshold {column.limit}"
        yield f"{middle(model, 30)}: {metric_title(column, arrow=False)} {values}{sure}", model, column, True


def missing_values(board: Leaderboard, columns: Sequence[Column], models: Collection[str]) -> Iterator[Line]:
    """Yield where cases should have a value and have none, the largest share of each model."""
    for model in models:
        missing = [(cell, column) for column in columns if (cell := board.cells.get((model, column.key)))]
        cell, column = max(missing, key=lambda each: each[0].missing_share, default=(None, None))
        if cell and column and cell.missing:
            cases = f"{format.count(cell.missing)} of {format.plural(cell.n + cell.unscored, 'case')}"
            yield f"{middle(model, 30)}: no {metric_title(column, arrow=False)} for {cases}", model, column, False


def _severity(column: Column, cell: Cell) -> tuple[bool, float]:
    return not misses_surely(column, cell), -abs((cell.value or 0.0) - (column.threshold or 0.0))
