"""The leaderboard as a radar and as bars, small: how the leading models compare at a glance."""

import math
from collections.abc import Iterator, Sequence

from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard
from metrics.presentation.style import ARROWS, plural
from metrics.reports.report import Bar, BarGroup, Bars, ChartGroup, Radar

MOST_MODELS = 6
LEAST_SPOKES, MOST_SPOKES = 3, 8
MOST_BARS = 3  # metrics


def glance(board: Leaderboard) -> Iterator[ChartGroup]:
    """One group of charts, of primary metrics with a better end and a range; nothing where there is no such metric."""
    columns = [column for column in primary_columns(board) if math.isfinite(column.high - column.low)]
    if not columns:
        return
    ranked = headline(board).models
    models = ranked[:MOST_MODELS]
    charts: list[Radar | Bars] = []
    if len(columns) >= LEAST_SPOKES:
        charts.append(_radar(board, columns[:MOST_SPOKES], models))
    shares = [column for column in columns if (column.low, column.high) == (0.0, 1.0)][:MOST_BARS]
    if shares:
        groups = tuple(
            BarGroup(_name(column), tuple(_bar(board, column, model) for model in models)) for column in shares
        )
        title = "Values with 95 % intervals: " + plural(len(shares), "metric")
        charts.append(Bars(title, groups, models, 1.0))
    note = ""
    if len(ranked) > len(models):
        note = f"The {len(models)} leading of {len(ranked):,} models."
    if charts:
        yield ChartGroup("At a glance", "Where is each model strong and weak?", tuple(charts), note)


def _radar(board: Leaderboard, columns: Sequence[Column], models: tuple[str, ...]) -> Radar:
    cells = [[board.cells.get((model, column.key)) for column in columns] for model in models]
    values = tuple(tuple(None if cell is None else cell.goodness for cell in row) for row in cells)
    return Radar("From the worst (centre) to the best of each range", tuple(map(_name, columns)), models, values)


def _name(column: Column) -> str:
    return f"{column.evaluator_title} {ARROWS[column.direction]}".rstrip()


def _bar(board: Leaderboard, column: Column, model: str) -> Bar:
    cell = board.cells.get((model, column.key))
    return Bar(model, None) if cell is None else Bar(model, cell.value, cell.low, cell.high)
