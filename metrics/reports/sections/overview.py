"""The leaderboard as a small radar and small bars: how the leading models compare."""

from collections.abc import Iterator, Sequence

from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard
from metrics.presentation.blocks import Answer, Bar, BarGroup, Bars, Block, Note, Radar
from metrics.presentation.chart_data.metric_bars import LEAST_SPOKES, MOST_METRICS, MOST_SPOKES, can_be_spoke
from metrics.presentation.format import plural
from metrics.presentation.phrases import directed

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
        charts.append(_radar(board, columns[:MOST_SPOKES], models))
    shares = [column for column in columns if (column.low, column.high) == (0.0, 1.0)][:MOST_METRICS]
    if shares:
        groups = tuple(
            BarGroup(_name(column), tuple(_bar(board, column, model) for model in models)) for column in shares
        )
        title = "Values with 95 % intervals: " + plural(len(shares), "metric")
        charts.append(Bars(title, groups, models, 1.0))
    if charts and len(ranked) > len(models):
        charts.append(Note(f"The {len(models)} leading of {len(ranked):,} models."))
    if charts:
        yield Answer("charts", "At a glance", "Where is each model strong and weak?", tuple(charts))


def _radar(board: Leaderboard, columns: Sequence[Column], models: tuple[str, ...]) -> Radar:
    cells = [[board.cells.get((model, column.key)) for column in columns] for model in models]
    values = tuple(tuple(None if cell is None else cell.goodness for cell in row) for row in cells)
    return Radar("From the worst (centre) to the best of each range", tuple(map(_name, columns)), models, values)


def _name(column: Column) -> str:
    return directed(column.evaluator_title, column.direction)


def _bar(board: Leaderboard, column: Column, model: str) -> Bar:
    cell = board.cells.get((model, column.key))
    return Bar(model, None) if cell is None else Bar(model, cell.value, cell.low, cell.high)
