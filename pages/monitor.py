import streamlit as st

from components import data
from components.charts.figure_parts import selected
from components.charts.passing import passing_figure
from components.views.curves.curve_parts import CHART
from components.views.results import monitor_tables
from components.widgets import filters, url
from components.widgets.controls import choice
from components.widgets.frame import frame, is_dark
from components.widgets.tables import records
from metrics.presentation import format

REFRESH_SECONDS = 5
TABLE_HEIGHT = 250
VIEWS = {"failures": "Latest failures", "drift": "Drift", "changes": "Changes of status", "bad": "Bad lines"}


def teach() -> None:
    """What to do where nothing is monitored."""
    with st.container(border=True):
        st.subheader("Nothing is monitored yet", anchor=False)
        st.text(
            "A monitor reads what production answers, one JSON object a line, judges a share of it with the evaluators "
            "you choose, and says when it gets worse. Start one on the command line; it appears here while it runs."
        )
        st.code(monitor_tables.COMMAND, language="bash")
        st.text("A line:")
        st.code(monitor_tables.LINE, language="json")
        st.text(
            "Stop it as you like: the same command on the same file goes on where it stood, and counts no line twice."
        )
        url.link("Which evaluators are there?", "catalogue", icon=":material/menu_book:")


def pick() -> None:
    point = selected(st.session_state["passing"])
    if point:
        url.put(window=int(point[0]), view=None)


def chosen_window() -> int | None:
    """Return the window whose failures are asked for."""
    asked = url.param("window", "")
    return int(asked) if asked.isdecimal() and len(asked) < 19 else None


@st.fragment(run_every=REFRESH_SECONDS)
def follow(name: str, version: str) -> None:
    """While a process feeds the monitor: show its next commit when it is there."""
    if data.monitor_version(name) != version:
        st.rerun()
    st.caption("Being fed now; this page follows.")


def show_failures(name: str, version: str) -> None:
    number = chosen_window()
    rows = data.monitor_failures(name, number, version)
    of = "in this window" if number is not None else "the newest first"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{format.plural(len(rows), 'failure')}, {of}. Texts are the first 200 characters, without secrets.")
        if number is not None and st.button("Of all windows"):
            url.put(window=None)
            st.rerun()
    if len(rows):
        st.dataframe(
            monitor_tables.failures_table(rows), column_order=list(monitor_tables.failures_columns()), hide_index=True,
            column_config=monitor_tables.failures_columns(), key="failures", height=TABLE_HEIGHT,
        )  # fmt: skip


def show_drift(name: str, version: str, facts: dict) -> None:
    reference = facts["reference"]
    if reference is None:
        st.text("Without a reference there is nothing to drift from: name a finished run of the same evaluators.")
        st.code(f"python -m metrics monitor FILE --name {name} --reference RUN", language="bash")
        return
    with st.spinner("Comparing with the reference run"):
        rows = data.monitor_drift(name, version)
    drifted = sum(row["drifted"] for row in rows)
    st.text(
        f"{drifted} of {format.plural(len(rows), 'metric')} drifted: scores of the last {facts['window']} against "
        f"{reference['model']} in run {reference['run']}."
    )
    st.dataframe(
        monitor_tables.drift_table(rows, facts["evaluators"]), column_config=monitor_tables.drift_columns(), hide_index=True,
        key="drift", height="content" if len(rows) < 7 else TABLE_HEIGHT,
    )  # fmt: skip


def show_changes(facts: dict) -> None:
    for failure in dict.fromkeys(facts["hook_failures"][-3:]):
        st.text(f"✗ {format.shorten(failure, 200)}")
    table = monitor_tables.changes_table(facts["changes"])
    headers = {
        "when": "Noticed", "status": "Status", "previous": "Before", "sampled": "Sampled until then",
        "told": st.column_config.Column("Alert hook", help="The command of --on-alert is called once for each change."),
    }  # fmt: skip
    st.dataframe(table, column_config=headers, hide_index=True, key="changes")


def show_bad(facts: dict) -> None:
    st.text(f"{format.plural(facts['bad'], 'bad line')}; the latest {len(facts['bad_lines'])} are listed.")
    headers = {"file": "File", "row": "Line", "column": "Field", "found": "Found", "expected": "Expected"}
    st.dataframe(monitor_tables.bad_table(facts["bad_lines"]), column_config=headers, hide_index=True, key="bad-lines")


frame("Monitor", "Does what production answers still pass?", needs_run=False)
every = {
    found["name"]: f"{found['name']} ({monitor_tables.status_words(found['health'])})" for found in data.monitors()
}
if not every:
    teach()
    st.stop()
name = filters.one("Monitor", every, "monitor", every=None) or next(iter(every))
version, facts = data.monitor_version(name), data.monitored(name)
st.sidebar.caption(
    f"{', '.join(facts['evaluators'].values())}"
    + (f", judged by {facts['judge']}" if facts["judge"] else "")
    + (f". Last commit {format.moment(facts['updated'])}" if facts["updated"] else "")
)
st.subheader(monitor_tables.headline(facts), anchor=False, help=monitor_tables.rule(facts))
for place, (label, number, help) in zip(st.columns(5), monitor_tables.counts(facts), strict=True):
    place.text(f"{label}: {number}", help=help)
if facts["running"]:
    follow(name, version)
if not facts["standings"]:
    st.text("No line has been judged yet: none was sampled, or none could be used.")
    if facts["bad"]:
        show_bad(facts)
    st.stop()

named = {f"{standing['evaluator']}.{standing['metric']}": standing for standing in facts["standings"]}
asked = url.param("metric", ".")
shown = named.get(str(asked), facts["standings"][0])
left, right = st.columns((5, 6), gap="medium")
with left:
    windows = data.monitor_trend(name, shown["evaluator"], shown["metric"], version)
    st.text(f"{monitor_tables.standing_name(shown)}, each {facts['window']}", help=monitor_tables.meaning(shown))
    st.plotly_chart(
        passing_figure(
            windows, facts["warning"], facts["critical"], chosen_window(), is_dark(), 240
        ),
        key="passing", config=CHART, on_select=pick, selection_mode="points",
        alt=f"Pass rate of {monitor_tables.standing_name(shown)} over {format.plural(len(windows), 'window')}",
    )  # fmt: skip
with right:
    table = monitor_tables.standings_table(facts["standings"])
    clicked = records(table, monitor_tables.standings_columns(), f"standings-{asked}", tallest=TABLE_HEIGHT)
    if clicked is not None:
        url.put(metric=list(named)[clicked])
        st.rerun()
    st.caption("Click a row to see its pass rate over time, a window to see its failures.")

view = choice("View", VIEWS, "view")
if view == "failures":
    show_failures(name, version)
elif view == "drift":
    show_drift(name, version, facts)
elif view == "changes":
    show_changes(facts)
else:
    show_bad(facts)
