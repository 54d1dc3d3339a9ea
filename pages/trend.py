from collections import Counter

import streamlit as st

from components.charts.trend_lines import trend_figure
from components.data import boards, run_reads
from components.views.curves import curve_parts
from components.views.results import about_run, metric_trend, model_comparison
from components.widgets import drilldown_filters, filters, url
from components.widgets.chart import chart
from components.widgets.frame import empty, frame, is_dark
from components.widgets.literal import literal
from metrics.analysis import Column, Leaderboard, Stop
from metrics.analysis.corrected_tests import of_trend
from metrics.presentation import format
from metrics.presentation.questions.is_it_better import CORRECTIONS, metric_label

TABLE_HEIGHT = 260


def choose_column(found: list[Leaderboard]) -> Column | None:
    """Return the metric to follow: by default the first that is not minor and in several runs."""
    columns = {column.key: column for board in found for column in board.columns}
    runs = Counter(column.key for board in found for column in board.columns)
    ordered = sorted(columns.values(), key=lambda column: (runs[column.key] < 2, column.minor))
    if not ordered:
        return None
    return columns[filters.pick("Metric", {column.key: metric_label(column, 60) for column in ordered}, "key")]


def show_stop(stop: Stop, column: Column, tag: str | None) -> None:
    """Draw one number, how it changed, and links to what is behind it."""
    with st.container(border=True):
        st.text(f"{stop.model} · {format.shorten(stop.name, 40)}, {format.moment(stop.created)}")
        st.text(metric_trend.value_facts(stop, column))
        if stop.before:
            st.text(metric_trend.change_facts(stop))
        if stop.settings:
            st.text(f"Evaluated with {', '.join(stop.settings)}, which alone can make a change.")
        with st.container(horizontal=True):
            run, model = stop.run, stop.model
            page, where = drilldown_filters.place(run, column, model, tag)
            label = "See its objects" if page == "gallery" else "See its cases"
            if st.button(label, type="primary", icon=":material/arrow_forward:"):
                url.go(page, **where)
            if st.button("Overview of this run"):
                url.go("leaderboard", run=run, tag=tag)
            if stop.before and stop.change and st.button("Compare with the run before"):
                url.go("compare", run=stop.before, other=run, a=model, b=model, key=column.key, tag=tag)


run = frame("trend", "Is it getting better from run to run?")
runs = {name: one for name, one in boards.same_suite(run).items() if not boards.is_board(name)}
if len(runs) < 2:
    empty(
        "This suite has been evaluated once",
        "A trend needs two runs of one suite: evaluate the next version of your model on the suite as it is stored, "
        "and its numbers stand beside these.",
        "Evaluate this suite again",
        **{"from": "stored", "suite": next(iter(runs.values())).suite["fingerprint"]},
    )
    st.stop()
leaderboards = [run_reads.leaderboard(name) for name in sorted(runs)]  # an id begins with its time
column = choose_column(leaderboards)
if column is None:
    st.info("No run of this suite has a number. The page Runs says why.")
    st.stop()
models = list(dict.fromkeys(model for board in [run_reads.leaderboard(run), *leaderboards] for model in board.models))
wanted = filters.many("Models", models, "model")
tag = filters.one("Tag", leaderboards[-1].tags, "tag")
correction = filters.pick("Correction for many tests", CORRECTIONS, "correction")
filters.reset(["model", "tag", "correction"])

shown = wanted or models[: curve_parts.LINES]
with st.spinner("Comparing each run with the one before it"):
    found = run_reads.trend(tuple(sorted(runs)), column.key, tuple(shown), tag, correction)
stops = found.stops
if not stops:
    st.info("None of these models has this number in any run. Choose another metric or another model in the sidebar.")
    st.stop()
points = {(stop.run, stop.model): stop for stop in stops}
focus = points.get((url.param("at", ""), url.param("of", ""))) or stops[-1]
st.subheader(literal(metric_trend.answer(stops)), anchor=False, help=model_comparison.metric_help(column))
left, right = st.columns(curve_parts.COLUMNS, gap="medium")
with left:
    chart(
        trend_figure(stops, found.column, curve_parts.colours_of(models), is_dark(), chosen=(focus.run, focus.model)),
        "trend",
        f"{metric_label(column, 60)} of {', '.join(found.models)} over {len(runs)} runs",
        lambda point: url.put(at=point[0], of=point[1]),
    )
with right:
    show_stop(focus, found.column, tag)
    st.caption("◆ significant change since the run before, ○ not. Click a point or a row to see what is behind it.")
    st.caption(metric_trend.method(found))
newest = stops[::-1]
# a key of its own for each choice: else the row clicked before would undo a click in the chart
clicked = metric_trend.draw_stops(newest, correction, f"stops-{focus.run}-{focus.model}", TABLE_HEIGHT)
if clicked is not None:
    url.put(at=newest[clicked].run, of=newest[clicked].model)
    st.rerun()
about_run.draw_tests(run, of_trend(found))
