"""Numbers of classes, of kinds of errors and of metrics: their titles, their order, and which make a radar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from metrics.presentation.blocks import Radar
from metrics.presentation.format import DIRECTIONS, interval, number, range_text, shorten
from metrics.presentation.phrases import metric_title

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Cell, Column

GAIN = "d_ap_"  # prefix of the metrics that say what average precision an error costs
ERROR_TITLES = {
    "classification": "wrong class", "localisation": "poor box", "both": "wrong class, poor box",
    "duplicate": "duplicate", "background": "background", "missed": "missed",
    "false_positives": "all false", "false_negatives": "all missed",
}  # fmt: skip
LEAST_SPOKES, MOST_SPOKES = 3, 8
MOST_METRICS = 3  # of a chart of bars


def can_be_spoke(direction: str, low: float, high: float) -> bool:
    """Return whether a metric has a better end and a finite range to place its values in."""
    return direction != "none" and math.isfinite(high - low)


def radar_of(columns: Sequence[Column], models: Sequence[str], cells: Mapping[tuple[str, str], Cell]) -> Radar:
    """Return metrics that `can_be_spoke` as a radar, each model's values from the worst to the best of their ranges."""
    rows = [[cells.get((model, column.key)) for column in columns] for model in models]
    return Radar(
        "From the worst (centre) to the best of each range",
        tuple(map(metric_title, columns)),
        tuple(models),
        tuple(tuple(None if cell is None else cell.goodness for cell in row) for row in rows),
        tuple(tuple(_about(column, cell) for column, cell in zip(columns, row, strict=True)) for row in rows),
        tuple(column.key for column in columns),
    )


def _about(column: Column, cell: Cell | None) -> str:
    """Return the value with interval and n, what the metric means, where the value lies."""
    bounds = interval(cell.low, cell.high) if cell else ""
    value = f"{number(cell.value if cell else None)} {column.unit}".strip() + (f" (95 % {bounds})" if bounds else "")
    share = None if cell is None else cell.goodness
    means = f"range {range_text(column.low, column.high)}, {DIRECTIONS[column.direction]}"
    lines = [f"{value}, n {cell.n if cell else 0:,}", shorten(column.description, 90), means]
    lines += [] if share is None else [f"{round(100 * share)} % of the way from worst to best"]
    return "\n".join([metric_title(column, arrow=False), *lines])


def worst_first(numbers: pd.DataFrame, direction: str) -> list[str]:
    """Return the names in `numbers` by their mean `value`, the worst first; those without a value last."""
    means = numbers.groupby("name", sort=False)["value"].mean()
    return list(means.sort_values(ascending=direction != "lower", na_position="last", kind="stable").index)
