import streamlit as st

from components.charts.passing import passing_figure
from components.data import monitors, visitors
from components.views.results import monitor_view
from components.widgets import url
from components.widgets.chart import chart
from components.widgets.controls import choice
from components.widgets.frame import frame, is_dark
from components.widgets.tables import records
from metrics.presentation import format
from metrics.presentation.monitor_words import plain_words

REFRESH_SECONDS = 5
TABLE_HEIGHT = 250
VIEWS = {"failures": "Latest failures", "drift": "Drift", "changes": "Changes of status", "bad": "Bad lines"}


def teach() -> None:
    """Draw how to start a monitor."""
    with st.container(border=True):
        st.subheader("Nothing is monitored yet", anchor=False)
        st.text(
            "A monitor reads production logs, one JSON object per line, judges a share of them with the evaluators "
            "you choose, and reports when quality drops. Start one on the command line; it appears here at once."
        )
        st.code(monitor_view.COMMAND, language=None)
        st.text("A line:")
        st.code(monitor_view.LINE, language=None)
        st.text("You can stop it at any time: the same command on the same file continues, and counts no line twice.")
        if visitors.may("editor") and st.button(
            "Try it on a week of the sample's answers", type="primary", icon=":material/play_circle:"
        ):
            with st.spinner("Judging 560 answers, about five seconds"):
                demo = monitors.start_demo()
            url.put(monitor=demo)
            st.rerun()
        url.link("Which evaluators are there?", "evaluators", icon=":material/menu_book:")


def limit(label: str, name: str, own: float, most: float = 1.0) -> float:
    """Draw a pass rate below which the status changes, beginning with the monitor's own; return it."""
    value = st.sidebar.number_input(
        label, 0.0, most, url.number(name, own, 0.0, most), 0.05, "%.2f", key=f"limit-{name}",
        help=f"Pass rate. The monitor's own is {own:g}, by which it calls its alert hook; another one only changes "
        "what this page shows.",
    )  # fmt: skip
    url.put(**{name: value if value != own else None})
    return value


def chosen_window() -> int | None:
    """Return the window whose failures are to be shown."""
    asked = url.param("window", "")
    return int(asked) if asked.isdecimal() and len(asked) < 19 else None


@st.fragment(run_every=REFRESH_SECONDS)
def follow(name: str, version: str) -> None:
    """Rerun the page when the process that feeds the monitor commits again."""
    if monitors.monitor_version(name) != version:
        st.rerun()
    st.caption("Running; this page updates itself.")


def show_failures(name: str, version: str, facts: monitors.Monitored) -> None:
    window = chosen_window()
    rows = monitors.monitor_failures(name, window, version)
    total = monitors.monitor_failure_count(name, window, version)
    listed = f"; the latest {len(rows)} are listed" if len(rows) < total else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        of = " in this window" if window is not None else ""
        st.text(f"{format.plural(total, 'failure')}{of}{listed}. Click a row to open it.")
        if window is not None and st.button("All windows"):
            url.put(window=None, sample=None)
            st.rerun()
    if not len(rows):
        return
    table = monitor_view.failures_table(rows, facts.evaluators)
    if (clicked := records(table, monitor_view.failures_columns(), "failures", tallest=TABLE_HEIGHT)) is not None:
        url.put(sample=int(table["number"].iloc[clicked]))
    opened = table[table["number"] == url.number("sample", -1)]
    if len(opened):
        with st.container(border=True):
            row = opened.iloc[0]
            monitor_view.draw_failure(row, monitors.monitor_sample_scores(name, int(row["number"]), version), facts)


def show_drift(name: str, version: str, facts: monitors.Monitored) -> None:
    reference = facts.state.reference
    if reference is None:
        st.text("Drift needs a reference: name a finished run of the same evaluators.")
        st.code(f"python -m metrics monitor FILE --name {name} --reference RUN", language=None)
        return
    with st.spinner("Comparing with the reference run"):
        rows = monitors.monitor_drift(name, version)
    drifted = sum(row.drifted for row in rows)
    st.text(
        f"{drifted} of {format.plural(len(rows), 'metric')} drifted from {reference['model']} in run "
        f"{reference['run']}. Means, KS and PSI describe the last {facts.window}."
    )
    monitor_view.draw_drift(rows, facts.evaluators, TABLE_HEIGHT)


def show_bad(facts: monitors.Monitored) -> None:
    if not facts.state.bad:
        st.text("No bad lines: every line read so far could be used.")
        return
    st.text(f"{format.plural(facts.state.bad, 'bad line')}; the latest {len(facts.state.bad_lines)} are listed.")
    headers = {"file": "File", "row": "Line", "column": "Field", "found": "Found", "expected": "Expected"}
    table = monitor_view.bad_table(facts.state.bad_lines)
    st.dataframe(table, column_config=headers, hide_index=True, key="bad-lines", placeholder="")


frame("monitor", "Do production answers still pass?", needs_run=False)
every = {name: f"{name} ({monitor_view.status_words(health)})" for name, health in monitors.monitors().items()}
if not every:
    teach()
    st.stop()
with st.container(horizontal=True, vertical_alignment="center"):
    name = choice("Monitor", every, "monitor", clears=("metric", "window", "sample"))
    plain = st.toggle("Plain thresholds too", url.flag("plain"), help=monitor_view.PLAIN)
version, facts = monitors.monitor_version(name), monitors.monitored(name)
warning = limit("Warning below", "warning", facts.warning)
critical = limit("Critical below", "critical", min(facts.critical, warning), warning)
facts = monitors.monitored(name, warning, critical)
url.put(plain="1" if plain else None)
st.sidebar.caption(
    f"{', '.join(facts.evaluators.values())}"
    + (f", judged by {facts.judge}" if facts.judge else "")
    + (f". Updated {format.moment(facts.state.updated)}" if facts.state.updated else "")
)
st.subheader(monitor_view.headline(facts), anchor=False, help=monitor_view.rule(facts))
if facts.metrics:
    st.text(monitor_view.why(facts), help=monitor_view.evidence(facts, facts.metrics[0]))
if plain:
    st.text(plain_words(monitors.plain_metrics(name, warning, critical, version)), help=monitor_view.PLAIN)
with st.container(horizontal=True, gap="medium"):
    for label, number, help in monitor_view.counts(facts):
        st.text(f"{label}: {number}", help=help, width="content")
if facts.running:
    follow(name, version)
if not facts.metrics:
    st.text("No line has been judged yet: none was sampled, or none could be used.")
    if facts.state.bad:
        show_bad(facts)
    st.stop()

named = {f"{shown.standing.evaluator}.{shown.standing.metric}": shown for shown in facts.metrics}
asked = url.param("metric", ".")
shown = named.get(str(asked), facts.metrics[0])
left, right = st.columns((4, 7), gap="medium")
with left:
    windows = monitors.monitor_trend(
        name, shown.standing.evaluator, shown.standing.metric, facts.warning, facts.critical, version
    )
    st.text(
        f"{monitor_view.metric_name(shown)}, each {facts.window}; band: current pass rate",
        help=f"{monitor_view.meaning(shown)}\n\n{monitor_view.evidence(facts, shown)}",
    )
    chart(
        passing_figure(windows, facts.warning, facts.critical, chosen_window(), is_dark()),
        "passing",
        f"Pass rate of {monitor_view.metric_name(shown)} over {format.plural(len(windows), 'window')}",
        lambda point: url.put(window=int(point[0]), view=None, sample=None),
    )
with right:
    clicked = monitor_view.draw_standings(facts.metrics, f"standings-{asked}", TABLE_HEIGHT)
    if clicked is not None:
        url.put(metric=list(named)[clicked])
        st.rerun()
    st.caption("Click a row to see its pass rate over time, a window to see its failures.")
    for note in monitor_view.notes(facts):
        st.text(note)

view = choice("View", VIEWS, "view")
if view == "failures":
    show_failures(name, version, facts)
elif view == "drift":
    show_drift(name, version, facts)
elif view == "changes":
    for failure in dict.fromkeys(facts.state.hook_failures[-3:]):
        st.text(f"✗ {format.shorten(failure, 200)}")
    monitor_view.draw_changes(facts.state.changes)
else:
    show_bad(facts)
