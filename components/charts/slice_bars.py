"""Slices as bars against the overall value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from components.charts.figure_parts import Figure
from components.charts.interval_bars import bars_figure
from metrics.presentation.format import number
from metrics.presentation.palette import ACCENT, INK, LINE

if TYPE_CHECKING:
    from metrics.analysis.slices.slice_values import SliceValue


def slices_figure(
    rows: Sequence[SliceValue],
    overall: SliceValue,
    title: str,
    dark: bool,
    bounds: tuple[float, float] | None,
    height: int,
) -> Figure:
    """Return a bar per slice with its interval, and the overall value as a line; a bar carries [title, address]."""
    numbers = pd.DataFrame(
        [
            {
                "name": row.label,
                "series": title,
                "value": row.value,
                "low": row.low,
                "high": row.high,
                "n": row.n,
                "key": row.slice.address,
            }
            for row in rows
        ]
    )
    numbers = numbers.astype({"value": float, "low": float, "high": float})
    figure = bars_figure(numbers, {title: ACCENT[dark]}, "", dark, bounds, pixels_high=height)
    texts = [f"  {number(row.value)}" for row in rows]  # a single series needs no name beside its bars
    figure.update_traces(text=texts, textfont={"size": 12, "color": INK[dark]}, selector={"type": "scatter"})
    if overall.low is not None and overall.high is not None:
        figure.add_vrect(x0=overall.low, x1=overall.high, fillcolor=LINE[dark], line_width=0, layer="below")
    figure.add_vline(x=overall.value, line={"color": INK[dark], "width": 1.4, "dash": "dot"})
    return figure
