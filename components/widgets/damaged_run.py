"""A run that is damaged: what is wrong with it, and what can be done."""

import streamlit as st

from components.data import visitors, workspace_runs
from components.widgets import url
from metrics.core.errors import RunCorrupt

BEGUN = "repairs"  # in the session: the runs whose repair was begun
AGAIN = "Evaluate it again"


def draw_damage(failure: RunCorrupt) -> None:
    """Draw what of a run is damaged, and what can be done."""
    with st.container(border=True):
        st.subheader("✗ This run is damaged", anchor=False)
        st.code(str(failure), language=None, wrap_lines=True)
        st.text("Nothing more of it is shown, so that no other number is taken for what was computed.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if failure.run:
                draw_repair(failure.run)
            url.link("Runs", "runs", icon=":material/arrow_forward:")


def draw_repair(run_id: str) -> None:
    """Draw the button that evaluates a damaged run again, and what comes of it; nothing where that is not possible."""
    if run_id in st.session_state.setdefault(BEGUN, set()):
        st.text(
            "It is being evaluated again, as another run on the page Runs. Tables that come out as they were sealed "
            "replace the damaged ones, and that run goes; else it stays beside this one."
        )
    elif visitors.may("editor") and workspace_runs.can_repair(run_id) and draw_leave(run_id):
        help = "From its suite and outputs; judged cases from the judge's cache."
        st.button(AGAIN, key=f"repair-{run_id}", type="primary", on_click=_begin, args=(run_id,), help=help)


def draw_leave(run_id: str) -> bool:
    """Return whether a stored run may be evaluated; where leave has to be given, draw for what, and ask for it."""
    leave = workspace_runs.leave_for(run_id)
    if not leave.effects:
        return True
    where = "This run was not made here. " if leave.is_foreign else ""
    is_admin = visitors.may("admin")
    if leave.is_foreign or not is_admin:
        st.text(f"{where}Evaluating it {', '.join(leave.effects)}.{'' if is_admin else ' That takes the role admin.'}")
    return is_admin and (not leave.is_foreign or st.checkbox("Let it do so", key=f"leave-{run_id}"))


def _begin(run_id: str) -> None:
    workspace_runs.repair(run_id)
    st.session_state[BEGUN].add(run_id)
