"""The smallest difference of two models that the suite can detect, and the cases needed for a smaller one."""

from collections.abc import Sequence
from math import floor, log10

import streamlit as st

from components.data import run_reads
from components.widgets import url
from components.widgets.controls import agreed, number, place
from metrics.analysis import Column, Ranks
from metrics.presentation import format
from metrics.presentation.phrases import metric_title

LEAST = 1e-9  # a target difference; models whose differences vary by rounding alone have a smaller detectable one


def sentence(power: Ranks, title: str) -> str:
    """Return the smallest detectable difference in a sentence."""
    groups = f" in {format.plural(power.units, 'group')}" if power.units != power.cases else ""
    return (
        f"With {format.plural(power.cases, 'case')}{groups}, a difference of {format.number(power.detectable)} between"
        f" two models in {title} would be detected 80 % of the time."
    )


def wish(power: Ranks) -> float:
    """Return the target difference to begin with: half of the detectable one, in one digit, and at least LEAST."""
    half = max(LEAST, (power.detectable or 1.0) / 2)
    return float(round(half, -floor(log10(half))))


def show_detectable(run: str, tag: str | None, columns: Sequence[Column], sort: str | None) -> None:
    """Draw the sentence for a metric, by default the sorted one, and an input for a target difference."""
    known = run_reads.detectable(run, tag)
    headed = {(column.evaluator, column.metric): column for column in reversed(columns)}  # the first of each metric
    offered = {column.key: column for name, column in reversed(headed.items()) if name in known}
    if not offered:
        return
    titles = {key: metric_title(column, arrow=False) for key, column in offered.items()}
    first = sort if sort in titles else next(iter(titles))
    asked = url.param("power")
    key = asked if asked in titles else first
    metric = offered[key].evaluator, offered[key].metric
    wanted = url.number("wish", wish(known[metric]), LEAST)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Smallest detectable difference for", list(titles), place(list(titles), agreed("control-power", key)),
            titles.__getitem__, key="control-power", width=260,
            on_change=_choose, args=(first,),
            help="For a typical pair of these models: from the median standard error of their paired differences, for "
            "a two-sided test at 5 % with 80 % power. Grouped cases count as groups.",
        )  # fmt: skip
        number(
            "Target difference", "wish", wish(known[metric]), LEAST, step=10.0 ** floor(log10(wanted)), form="%.3g",
            width=150, help="The difference between two models, in the metric's own unit, that you would not want to "
            "miss.",
        )  # fmt: skip
        needed = known[metric].cases_needed(wanted)
        st.text(
            f"{sentence(known[metric], titles[key])}\nTo detect {format.number(wanted)} you need"
            f" {format.plural(needed, 'case')} like these."
        )


def _choose(first: str) -> None:
    chosen = st.session_state["control-power"]
    url.put(power=None if chosen == first else chosen, wish=None)
