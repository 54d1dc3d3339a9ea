"""Slices as bars against the value of all, as a table, and as sentences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components.charts.interval_bars import bars_figure
from metrics.presentation.format import ARROWS, MISSING, aligned, count, interval, number
from metrics.presentation.palette import ACCENT, INK, LINE
from metrics.presentation.phrases import signed

if TYPE_CHECKING:
    import plotly.graph_objects as go

Row = Mapping[str, Any]


def answer(found: Mapping[str, Any]) -> str:
    """Return what the search found, in a sentence."""
    many = len(found["slices"])
    looked = f"of {count(found['searched'])} looked at"
    if not many:
        return f"No slice {looked} is worse than the rest beyond chance" if found["searched"] else "Nothing to look at"
    return f"{count(many)} slice{'' if many == 1 else 's'} {looked} {'is' if many == 1 else 'are'} worse than the rest"


def method(found: Mapping[str, Any]) -> str:
    """Return how the search tells a bad slice from chance, in two lines."""
    by_image = found["noun"] in ("objects", "predictions")
    units = "the values" if not found["clustered"] else "whole images" if by_image else "whole groups of cases"
    also = found["explained"]
    more = f" {count(also)} more {'is' if also == 1 else 'are'} worse only because of these." if also else ""
    return (
        f"Slices of one feature or two, n ≥ {count(found['least'])}. p: how often shuffling {units}"
        f" {count(found['draws'])} times made any slice look as bad; found at p ≤ {found['level']:g}.{more}"
    )


def could_find(found: Mapping[str, Any]) -> str:
    """Return how small an effect would have been found."""
    parts = [
        f"one of {count(size)} if worse by {number(gap)}" for size, gap in found["detectable"]
        if gap != float("inf")
    ]  # fmt: skip
    if not parts:
        return f"{count(found['n'])} {found['noun']} are too few: no slice could be so bad as to be found."
    return f"Four times of five a slice would have been found: {', '.join(parts)}."


def overall_line(row: Row, model: str, measure: Row, unscored: int) -> str:
    """Return the value of all, which the slices are held against."""
    bounds = interval(row["low"], row["high"])
    facts = f"{model} · {measure['title']} {ARROWS[measure['direction']]} {number(row['value'])}"
    facts += f" (95 % {bounds})" if bounds else ""
    return facts + f" · n {count(row['n'])}" + (f" · {count(unscored)} unscored" if unscored else "")


def slices_figure(
    rows: Sequence[Row], overall: Row, title: str, dark: bool, bounds: tuple[float, float] | None, height: int
) -> "go.Figure":
    """Return a bar a slice with its interval, and the value of all as a line; a bar carries [title, address]."""
    numbers = pd.DataFrame(
        [
            {"name": row["label"], "series": title, "value": row["value"], "low": row["low"], "high": row["high"],
             "n": row["n"], "key": row["address"]}
            for row in rows
        ]
    )  # fmt: skip
    numbers = numbers.astype({"value": float, "low": float, "high": float})
    figure = bars_figure(numbers, {title: ACCENT[dark]}, "", dark, bounds, pixels_high=height)
    texts = [f"  {number(row['value'])}" for row in rows]  # a single series needs no name beside its bars
    figure.update_traces(text=texts, textfont={"size": 12, "color": INK[dark]}, selector={"type": "scatter"})
    if overall["low"] is not None and overall["high"] is not None:
        figure.add_vrect(x0=overall["low"], x1=overall["high"], fillcolor=LINE[dark], line_width=0, layer="below")
    figure.add_vline(x=overall["value"], line={"color": INK[dark], "width": 1.4, "dash": "dot"})
    return figure


def table(rows: Sequence[Row]) -> pd.DataFrame:
    """Slices with everything known of them, as texts."""
    return pd.DataFrame(
        {
            "label": [row["label"] for row in rows],
            "value": aligned([row["value"] for row in rows]),
            "interval": [interval(row["low"], row["high"]) or MISSING for row in rows],
            "n": [row["n"] for row in rows],
            "difference": [signed(row["difference"]) for row in rows],
            "reach": [interval(row["difference_low"], row["difference_high"]) or MISSING for row in rows],
        }
    )


def table_columns(title: str, of: str) -> dict[str, Any]:
    """Return the headers of `table`, each with what it means on hover."""

    def right(title: str, help: str, width: int) -> Any:
        return st.column_config.Column(title, help=help, width=width, alignment="right")

    return {
        "label": st.column_config.Column(title, width=104),
        "value": right("Value", f"mean of the slice's {of}", 52),
        "interval": right("95 %", "interval of the value: Wilson's for shares, else the bootstrap", 92),
        "n": right("n", f"{of} of the slice that have a value", 48),
        "difference": right("To the rest", f"the slice's mean less that of all other {of}", 72),
        "reach": right("95 %", "interval of that difference; not widened for the number of slices shown", 98),
    }
