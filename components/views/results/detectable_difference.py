"""What the suite could reveal: the difference of two models that it would show, and the cases a wanted one needs."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import streamlit as st

from components import data
from components.widgets import url
from components.widgets.controls import agreed, place
from metrics.presentation import format

Power = Mapping[str, Any]  # of components.data.detectable


def sentence(power: Power, title: str) -> str:
    """Return what the cases there are would reveal."""
    groups = f" in {format.plural(power['units'], 'group')}" if power["units"] != power["cases"] else ""
    return (
        f"With these {format.plural(power['cases'], 'case')}{groups} a true difference of"
        f" {format.number(power['detectable'])} or more between two models in {title} would be seen in 8 of 10"
        f" repetitions."
    )


def wish(power: Power) -> float:
    """Return a difference to ask for first: half of what can be seen, in one digit."""
    half = power["detectable"] / 2
    return float(round(half, -floor(log10(half))))


def show_detectable(run: str, tag: str | None, columns: Sequence[Mapping[str, Any]], sort: str | None) -> None:
    """The sentence for a metric, by default the one the table is sorted by, and an input for a wanted difference."""
    known = data.detectable(run, tag)
    headed = {
        (column["evaluator"], column["metric"]): column for column in reversed(columns)
    }  # the first of each metric
    offered = {column["key"]: column for name, column in reversed(headed.items()) if name in known}
    if not offered:
        return
    titles = {key: _title(column) for key, column in offered.items()}
    first = sort if sort in titles else next(iter(titles))
    key = url.param("power", first)
    key = key if key in titles else first
    metric = offered[key]["evaluator"], offered[key]["metric"]
    wanted = url.number("wish", wish(known[metric]), 1e-9)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "What could these cases show in", list(titles), place(list(titles), agreed("control-power", key)),
            titles.__getitem__, key="control-power", width=260,
            on_change=_write, args=("power", "control-power", first),
            help="The typical pair of these models: the median standard error of their differences on the same cases, "
            "a two-sided paired test at 5 %, found in 80 % of repetitions. Grouped cases count as groups.",
        )  # fmt: skip
        st.number_input(
            "Difference to see", 1e-9, None, agreed("control-wish", wanted), step=10.0 ** floor(log10(wanted)),
            format="%.3g", key="control-wish", width=150, on_change=_write, args=("wish", "control-wish", None),
            help="The true difference of two models, in the metric's own unit, that you would not want to miss.",
        )  # fmt: skip
        needed = data.cases_needed(run, tag, *metric, wanted)
        st.text(
            f"{sentence(known[metric], titles[key])}\nTo see {format.number(wanted)} you need"
            f" {format.plural(needed, 'case')} like these."
        )


def _title(column: Mapping[str, Any]) -> str:
    """Evaluator and metric; the evaluator alone where the metric has its name."""
    same = column["title"].casefold().replace("_", " ") == column["evaluator_title"].casefold()
    return column["evaluator_title"] if same else f"{column['evaluator_title']}: {column['title']}"


def _write(name: str, key: str, default: object) -> None:
    value = st.session_state[key]
    url.put(**{name: None if value == default else value} | ({"wish": None} if name == "power" else {}))
