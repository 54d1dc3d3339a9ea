"""The leaderboard as a small radar and small bars: how the leading models compare."""

from collections.abc import Iterator

from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard
from metrics.presentation.blocks import Answer, Bar, BarGroup, Bars, Block, Note
from metrics.presentation.chart_data.metric_bars import LEAST_SPOKES, MOST_METRICS, MOST_SPOKES, can_be_spoke, radar_of
from metrics.presentation.format import plural
from metrics.presentation.phrases import metric_title

MOST_MODELS = 6


def overview(board: Leaderboard) -> Iterator[Answer]:
    """Yield a group of charts of the primary metrics with a better end and a finite range, if there are any."""
    columns = [column for column in primary_columns(board) if can_be_spoke(column.direction, column.low, column.high)]
    if not columns:
        return
    ranked = headline(board).models
    models = ranked[:MOST_MODELS]
    charts = list[Block]()
    if len(columns) >= LEAST_SPOKES:
        charts.append(radar_of(columns[:MOST_SPOKES], models, board.cells))
    shares = [column for column in columns if (column.low, column.high) == (0.0, 1.0)][:MOST_METRICS]
    if shares:
        groups = tuple(
            BarGroup(metric_title(column), tuple(_bar(board, column, model) for model in models)) for column in shares
        )
        title = "Values with 95 % intervals: " + plural(len(shares), "metric")
        charts.append(Bars(title, groups, models, 1.0))
    if charts and len(ranked) > len(models):
        charts.append(Note(f"The {len(models)} leading of {len(ranked):,} models."))
    if charts:
        yield Answer("charts", "At a glance", "Where is each model strong and weak?", tuple(charts))


def _bar(board: Leaderboard, column: Column, model: str) -> Bar:
    cell = board.cells.get((model, column.key))
    return Bar(model, None) if cell is None else Bar(model, cell.value, cell.low, cell.high)
