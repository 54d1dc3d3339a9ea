"""The first minute: waiting for the first sample, then a tour of four steps beside it, until the user puts it away."""

import streamlit as st

from components.data import run_reads, workspace_runs
from components.widgets import run_progress, url
from metrics.analysis import Column
from metrics.presentation.run_names import GOING

STEP = "tour-step"  # in the session: 0 … 3; past the last step the tour is over
STEPS = {  # title: text
    "The board": "One row a model, one column a metric. A cell has the value with its 95 % interval; colour says how "
    "good it is, a dark corner marks the best or tied for best.",
    "A cell": "Click a cell: a drawer lists the cases behind the number, the worst first.",
    "A case": "A case has the question, the contexts and each model's answer, with the evidence for every score.",
    "Share it, or bring your own files": "The report is a PDF for whoever decides. An evaluation of your own needs "
    "test cases and what your models answered.",
}


def wait_for_sample() -> None:
    """Draw how far the first sample is, and a way to one's own files; rerun the page when it is done."""
    with st.container(border=True):
        st.subheader("A sample evaluation is being computed", anchor=False)
        st.text("Its leaderboard opens here by itself when it is done.")
        _follow_samples()
        if st.button("Evaluate your own files meanwhile", type="primary"):
            url.go("evaluate")


@st.fragment(run_every=1)
def _follow_samples() -> None:
    # No button here: the timer of the fragment that it is in goes on while the other page runs for the first time, and
    # its request, which names this page, empties that one.
    if not workspace_runs.waits_for_sample():
        st.rerun()
    for run in workspace_runs.runs():
        if run.state in GOING:
            now = workspace_runs.progress(run.id).progress
            st.progress(run_progress.share(now.evaluators), text=run_progress.summary(now))


def draw_welcome(run: str) -> None:
    """Draw a step of the tour above a bundled sample, while every run is a sample and the tour is not over."""
    about = workspace_runs.sample_description(run)
    step = st.session_state.get(STEP, 0)
    if about is None or step >= len(STEPS) or any(one.sample is None for one in workspace_runs.runs()):
        return
    title, text = list(STEPS.items())[step]
    with st.container(border=True, gap="xsmall"):
        if not step:
            st.text(f"This is a bundled sample. {about}")
        st.markdown(f"**{step + 1} of {len(STEPS)} · {title}**")
        st.text(text)
        with st.container(horizontal=True):
            if step < len(STEPS) - 1 and st.button("Next", type="primary"):
                _go_to(step + 1)
            _draw_action(run, step)
            if step and st.button("Back"):
                _go_to(step - 1)
            if st.button("Skip the tour" if step < len(STEPS) - 1 else "End the tour", type="tertiary"):
                _go_to(len(STEPS))


def _draw_action(run: str, step: int) -> None:
    if step == 1 and st.button("Open the worst cell"):
        model, column = _worst_cell(run)
        url.put(cell=column.key, of=model)
        st.rerun()
    if step == 2 and st.button("Open a case"):
        model, column = _worst_cell(run)
        about = {"evaluator": column.evaluator, "metric": column.metric, "model": model}
        cases = run_reads.worst_cases(run, column.evaluator, column.metric, model, None).rows
        url.go("case", run=run, case=cases["case_id"].iloc[0], **about)
    if step == 3:
        if st.button("See the report"):
            url.go("report", run=run)
        if st.button("Evaluate your own files"):
            url.go("evaluate")
        if st.button("More samples"):
            url.go("samples")


def _worst_cell(run: str) -> tuple[str, Column]:
    """Return the model and the primary metric of the worst value."""
    board = run_reads.leaderboard(run)
    columns = {column.key: column for column in board.columns if column.primary}
    good = {place: cell.goodness for place, cell in board.cells.items() if place[1] in columns}
    model, key = min(good, key=lambda place: 2.0 if (share := good[place]) is None else share)
    return model, columns[key]


def _go_to(step: int) -> None:
    st.session_state[STEP] = step
    st.rerun()
