import streamlit as st

from components import data
from components.charts.figure_parts import selected
from components.views.results import slice_tables
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame, is_dark
from components.widgets.tables import records
from metrics.presentation import format

CHART = {"displayModeBar": False}
HEIGHT = 400  # pixels of the bars


def see(row: dict, measure: dict) -> None:
    """Open the cases of a slice: those that have a value, which is what n counts."""
    own = {"metric": measure["metric"], "status": "ok"} if row["of"] == "cases" else {}
    url.go(
        "cases", run=run, evaluator=measure["evaluator"], model=row["slice"]["model"], slice=row["address"], **own
    )  # fmt: skip


def pick_bar() -> None:
    point = selected(st.session_state["slices"])
    if point:
        st.session_state["picked_slice"] = point[-1]


def show_found(found: dict, measure: dict) -> None:
    """The found slices, the strongest first, each with its cases."""
    if not found["slices"]:
        st.text(slice_tables.could_find(found))
    for place, row in enumerate(found["slices"]):
        told, way = st.columns([5, 1], vertical_alignment="center")
        told.text(row["sentence"])
        label = f"See the {format.plural(row['cases'], 'case')}"
        if way.button(label, key=f"found-{place}", type="secondary" if place else "primary", width="stretch"):
            see(row, measure)
    st.caption(slice_tables.method(found))


def show_feature(known: dict, model: str, measure: dict) -> None:
    """One feature: a bar a slice against the value of all, and the numbers."""
    ways = known["features"]
    name = controls.choice("Feature", {name: way["title"] for name, way in ways.items()}, "feature")
    rows = ways[name]["slices"]
    declared = data.catalogue().get(measure["evaluator"], {}).get("metrics", [])
    own = next((metric for metric in declared if metric["name"] == measure["metric"]), {"low": 0.0, "high": 1.0})
    bounded = abs(own["low"]) != float("inf") and abs(own["high"]) != float("inf")
    figure = slice_tables.slices_figure(
        rows, known["overall"], ways[name]["title"], is_dark(), (own["low"], own["high"]) if bounded else None, HEIGHT
    )  # fmt: skip
    left, right = st.columns([9, 11], gap="medium")
    with left, st.container(height=HEIGHT + 40 if figure.layout.height > HEIGHT + 40 else "content", border=False):
        st.plotly_chart(
            figure, key="slices", config=CHART, on_select=pick_bar, selection_mode="points",
            alt=f"{measure['title']} of {model} by {ways[name]['title']}, the value of all as a dotted line",
        )  # fmt: skip
    with right:
        clicked = records(
            slice_tables.table(rows), slice_tables.table_columns(ways[name]["title"], known["noun"]), f"by-{name}", 400
        )
        st.caption("Dotted: the value of all. Click a bar or a row to see its cases.")
    picked = st.session_state.pop("picked_slice", None)
    row = next((row for row in rows if row["address"] == picked), None)
    if clicked is not None:
        row = rows[clicked]
    if row is not None:
        see(row, measure)


run = frame("Slices", "Where is the model worse than elsewhere?")
measures = data.slice_measures(run)
if not measures:
    empty(
        "Nothing to slice",
        "Slices compare values of single cases, and no metric of this run has any with a better end. Evaluate the "
        "suite with an evaluator that scores each case.",
        "Evaluate a suite",
    )  # fmt: skip
    st.stop()
models = data.run_facts(run)["models"]
model = filters.one("Model", {name: name for name in models}, "model", every=None)
key = filters.one("Metric", {name: measure["title"] for name, measure in measures.items()}, "key", every=None)
measure = measures[str(key)]
by_topic = data.has_topics(run) and filters.toggle("Topics of the questions", "topics")
with st.spinner("Embedding the questions" if by_topic else "Searching the slices"):
    known = data.slice_values(run, model, measure["evaluator"], measure["metric"], by_topic)
    found = (
        {}
        if isinstance(known, str)
        else data.found_slices(run, model, measure["evaluator"], measure["metric"], by_topic)
    )
if isinstance(known, str):
    empty("This model has no such values", f"{known}. Choose another model or metric in the sidebar.")
    st.stop()
if not known["features"]:
    empty(
        "The cases have nothing to be told apart by",
        "Slices come from tags, metadata columns, classes, and the lengths and numbers of questions, answers and "
        "contexts. Add a tags column or any other column to the suite's file and evaluate again.",
        "Evaluate a suite",
    )  # fmt: skip
    st.stop()
st.subheader(slice_tables.answer(found), anchor=False)
st.text(
    slice_tables.overall_line(known["overall"], str(model), measure, known["unscored"]), help=measure["description"]
)
show_found(found, measure)
show_feature(known, str(model), measure)
