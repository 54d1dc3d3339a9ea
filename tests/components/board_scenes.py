"""Columns, cells and leaderboards made by hand."""

from dataclasses import replace
from typing import Any

from metrics.analysis import Cell, Column, Leaderboard

CELL = Cell(None, None, None, None, 10, 0, {}, None, 1, False, False, None, last_rank=2, ranked=3)


def column(key: str, direction: str = "higher", **other: Any) -> Column:
    evaluator, _, metric = key.partition("/")
    made = Column(
        key, evaluator, evaluator.title(), "text", metric, metric, f"what {metric} is", direction, 0.0, 1.0, 0.5, "",
        True, False,
    )  # fmt: skip
    return replace(made, **other)


def cell(value: float | None, **other: Any) -> Cell:
    return replace(CELL, value=value, goodness=value, **other)


def board(values: dict[str, dict[str, float | None]], *columns: Column) -> Leaderboard:
    cells = {(model, key): cell(value) for model, row in values.items() for key, value in row.items()}
    for one in columns:
        scored = [value for row in values.values() if (value := row.get(one.key)) is not None]
        best = (min if one.direction == "lower" else max)(scored, default=None)
        for model, row in values.items():
            if row.get(one.key) == best is not None:
                cells[model, one.key] = replace(cells[model, one.key], best=True)
    return Leaderboard(tuple(values), columns, cells, (), {})


def changed(given: Leaderboard, model: str, key: str, **other: Any) -> Leaderboard:
    """The leaderboard with one cell changed."""
    return replace(given, cells={**given.cells, (model, key): replace(given.cells[model, key], **other)})
