"""Slices as bars against the overall value, as a table, and as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from components.charts.interval_bars import bars_figure
from components.widgets.tables import header, numeric
from metrics.presentation.format import ARROWS, MISSING, aligned, count, interval, number, plural
from metrics.presentation.palette import ACCENT, INK, LINE
from metrics.presentation.phrases import signed

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from components.data import Measure, SliceSearch, SliceValue

INTERVALS = {"wilson": "Wilson's, of a share", "bootstrap": "bootstrap over cases, or over their groups or images"}

POOLED = (
    "the value drawn towards those of the other slices, the more the fewer cases it has and the less the slices differ "
    "(partial pooling): the better guess of what more cases would show; from four slices on"
)


def answer(found: SliceSearch) -> str:
    """Return what the search found, in a sentence."""
    many = len(found.slices)
    if not found.searched:
        return "No slice has enough cases to be searched"
    verb = "is" if many == 1 else "are"
    slices = plural(found.searched, "slice")
    return f"{count(many) if many else 'None'} of {slices} {verb} significantly worse than the rest"


def method(found: SliceSearch, level: float) -> str:
    """Return how the search decides what is significant, in two sentences."""
    by_image = found.noun in ("objects", "predictions")
    units = "the values" if not found.clustered else "whole images" if by_image else "whole groups of cases"
    also = found.explained
    more = f" {count(also)} more {'is' if also == 1 else 'are'} worse only because of these." if also else ""
    return (
        f"Slices of one or two features with n ≥ {count(found.least)}. Significant: p ≤ {level:g}, the share of"
        f" {count(found.draws)} shuffles of {units} in which any slice looked as bad.{more}"
    )


def detectable_line(found: SliceSearch) -> str:
    """Return how large a gap the search would have detected, by the size of the slice."""
    gaps = [(size, gap) for size, gap in found.detectable if gap != float("inf")]
    if not gaps:
        return f"{count(found.n)} {found.noun} are too few: no gap could be detected."
    (size, gap), *others = gaps
    more = "".join(f"; with {count(size)}, {number(gap)}" for size, gap in others)
    return f"With {count(size)} {found.noun}, a gap of {number(gap)} would be detected 80 % of the time{more}."


def overall_line(row: SliceValue, model: str, measure: Measure, unscored: int) -> str:
    """Return the overall value, with which the slices are compared."""
    bounds = interval(row.low, row.high)
    facts = f"{model} · {measure.title} {ARROWS[measure.direction]} {number(row.value)}"
    facts += f" (95 % {bounds})" if bounds else ""
    return facts + f" · n {count(row.n)}" + (f" · {count(unscored)} unscored" if unscored else "")


def slices_figure(
    rows: Sequence[SliceValue],
    overall: SliceValue,
    title: str,
    dark: bool,
    bounds: tuple[float, float] | None,
    height: int,
) -> go.Figure:
    """Return a bar per slice with its interval, and the overall value as a line; a bar carries [title, address]."""
    numbers = pd.DataFrame(
        [
            {"name": row.label, "series": title, "value": row.value, "low": row.low, "high": row.high,
             "n": row.n, "key": row.slice.address}
            for row in rows
        ]
    )  # fmt: skip
    numbers = numbers.astype({"value": float, "low": float, "high": float})
    figure = bars_figure(numbers, {title: ACCENT[dark]}, "", dark, bounds, pixels_high=height)
    texts = [f"  {number(row.value)}" for row in rows]  # a single series needs no name beside its bars
    figure.update_traces(text=texts, textfont={"size": 12, "color": INK[dark]}, selector={"type": "scatter"})
    if overall.low is not None and overall.high is not None:
        figure.add_vrect(x0=overall.low, x1=overall.high, fillcolor=LINE[dark], line_width=0, layer="below")
    figure.add_vline(x=overall.value, line={"color": INK[dark], "width": 1.4, "dash": "dot"})
    return figure


def table(rows: Sequence[SliceValue]) -> pd.DataFrame:
    """Return slices with all their numbers, as texts."""
    return pd.DataFrame(
        {
            "label": [row.label for row in rows],
            "value": aligned([row.value for row in rows]),
            "interval": [interval(row.low, row.high) or MISSING for row in rows],
            "n": [row.n for row in rows],
            "pooled": aligned([row.pooled for row in rows]),
            "difference": [signed(row.difference) for row in rows],
            "reach": [interval(row.difference_low, row.difference_high) or MISSING for row in rows],
            "of_pooled": [interval(row.pooled_low, row.pooled_high) or MISSING for row in rows],
        }
    )


def table_columns(title: str, of: str, method: str) -> dict[str, Any]:
    """Return the headers of `table`, each with its meaning on hover."""
    return {
        "label": header(title, 96),
        "value": numeric("Value", 54, f"mean of the slice's {of}"),
        "interval": numeric("95 % interval", 96, f"interval of the value: {INTERVALS[method]}"),
        "n": numeric("n", 48, f"{of} of the slice that have a value"),
        "pooled": numeric("Pooled", 58, POOLED),
        "difference": numeric("Difference", 76, f"from the rest: mean of the slice minus that of all other {of}"),
        "reach": numeric(
            "95 % of difference", 126, "interval of that difference; not adjusted for the number of slices shown"
        ),
        "of_pooled": numeric("95 % of pooled", 106, "interval of the pooled value (Morris 1983)"),
    }
