"""What every page begins with: its title, its question, and the run that it is about."""

import json
import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.websockets import WebSocketDisconnected

from components.data import boards, thresholds, visitors, workspace_runs
from components.data.workspace_runs import RunFacts
from components.viewers.browser_component import browser_component
from components.widgets import tabs, unfinished_run, url, visitor
from components.widgets.controls import agreed, is_gone, place
from components.widgets.literal import literal
from components.widgets.palette import palette
from metrics.presentation import format, run_names
from metrics.presentation.viewers.viewer_files import FADE

FOLDER = Path(__file__).parent
PICKER = 23  # characters that the box of the runs shows
# What Streamlit has no option for: each line of a text goes by its own script, from the right where that does; white on
# the dark theme's primary colour has too little contrast; the page is as wide as the window, and its head is one line.
# What starts a run stands beside the files and the questions, which the page draws one after the other; each file is a
# line, whose controls stand below those of the line above.
# A chosen option that is too long ends in an ellipsis. A table or a text that is larger than its place fades at its
# right or lower edge, as the leaderboard does, until it is scrolled to its end; without an overflow the timeline is
# idle and nothing fades. \3c is "<", with which Streamlit would drop the style.
STYLE = (
    f"<style>\n{FADE}"
    + """\
[data-testid="stText"] * { unicode-bidi: plaintext; }
:is([data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"]):enabled,
:is([data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primaryFormSubmit"]):enabled p,
[data-tag] { color: light-dark(#ffffff, #0d1a1d) !important; }
[data-testid="stMainBlockContainer"] { padding-inline: clamp(1rem, 2.2vw, 2.5rem); }
.st-key-head { flex-wrap: nowrap; }
.st-key-head > * { min-width: 0; flex-shrink: 0; }
.st-key-head > :has([data-testid="stCaptionContainer"]) { flex-shrink: 1; }
@media (max-width: 900px) {
  .st-key-head { flex-wrap: wrap; }
  .st-key-head > :has([data-testid="stCaptionContainer"]) { flex: 1 1 100%; order: 1; }
  .st-key-forest { overflow-x: auto; animation: aside linear both; animation-timeline: scroll(self x); }
  .st-key-forest > * { min-width: 450px; }
}
:is([data-testid="stPageLink"], [data-testid="stCheckbox"]) p { white-space: normal; }
.st-key-head [data-testid="stPopoverButton"] { min-height: 0; padding: 3px 10px; font-size: 12.5px; line-height: 1.5; }
.st-key-drop-empty [data-testid="stFileUploaderDropzone"] { min-height: 9rem; align-items: center;
  justify-content: center; }
.st-key-drop-empty [data-testid="stFileUploaderDropzoneInstructions"] { flex: 0 1 auto; }
@media (min-width: 641px) {
  .st-key-setup { display: grid; grid-template: auto 1fr / minmax(0, 7fr) minmax(0, 3fr); gap: 1rem 2rem; }
  .st-key-setup :not([data-testid="stColumn"], [data-testid="stColumn"] *) { display: contents; }
  .st-key-setup [data-testid="stColumn"]:not([data-testid="stColumn"] *) { width: auto; }
  .st-key-setup [data-testid="stColumn"]:last-child:not([data-testid="stColumn"] *) { grid-area: 1 / 2 / span 2; }
  .st-key-files [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; }
}
[data-testid="stFileUploaderDropzoneInstructions"] span { white-space: normal; }
.st-key-verdicts button { min-height: 40px; }
.st-key-verdicts button p { font-size: 15px; }
button kbd { padding: 1px 5px; border: 1px solid light-dark(#dfe4e9, #2b333c); border-radius: 4px; font-size: 12px;
  color: inherit; }
[data-testid="stButtonGroup"] > [role="radiogroup"] { flex-wrap: wrap; }
:is([data-testid="stSelectbox"], [data-testid="stTextInput"]) input { text-overflow: ellipsis; }
@property --further { syntax: "\\3c length>"; inherits: false; initial-value: 0px; }
@property --below { syntax: "\\3c length>"; inherits: false; initial-value: 0px; }
@keyframes aside { 0%, 99% { mask-image: linear-gradient(90deg, #000 calc(100% - 44px), transparent); }
  100% { mask-image: none; } }
@keyframes further { 0%, 99% { --further: 44px; } 100% { --further: 0px; } }
@keyframes below { 0%, 99% { --below: 26px; } 100% { --below: 0px; } }
.dvn-scroller { animation: further linear both, below linear both; animation-timeline: scroll(self x), scroll(self y);
  background: linear-gradient(90deg, transparent, light-dark(#ffffff, #14181d)) right / var(--further) 100% no-repeat,
    linear-gradient(transparent, light-dark(#ffffff, #14181d)) bottom / 100% var(--below) no-repeat; }
[data-testid="stLayoutWrapper"] > [data-testid="stVerticalBlock"] { animation: fade linear both;
  animation-timeline: scroll(self y); }
</style>"""
)


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a line is worth writing: nothing is wrong where a browser went away while it was written to."""
    return record.exc_info is None or not isinstance(record.exc_info[1], WebSocketDisconnected)


logging.getLogger("uvicorn.error").addFilter(_is_news)


def navigation() -> st.Page:
    """Register the pages, draw the menu and return the page that the address names, to be run.

    It stops with the way to sign in where the visitor may see nothing: no page has run by then.

    The icon is set first and from a file: a Material icon as favicon would be fetched from the network.
    """
    st.session_state["navigated"] = True
    st.set_page_config(page_icon=FOLDER / "icon.svg", layout="wide")
    st.logo(FOLDER / "logo.svg", icon_image=FOLDER / "icon.svg")
    every = [*url.every_page(), *url.former_pages()]
    if why := visitor.refusal():
        st.set_page_config(page_title="Assay", layout="centered")
        st.navigation(every, position="hidden")
        visitor.draw_refusal(why)
        browser_frame(asks=isinstance(why, visitors.SignIn))
        st.stop()
    return st.navigation(every, position="top")


def begin() -> None:
    """Begin a page that reads something before its frame.

    The first page that a fresh server is asked for runs without app.py, as Streamlit takes the folder for pages of its
    own kind. Its widgets would have other ids than in the next run and lose what was chosen in them.
    """
    if "navigated" not in st.session_state:
        navigation()
        st.rerun()


def frame(name: str, question: str, *, needs_run: bool = True, unfinished: bool = False, of_boards: bool = True) -> str:
    """Draw the head of a page of `url.PAGES`, the tabs of its place and, where `needs_run`, the run picker.

    Returns the id of the chosen run, else "".

    The run is `?run=` of the address, else the last one opened, else the newest that is finished. A page that needs a
    run stops here if there is none or it is not finished, with what to do about it. A page that can show an
    `unfinished` run gets the id of what it has scored so far, under a line with its progress. One that is not
    `of_boards` shows the newest run of a board that it is asked for.
    """
    begin()
    title, _ = url.PAGES[name]
    st.set_page_config(page_title=f"{title} · Assay", page_icon=FOLDER / "icon.svg", layout="wide")
    st.html(STYLE + tabs.mark_place(name))
    url.put(group=visitors.group())  # so that a link opens the same workspace
    st.query_params.update()  # Streamlit leaves the browser's address alone where a link opens the page that it is on
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    with head:
        st.title(title, anchor=False, width="content")
        st.caption(question, width="stretch")
        browser_frame(asks=False)
    row = st.container(key="tab-row")
    runs = workspace_runs.runs()
    chosen: str | None = None
    try:
        chosen = _chosen_run(runs, unfinished, of_boards) if needs_run else ""
    finally:  # also where the run is damaged
        run = st.session_state.get("last_run", "") if needs_run and runs else url.param("run", "")
        of = chosen if chosen and boards.is_board(chosen) else run
        with row:
            tabs.draw_tabs(name, run, of)
        with head:
            palette(runs, run if needs_run else "", of)
            toolbar()
            visitor.draw_menu()
    if chosen is None:
        st.stop()  # no sooner: nothing can be drawn after it
    return chosen


def browser_frame(asks: bool) -> None:
    """Keep the Back button and the sidebar right, see frame.js; `asks`: the page asks the visitor to sign in."""
    packed = json.dumps({"scripts": [] if asks else scripts(), "asks": asks}).encode()  # as bytes: see heatmap
    _browser_frame()(key="frame", data=packed, width="content")


@cache
def _browser_frame() -> Any:
    return st.components.v2.component("assay_frame", js=(FOLDER / "frame.js").read_text(encoding="utf-8"))


@cache
def scripts() -> list[str]:
    """Return the files of Streamlit that draw tables, charts and code; it loads each with the first of its kind."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    names = ("DataFrame", "PlotlyChart", "StreamlitSyntaxHighlighter")
    return [path.name for name in names for path in folder.glob(f"{name}.*.js")]


def is_dark() -> bool:
    """Return whether the browser shows the dark theme; light until the browser has reported it."""
    return st.context.theme.type == "dark"


def empty(what: str, why: str, button: str | None = None, page: str = "evaluate", **values: url.Value) -> None:
    """Draw an empty state: what is missing, why, and a button to the page that helps."""
    with st.container(border=True):
        st.subheader(what, anchor=False)
        st.text(why)
        if button and st.button(button, type="primary", key=f"empty-{page}"):
            url.go(page, **values)


def editors_only(what: str) -> None:
    """Stop a page with what it takes where the visitor's role is not enough to do `what` the page is for."""
    if visitors.may("editor"):
        return
    empty("This takes the role editor", f"Your role is viewer: you can read, but not {what}. Ask who runs this studio.")
    st.stop()


def draw_no_run() -> None:
    """Draw what a run is and a button to make the first."""
    what = "A run is one suite and the outputs of your models, scored by the evaluators you choose."
    empty("No run yet", what, "Evaluate a suite" if visitors.may("editor") else None)


def _chosen_run(listed: Sequence[RunFacts], unfinished: bool, of_boards: bool) -> str | None:
    """Draw the run picker and return the chosen run; None where the page has nothing to show, after saying why."""
    runs = {run.id: run for run in listed}
    if not runs:
        draw_no_run()
        return None
    asked = unfinished_run.run_of(url.param("run"))
    board = boards.board_ids(str(asked)) if boards.is_board(asked) else None
    if board is not None:
        asked = board.address if of_boards else board.newest
    if of_boards:
        runs = boards.with_boards(runs, asked)
    if missing := asked not in (None, "latest") and asked not in runs:
        st.error(_not_there(str(asked)))
    finished = [run_id for run_id, run in runs.items() if run.state == "finished" and not boards.is_board(run_id)]
    chosen = next(run_id for run_id in (asked, st.session_state.get("last_run"), *finished, *runs) if run_id in runs)
    labels, full = run_names.labels(runs, PICKER), run_names.labels(runs)[chosen]
    picker = f"run_picker-{runs[chosen].state}"  # a select box goes on showing the label that it showed first
    st.sidebar.selectbox(
        f"Run ({len(listed)})",
        list(runs),
        place(list(runs), agreed(picker, chosen)),
        format_func=labels.__getitem__,
        key=picker,
        on_change=_pick_run,
        args=(picker,),
        help=None if labels[chosen] == full else literal(full),
    )
    run = runs[chosen]
    st.sidebar.caption(f"{format.moment(run.created)} · {run_names.STATES[run.state]}")
    if profile := thresholds.threshold_profiles().in_force:
        st.sidebar.text(f"Thresholds: profile {profile}", help="Set on the page Thresholds, over those of the runs.")
    st.session_state["last_run"] = chosen
    if not missing:  # what is asked for stays in the address, so that the next rerun does not take the error away
        url.put(run=chosen)
    if run.state == "finished":
        if board is not None and chosen == board.address:
            return board.id  # as it is now: it ends in a stamp of its content
        return workspace_runs.open_run(chosen).id
    if unfinished:
        return unfinished_run.draw(run)
    why = "Its numbers appear when every evaluator is done. The overview shows those that are done already."
    empty("This run is not finished", why, "Open the overview", page="leaderboard", run=chosen)
    return None


def _not_there(asked: str) -> str:
    """Return why a run that the address names is not among those that can be opened, as Markdown."""
    named = literal(repr(format.shorten(asked)))
    if why := workspace_runs.damaged_runs().get(asked):
        return f"{literal(why)}. The page Runs offers what can be done; or choose another run in the sidebar."
    if any(run.id == asked for run in workspace_runs.deleted_runs()):
        return f"Run {named} is in the bin. Restore it at the end of the page Runs, or choose another in the sidebar."
    return f"This workspace has no run {named}. Choose one of its runs in the sidebar."


def _pick_run(picker: str) -> None:
    """Open the chosen run: query parameters about the old run's models, metrics and cases are dropped."""
    if is_gone(picker) or st.session_state[picker] == url.param("run"):
        return
    chosen = st.session_state[picker]
    st.query_params.clear()
    st.query_params["run"] = chosen


def toolbar() -> None:
    """Draw *Copy link*."""
    browser_component("toolbar")(key="toolbar", data=b"", width="content")
