import math
from typing import Any

import streamlit as st

from components.charts import interval_bars
from components.data import found_slices, run_reads
from components.viewers import blocks
from components.views.results import about_run
from components.widgets import controls, filters
from components.widgets.chart import chart
from components.widgets.frame import empty, frame, is_dark
from components.widgets.literal import literal
from metrics.analysis.corrected_tests import of_searches
from metrics.analysis.slices.slice_outcomes import Measure
from metrics.analysis.slices.slice_values import SliceTable
from metrics.presentation.questions import where_is_it_worse

HEIGHT = 400  # pixels of the bars


def pick_bar(point: list[Any]) -> None:
    st.session_state["picked_slice"] = point[-1]


def show_feature(known: SliceTable, model: str, measure: Measure) -> None:
    """Draw one feature: a bar per slice against the overall value, and the numbers."""
    features = {feature.name: feature for feature in known.features}
    name = controls.choice("Feature", {name: literal(feature.title) for name, feature in features.items()}, "feature")
    rows, title = features[name].slices, features[name].title
    low, high = measure.ends
    bounds = (low, high) if math.isfinite(high - low) else None
    figure = interval_bars.slices_figure(rows, known.overall, title, is_dark(), bounds, HEIGHT)
    left, right = st.columns([9, 11], gap="medium")
    with left, st.container(height=HEIGHT + 40 if figure.layout.height > HEIGHT + 40 else "content", border=False):
        chart(figure, "slices", f"{measure.title} of {model} by {title}, the overall value as a dotted line", pick_bar)
    with right:
        table = where_is_it_worse.feature_table(known, title, rows, measure)
        blocks.draw_table(table, run, "slices", 400, f"by-{name}")
        st.caption(f"Dotted: overall value. Click a bar or a row to see its cases. Pooled: {where_is_it_worse.POOLED}.")
    picked = st.session_state.pop("picked_slice", None)
    for row, link in zip(rows, table.links, strict=True):
        if row.slice.address == picked:
            blocks.follow(link, run, "slices")


run = frame("slices", "Where is the model worse than on the rest?")
measures = found_slices.slice_measures(run)
if not measures:
    empty(
        "Nothing to slice",
        "Slices compare values per case, and no metric of this run has such values and a better end. Evaluate the "
        "suite with an evaluator that scores each case.",
        "Evaluate a suite",
    )
    st.stop()
models = run_reads.headline(run).models
model = filters.pick("Model", models, "model")
measure = measures[filters.pick("Metric", {name: measure.title for name, measure in measures.items()}, "key")]
others = [one for one in models if one != model]
baseline = filters.one("Against", others, "against", "No other model") if measure.of == "cases" else None
by_topic = found_slices.has_topics(run) and filters.toggle("Topics of the questions", "topics")
with st.spinner("Embedding the questions" if by_topic else "Searching the slices"):
    asked = (run, model, measure.evaluator, measure.metric, by_topic, baseline)
    known = found_slices.slice_values(*asked)
    found = None
    if not isinstance(known, str):
        found = found_slices.found_slices(*asked)
if isinstance(known, str) or found is None:
    empty("This model has no such values", f"{known}. Choose another model or metric in the sidebar.")
    st.stop()
if not known.features:
    empty(
        "The cases have no features to slice by",
        "Slices come from tags, metadata columns, classes, and the lengths and numbers of questions, answers and "
        "contexts. Add a tags column or any other column to the suite's file and evaluate again.",
        "Evaluate a suite",
    )
    st.stop()
if (of_all := found_slices.answer_of_report(run)) is not None:
    st.subheader(literal(of_all.sentences[0].text), anchor=False)
    blocks.draw_blocks(of_all.blocks[1:], run, "slices", "of-all")
answer, more = where_is_it_worse.search_blocks(found)
st.subheader(literal(answer.text), anchor=False)
st.text(where_is_it_worse.overall_line(known, model, found.measure), help=measure.description)
blocks.draw_blocks(more, run, "slices", "found")
show_feature(known, model, found.measure)
about_run.draw_tests(run, of_searches([found]))
