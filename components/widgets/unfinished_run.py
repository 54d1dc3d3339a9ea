"""An unfinished run at the head of a page: how far it is, Cancel or Resume; what is new is drawn by itself."""

import time

import streamlit as st

from components.data import visitors, workspace_runs
from components.data.workspace_runs import RunFacts, SoFar
from components.widgets import run_progress, url
from components.widgets.damaged_run import draw_leave
from metrics.core.errors import RunError
from metrics.presentation import format
from metrics.presentation.run_names import GOING, STATES

LONGEST_REASON = 400  # characters of why a run failed
EVERY = 1  # seconds between two looks at a run
REFUSED = "refused"  # in the session: why the last action on a run was not possible
DRAWN = "drawn_so_far"  # in the session: the id of the snapshot that the page reads


def run_of(run_id: str | None) -> str | None:
    """Return the id of the run where a link names what it had scored at one moment, as pages of unfinished runs do."""
    return None if run_id is None else run_id.partition("@")[0]


def draw(run: RunFacts) -> str | None:
    """Draw the run's progress; return the id by which to read its numbers so far, None while there are none.

    The page runs again when there are more numbers, and when the run ends.
    """
    now = workspace_runs.so_far(run.id)
    draw_refused()
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(head_line(run, now), width="stretch")
            stop_button(run)
            url.link("Runs", "runs", icon=":material/arrow_forward:", run=run.id)
        follow(run, now)
        if stopped := workspace_runs.failure(run.id):
            st.text(f"✗ {format.shorten(stopped, LONGEST_REASON)}")
            st.text("Everything so far is kept: Continue computes and asks only what is missing.")
        if now.board is None:
            st.text("No case is scored yet." if run.state in GOING else "No case was scored before it stopped.")
    st.session_state[DRAWN] = now.board
    return now.board


def was_overtaken() -> bool:
    """Return whether the numbers that the page reads were removed while it was drawn: its run went on, or ended."""
    board = st.session_state.pop(DRAWN, None)  # so that a page is drawn again once for what it drew
    return board is not None and not workspace_runs.is_there(board)


def follow(run: RunFacts, now: SoFar | None = None) -> None:
    """Draw how far a run is, again and again while it is being worked on; rerun the page when its state changes.

    With what it had scored `now` the page is also run again when there is more; without, each evaluator has a bar.
    """
    watched = st.fragment(_follow, run_every=EVERY if run.state in GOING else None)
    watched(run.id, run.state, run.cancelling, now, time.monotonic())


def _follow(run_id: str, state: str, cancelling: bool, now: SoFar | None, drawn: float) -> None:
    # No button here: one that opens another page from a fragment leaves callbacks behind that find no widget there.
    run = workspace_runs.run_facts(run_id)
    if (run.state, run.cancelling) != (state, cancelling):
        st.rerun()
    just_drawn = time.monotonic() - drawn < EVERY / 2
    if now is not None and not just_drawn and workspace_runs.so_far(run_id).board != now.board:
        st.rerun()
    found = workspace_runs.progress(run_id)
    if now is None:
        run_progress.bars(found)
        return
    text = run_progress.summary(found.progress, going=run.state in GOING)
    st.progress(run_progress.share(found.progress.evaluators), text=text)


def head_line(run: RunFacts, now: SoFar) -> str:
    """Return `… running · unfinished: 2 of 5 evaluators done`."""
    return f"{state_words(run)} · unfinished: {now.done} of {format.plural(now.evaluators, 'evaluator')} done"


def state_words(run: RunFacts) -> str:
    """Return the state of a run, with its sign."""
    return "… cancelling" if run.cancelling else STATES[run.state]


def stop_button(run: RunFacts) -> None:
    """Draw the button that cancels a run, or resumes a stopped one."""
    if not visitors.may("editor"):
        return
    if run.state in GOING:
        st.button(
            "Cancel", key=f"cancel-{run.id}", on_click=act, args=(run.id, "cancel"), icon=":material/stop_circle:",
            disabled=run.cancelling, help="What it has computed is kept, and Resume continues from there.",
        )  # fmt: skip
    elif draw_leave(run.id):
        label = "Continue" if run.state == "failed" else "Resume"
        st.button(
            label, key=f"resume-{run.id}", on_click=act, args=(run.id, "resume"), icon=":material/play_circle:",
            type="primary",
        )  # fmt: skip


def act(run_id: str, what: str) -> None:
    """Cancel, resume, delete or restore a run; where that is not possible, `draw_refused` says why."""
    does = {
        "cancel": workspace_runs.cancel,
        "resume": workspace_runs.resume,
        "delete": workspace_runs.delete_run,
        "restore": workspace_runs.restore_run,
    }
    try:
        does[what](run_id)
    except RunError as failure:
        st.session_state[REFUSED] = str(failure)


def draw_refused() -> None:
    """Draw why the last action was not possible, once."""
    if REFUSED in st.session_state:
        st.error(st.session_state.pop(REFUSED))
