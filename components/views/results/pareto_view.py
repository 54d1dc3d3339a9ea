"""Two criteria of each model, a metric against another or against what the answers took, and the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.charts import tradeoff
from components.data import run_reads
from components.views.curves import curve_parts
from components.views.judge.judge_calls import dollars
from components.widgets import filters
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.tables import draw_columns, header, numeric, whole
from metrics.presentation import format, ranking_words
from metrics.presentation.format import short_names
from metrics.presentation.phrases import metric_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from components.views.results.chart_view import View
    from metrics.analysis import Objective, Placing

MOST = 200  # models shown unasked
UNITS = {  # of medians
    "cost_usd": "1,000 × median USD of a case", "duration_s": "median seconds of a case",
    "tokens": "median tokens of a case",
}  # fmt: skip
SCALES = {"cost_usd": 1000.0}  # a case costs a fraction of a cent
MARKS = {"front": "★", "perhaps": "☆", "dominated": "●"}  # in the order of the table
STANDING = (
    "dominated: another model is significantly better in one criterion and significantly better or of equal value in "
    "the others (the ranks' paired tests). May be dominated: significantly better in one, worse "
    "by value in none, but not every difference is significant."
)


def draw_pareto(view: View) -> None:
    """Draw two criteria of each model, which of them are dominated, and the numbers; a click opens the cases."""
    there = run_reads.objectives(view.run, view.tag)
    shown = {column.key for column in view.columns}
    metrics = [one for key, one in there.items() if key in shown]
    resources = [one for one in there.values() if one.is_resource]
    if not metrics or len(metrics) + len(resources) < 2:
        st.info(
            "A trade-off needs a metric with a better end, and another one or what the answers took: outputs with a "
            "column cost_usd, duration_s or tokens say that."
        )
        return
    ordered = sorted(metrics, key=lambda one: not one.column.primary)
    titles = {one.column.key: metric_title(one.column) for one in (*resources, *ordered)}
    key = filters.pick("Metric in the chart", {one.column.key: titles[one.column.key] for one in ordered}, "key")
    against = filters.pick("Against", {other: title for other, title in titles.items() if other != key}, "against")
    others = {other: title for other, title in titles.items() if other not in (key, against)}
    further = filters.many("Further criteria", others, "also", "None") if others else []
    view.restrict(MOST)
    found = run_reads.pareto_front(view.run, (key, against, *further), view.tag, tuple(view.models))
    if not found.placings:
        st.info("No model has a number of each of these criteria. Choose others in the sidebar.")
        return
    st.text(ranking_words.front_sentence(found))
    up, across = there[key], there[against]
    sign = 1.0 if across.column.direction == "lower" else -1.0
    placings = sorted(
        found.placings, key=lambda one: (list(MARKS).index(_place(one)), sign * across.numbers[one.model].value)
    )
    points = [
        tradeoff.Point(one.model, _span(up, one.model), _span(across, one.model), _place(one), _told(one))
        for one in placings
    ]
    of_across, of_up = (tradeoff.Axis(_axis_title(one), one.column.direction) for one in (across, up))
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        figure = tradeoff.tradeoff_figure(points, view.colours, of_across, of_up, is_dark())
        point = pick(figure, "form-tradeoff", f"{titles[key]} against {titles[against]} of each model")
        st.caption(
            "★ on the Pareto front · ☆ may be dominated · ● dominated, by paired tests. Dotted: the front by value. "
            "Whiskers: 95 %." + (" Places are by all chosen criteria, the chart shows two." if further else "")
        )
        if found.unplaced:
            st.caption(f"Without a number of each criterion: {', '.join(found.unplaced)}.")
    with right:
        clicked = _table(view, points, placings, up, across)
        point = [points[clicked].model] if clicked is not None else point
    if point:
        view.open(point[0], key)


def _table(
    view: View, points: Sequence[tradeoff.Point], placings: Sequence[Placing], up: Objective, across: Objective
) -> int | None:
    short = short_names([*view.models], 14)
    front = header("★", 30, "★ on the Pareto front, ☆ may be dominated, ● dominated")
    value = numeric("Value", 54, help=f"{_axis_title(up)}: {up.column.description}")
    other = numeric(format.shorten(metric_title(across.column), 18), 70, help=_axis_title(across))
    better = [", ".join(short[model] for model in one.dominated_by or one.perhaps_by) for one in placings]
    columns: dict[str, Any] = {
        "front": (front, [MARKS[one.place] for one in points]),
        "model": (header("Model", 92), [short[one.model] for one in points]),
        "value": (value, _texts(up, [one.up.value for one in points])),
        "mean": (other, _texts(across, [one.across.value for one in points])),
        "n": (whole("n", 40, "cases that the value rests on"), [one.up.n for one in points]),
        "by": (header("Dominated by", 90, STANDING), better),
    }
    return draw_columns(columns, f"tradeoff-{up.column.key}-{across.column.key}", tallest=430)


def _texts(one: Objective, values: Sequence[float]) -> list[str]:
    return [dollars(value) for value in values] if one.column.key == "cost_usd" else format.aligned(values)


def _span(one: Objective, model: str) -> tradeoff.Span:
    own, scale = one.numbers[model], SCALES.get(one.column.key, 1.0)
    low, high = (end if end is None else scale * end for end in (own.low, own.high))
    return tradeoff.Span(scale * own.value, low, high, own.n)


def _axis_title(one: Objective) -> str:
    title = metric_title(one.column)
    return f"{title}, {UNITS[one.column.key]}" if one.is_resource else title


def _place(one: Placing) -> str:
    return "dominated" if one.dominated_by else "perhaps" if one.perhaps_by else "front"


def _told(one: Placing) -> str:
    return ranking_words.placing_words(one).removeprefix(f"{one.model} ")
