from __future__ import annotations

import pandas as pd
import streamlit as st

from components import data
from components.views.judge import judge_calls
from components.views.results import run_archive
from components.widgets import run_progress, url
from components.widgets.frame import RUN_STATES, draw_no_run, frame
from components.widgets.tables import header, records
from metrics.presentation import format

GOING = ("queued", "running")
JUDGE_DOWN = "JudgeDown"  # how the failure of a run begins whose judge does not answer

frame("Runs", "What is being computed, and what is finished?", needs_run=False)


def act(run_id: str, what: str) -> None:
    """Cancel or resume a run; one that has finished or been resumed meanwhile says so."""
    try:
        if what == "cancel":
            data.cancel(run_id)
        else:
            data.resume(run_id)
    except data.RunError as failure:
        st.session_state["refused"] = str(failure)


@st.fragment(run_every=1)
def going(run_ids: list[str]) -> None:
    """Draw the progress of running runs; rerun the page when one of them ends."""
    for run_id in run_ids:
        facts = data.run_facts(run_id)
        if facts.state not in GOING:
            st.rerun()
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(
                    f"{facts.name} · {facts.suite['name']} · {format.plural(len(facts.models), 'model')}",
                    width="stretch",
                )
                st.button(
                    "Cancel",
                    key=f"cancel-{run_id}",
                    on_click=act,
                    args=(run_id, "cancel"),
                    icon=":material/stop_circle:",
                )
            run_progress.bars(data.progress(run_id))


def stopped(run: data.RunFacts) -> None:
    """Draw a run that can be resumed."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            now = data.progress(run.id)
            st.text(
                f"{RUN_STATES[run.state]} · {run.name} · {run_progress.summary(now.progress, going=False)}",
                width="stretch",
            )
            st.button(
                "Resume",
                key=f"resume-{run.id}",
                on_click=act,
                args=(run.id, "resume"),
                icon=":material/play_circle:",
            )
        if spent := judge_calls.spend_line(now.judges, now.spend, now.budget):
            st.text(spent)
        failure = data.failure(run.id)
        if failure and failure.startswith(JUDGE_DOWN):
            st.text("The judge does not answer. Its replies so far are kept: Resume asks only for the missing ones.")
        if failure:
            st.code(failure, language=None, wrap_lines=True, height=120 if len(failure) > 300 else "content")
        else:
            st.text("What it has computed is kept; Resume continues from there.")


runs = data.runs()
if not runs:
    draw_no_run()
    run_archive.draw_import()
    st.stop()
if "refused" in st.session_state:
    st.error(st.session_state.pop("refused"))
asked = url.param("run")
runs.sort(key=lambda run: run.id != asked)
running = [run.id for run in runs if run.state in GOING]
halted = [run for run in runs if run.state not in (*GOING, "finished")]
finished = [run for run in runs if run.state == "finished"]
chosen = next((run.id for run in finished if run.id == asked), finished[0].id if finished else None)

with st.container(horizontal=True, vertical_alignment="center"):
    if chosen and st.button("Open the leaderboard", type="primary", icon=":material/arrow_forward:"):
        url.go("leaderboard", run=chosen)
    if st.button("Evaluate a suite", type="secondary" if chosen else "primary"):
        url.go("evaluate")
    if chosen:
        run_archive.draw_button(chosen)
    st.text(f"{len(running)} running · {len(halted)} stopped · {len(finished)} finished")
if running:
    going(running)
for run in halted[:5]:
    stopped(run)
if len(halted) > 5:
    st.caption(f"{len(halted) - 5} more stopped runs are in the table.")

table = pd.DataFrame(
    [
        {
            "id": run.id, "name": run.name, "state": RUN_STATES[run.state],
            "created": format.moment(run.created),
            "suite": run.suite["name"], "task": run.suite["task"], "cases": run.suite["cases"],
            "models": len(run.models), "evaluators": len(run.evaluators),
        }
        for run in sorted(runs, key=lambda run: run.id, reverse=True)
    ]
)  # fmt: skip
clicked = records(
    table,
    {
        "name": header("Run", 190), "state": "State", "created": "Created", "task": "Task",
        "cases": "Cases", "models": "Models", "evaluators": "Evaluators", "id": "Id",
    },
    key="runs",
)  # fmt: skip
if clicked is not None:
    url.go("leaderboard", run=str(table["id"].iloc[clicked]))
run_archive.draw_import()
