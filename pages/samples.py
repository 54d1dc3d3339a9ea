import streamlit as st

from components.data import visitors, workspace_runs
from components.widgets import url
from components.widgets.frame import frame

frame("samples", "What does an evaluation of my kind of data look like?", needs_run=False)
st.text("Each opens as a run of yours; one that is new here is computed first.")
computed = {run.sample: run.id for run in workspace_runs.runs() if run.state == "finished"}
for name, title, line in workspace_runs.sample_lines():
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        with st.container(gap="xxsmall"):
            st.markdown(f"**{title}**")
            st.text(line)
        if (name in computed or visitors.may("editor")) and st.button("Open", key=f"open-{name}"):
            url.go("leaderboard", run=computed.get(name) or workspace_runs.open_sample(name))
