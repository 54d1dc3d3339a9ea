"""What the studio is and what to do first: shown on the start page until the user has a run or puts it away."""

import streamlit as st

from components.data import workspace_runs
from components.widgets import url

DISMISSED = "welcome-dismissed"
WHAT = "Assay scores your models' outputs against a test suite, and shows which model is better and why each one fails."


def draw_welcome(run: str) -> None:
    """Draw one sentence, the sample's description and the first two things to do, while every run is a sample."""
    about = workspace_runs.sample_description(run)
    if about is None or st.session_state.get(DISMISSED) or any(one.sample is None for one in workspace_runs.runs()):
        return
    with st.container(border=True, gap="xsmall"):
        st.text(f"{WHAT}\nThis is a bundled sample. {about}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text("Click a cell to see its worst cases, or:", width="content")
            if st.button("Drop two files: a suite and outputs", icon=":material/upload_file:"):
                url.go("evaluate")
            if st.button("Hide this", type="tertiary"):
                st.session_state[DISMISSED] = True
                st.rerun()
