"""The leaderboard as a small radar: where the leading models are strong and weak."""

from collections.abc import Iterator

from metrics.analysis.leaderboard.headline import primary_columns
from metrics.analysis.leaderboard.leaderboard import Leaderboard
from metrics.presentation.blocks import Answer, Block, Note
from metrics.presentation.chart_data.metric_bars import LEAST_SPOKES, MOST_SPOKES, can_be_spoke, radar_of

MOST_MODELS = 6


def overview(board: Leaderboard) -> Iterator[Answer]:
    """Yield the primary metrics with a better end and a finite range as a radar, if there are enough of them."""
    columns = [column for column in primary_columns(board) if can_be_spoke(column.direction, column.low, column.high)]
    if len(columns) < LEAST_SPOKES:
        return
    models = board.models[:MOST_MODELS]
    charts: list[Block] = [radar_of(columns[:MOST_SPOKES], models, board.cells)]
    if len(board.models) > len(models):
        charts.append(Note(f"The {len(models)} leading of {len(board.models):,} models."))
    yield Answer("charts", "At a glance", "Where is each model strong and weak?", tuple(charts))
