from __future__ import annotations

import math
from typing import Any

import streamlit as st

from components import data
from components.views.results import slice_tables, what_was_tested
from components.widgets import controls, filters, url
from components.widgets.chart import chart
from components.widgets.frame import empty, frame, is_dark
from components.widgets.literal import literal
from components.widgets.tables import records
from metrics.presentation import format

HEIGHT = 400  # pixels of the bars


def see(row: data.SliceValue, measure: data.Measure) -> None:
    """Open the cases of a slice that have a value, which is what n counts."""
    own = {"metric": measure.metric, "status": "ok"} if row.slice.of == "cases" else {}
    url.go(
        "cases", run=run, evaluator=measure.evaluator, model=row.slice.model, slice=row.slice.address, **own
    )  # fmt: skip


def pick_bar(point: list[Any]) -> None:
    st.session_state["picked_slice"] = point[-1]


def show_found(found: data.SliceSearch, measure: data.Measure) -> None:
    """Draw the found slices, strongest first, each with a button to its cases."""
    if not found.slices:
        st.text(slice_tables.detectable_line(found))
    for place, row in enumerate(found.slices):
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.text(row.sentence)
        label = f"See the {format.plural(row.value.cases, 'case')}"
        if button.button(label, key=f"found-{place}", type="secondary" if place else "primary", width="stretch"):
            see(row.value, measure)
    st.caption(slice_tables.method(found, data.SLICE_LEVEL))


def show_feature(known: data.SliceTable, model: str, measure: data.Measure) -> None:
    """Draw one feature: a bar per slice against the overall value, and the numbers."""
    features = {feature.name: feature for feature in known.features}
    name = controls.choice("Feature", {name: literal(feature.title) for name, feature in features.items()}, "feature")
    rows, title = features[name].slices, features[name].title
    low, high = measure.ends
    bounds = (low, high) if math.isfinite(high - low) else None
    figure = slice_tables.slices_figure(rows, known.overall, title, is_dark(), bounds, HEIGHT)
    left, right = st.columns([9, 11], gap="medium")
    with left, st.container(height=HEIGHT + 40 if figure.layout.height > HEIGHT + 40 else "content", border=False):
        alt = f"{measure.title} of {model} by {title}, the overall value as a dotted line"
        chart(figure, "slices", alt, pick_bar)
    with right:
        columns = slice_tables.table_columns(title, known.noun, known.overall.interval)
        clicked = records(slice_tables.table(rows), columns, f"by-{name}", 400)
        st.caption("Dotted: overall value. Click a bar or a row to see its cases.")
    picked = st.session_state.pop("picked_slice", None)
    row = next((row for row in rows if row.slice.address == picked), None)
    if clicked is not None:
        row = rows[clicked]
    if row is not None:
        see(row, measure)


run = frame("Slices", "Where is the model worse than on the rest?")
measures = data.slice_measures(run)
if not measures:
    empty(
        "Nothing to slice",
        "Slices compare values per case, and no metric of this run has such values and a better end. Evaluate the "
        "suite with an evaluator that scores each case.",
        "Evaluate a suite",
    )  # fmt: skip
    st.stop()
models = data.run_facts(run).models
model = filters.pick("Model", models, "model")
key = filters.pick("Metric", {name: measure.title for name, measure in measures.items()}, "key")
measure = measures[key]
by_topic = data.has_topics(run) and filters.toggle("Topics of the questions", "topics")
with st.spinner("Embedding the questions" if by_topic else "Searching the slices"):
    known = data.slice_values(run, model, measure.evaluator, measure.metric, by_topic)
    found = None
    if not isinstance(known, str):
        found = data.found_slices(run, model, measure.evaluator, measure.metric, by_topic)
if isinstance(known, str) or found is None:
    empty("This model has no such values", f"{known}. Choose another model or metric in the sidebar.")
    st.stop()
if not known.features:
    empty(
        "The cases have no features to slice by",
        "Slices come from tags, metadata columns, classes, and the lengths and numbers of questions, answers and "
        "contexts. Add a tags column or any other column to the suite's file and evaluate again.",
        "Evaluate a suite",
    )  # fmt: skip
    st.stop()
st.subheader(slice_tables.answer(found), anchor=False)
st.text(slice_tables.overall_line(known.overall, model, measure, known.unscored), help=measure.description)
show_found(found, measure)
show_feature(known, model, measure)
what_was_tested.draw(run, data.of_searches([found]))
