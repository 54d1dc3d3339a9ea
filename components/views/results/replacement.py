"""Can B replace A? By how much each metric may be worse, which the address keeps, and what comes of it."""

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from components.data import boards, run_reads, workspace_runs
from components.widgets import controls, url
from components.widgets.literal import literal
from components.widgets.tables import draw_columns, header
from metrics.analysis import Column, Decision
from metrics.presentation.questions.is_it_better import metric_label, share_text

NAME = "margin"  # of the query parameter: a column's key, a colon, and the margin
HELP = (
    "By how much B may be worse and still replace A, in the metric's own unit: 0.01 is one point of a metric from 0 to "
    "1. Choose it before you look at the differences."
)
METHOD = (
    "The 95 % interval of B − A lies above the allowed loss: not worse (non-inferior, one-sided 2.5 %); within it on "
    "both sides: equivalent (TOST). Missing cases: for an answer in 80 % of evaluations if the true difference is as "
    "found."
)
WITHIN = (
    "Share of the cases on which B is at most the allowed loss worse, with its 95 % interval. It decides nothing: the "
    "mean may be within the allowed loss while many cases are not."
)
MANY = (
    "All of these metrics must pass, so their number needs no correction; “better” and “worse” are corrected for it. "
    "Click an answer for its cases."
)
ANYTIME = (
    "For a suite that grows while you compare again and again: intervals and p then hold at every look, however many "
    "there are. They are wider than those of a single look, and say nothing below 30 cases."
)


def margins(columns: Sequence[Column]) -> dict[str, float]:
    """Return the allowed losses of the address by the key of a column that has a better end."""
    return url.amounts(NAME, {column.key for column in columns if column.direction != "none"})


def draw_margins(columns: Sequence[Column], given: Mapping[str, float]) -> None:
    """Draw a button that opens an input for the allowed loss of each metric with a better end."""
    offered = [column for column in columns if column.direction != "none" and column.twin is None]
    if not offered:
        return
    label = f"Allowed loss ({len(given)})" if given else "Can B replace A?"
    with st.popover(label, icon=":material/published_with_changes:", help=HELP):
        st.caption("By how much may B be worse?")
        for column in offered:
            key = f"{NAME}-{column.key}"
            widest = column.high - column.low
            st.number_input(
                literal(metric_label(column, 60)), 0.0, widest if math.isfinite(widest) else None,
                controls.agreed(key, given.get(column.key)), step=widest / 100 if math.isfinite(widest) else 0.1,
                format="%.4g", key=key, placeholder="no limit", on_change=_write, args=(column.key, key),
            )  # fmt: skip


def show_decisions(decisions: Sequence[Decision]) -> str | None:
    """Draw the answer by each metric with an allowed loss; return the key of the metric whose cases are asked for."""
    columns = {
        "sentence": (header("Can B replace A?", None, METHOD), [made.sentence() for made in decisions]),
        "within": (header("P(within)", 150, WITHIN), [share_text(made.within) for made in decisions]),
    }
    clicked = draw_columns(columns, "decisions", tallest=36 + 35 * 8)
    st.caption(MANY)
    return None if clicked is None else decisions[clicked].row.column.key


def asked_for(run: str) -> workspace_runs.Replacing | None:
    """Return what the address asks of a report of the run: whether b may replace a of the run `before`, or of its own.

    None where it asks nothing, or of a model, a run or a metric that there is not.
    """
    a, b, before = url.param("a"), url.param("b"), url.param("before", run)
    twins = boards.same_suite(run)
    given = margins(run_reads.leaderboard(run).columns)
    if not given or b not in twins[run].models or before not in twins or a not in twins[before].models:
        return None
    tag = url.param("tag")
    tags = run_reads.leaderboard(run).tags
    return workspace_runs.Replacing(
        b, before, a, tuple(given.items()), tag if tag in tags else None, url.flag("anytime")
    )


def _write(column: str, key: str) -> None:
    if controls.is_gone(key):
        return
    value = st.session_state[key]
    others = [text for text in url.params(NAME) if text.rpartition(":")[0] != column]
    url.put(**{NAME: [*others, *([f"{column}:{value:g}"] if value else [])]})
