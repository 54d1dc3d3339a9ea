"""Letting the judge compare answers: what it would cost, how far it is, what came of it."""

import streamlit as st

from components.data import judge_settings, preferences, workspace_runs
from components.views.judge.judge_calls import estimate_lines
from components.widgets import url
from components.widgets.frame import empty
from metrics.presentation import format
from metrics.presentation.preference_words import judged_lines

LEAST, STEP = 10, 10
CASES = "Drawn at random from the run; every two models are compared on each, in both orders. More cases find smaller "
CASES += "differences."


def draw(run: str, criterion: str) -> None:
    """Draw the form, or how far the judge is."""
    state = preferences.judging_state(run)
    if state is not None and state.judged is None and not state.failure:
        st.fragment(_draw_progress, run_every=1.0)(run)
        st.button("Stop", icon=":material/stop:", on_click=preferences.stop_judging, args=(run,))
        st.caption("You can leave this page. What is decided is kept, and asking again continues from there.")
        return
    if state is not None:
        st.text(f"✗ {state.failure}" if state.judged is None else "\n".join(judged_lines(state.judged)))
        if state.judged is not None and state.judged.decided and st.button("See the ranking", type="primary"):
            url.go("leaderboard", run=run, form="matches", source="judge")
    _draw_form(run, criterion)


def _draw_form(run: str, criterion: str) -> None:
    judge = judge_settings.judge_chosen()
    if judge.settings is None:
        empty("No judge set up", "A judge can compare the answers of every two models.", "Set up a judge", "judge")
        return
    size = workspace_runs.run_facts(run).suite["cases"]
    st.text(
        f"{judge.name} compares every two models' answers to a case, in both orders, by: {criterion}. The mean of both "
        "orders counts, so that it does not matter which answer stands first."
    )
    cases = size
    if size > LEAST:
        cases = st.slider("Cases", LEAST, size, min(size, 10 * LEAST), STEP, key="preference-cases", help=CASES)
    found = preferences.preferences_estimate(run, criterion, cases)
    st.text("\n".join(estimate_lines(found)))
    if st.button("Compare the answers", type="primary", icon=":material/play_arrow:", disabled=isinstance(found, str)):
        preferences.start_judging(run, criterion, cases)
        st.rerun()


def _draw_progress(run: str) -> None:
    state = preferences.judging_state(run)
    if state is None or state.judged is not None or state.failure:
        st.rerun()
    of = f": {format.count(state.done)} of {format.plural(state.total, 'match', 'matches')}" if state.total else ""
    st.progress(state.done / max(1, state.total), text=f"Comparing{of}")
