from __future__ import annotations

import streamlit as st

from components.data import preferences, visitors, workspace_runs
from components.views.judge import arena_entry, preference_judge, preference_upload
from components.views.judge.label_entry import LONGEST
from components.widgets import controls, filters, url
from components.widgets.frame import editors_only, empty, frame

VIEWS = {"compare": "Compare", "judge": "Let the judge compare", "files": "Files and sets"}
TASKS = ("text", "agent")
QUALITY = "quality"


def choose_criterion(run: str) -> str:
    """Return what answers are compared by: one of the criteria there are, or the user's own."""
    asked = filters.pick("Criterion", list(dict.fromkeys([QUALITY, *preferences.preference_criteria(run)])), "by")
    return (filters.text("Another criterion", "own").strip() or asked)[:LONGEST]


def ask_name() -> None:
    """Ask for the person's name: preferences are stored by person, so nothing is shown before."""
    with st.container(border=True):
        st.subheader("Who are you?", anchor=False)
        st.text(
            "You see two answers to a question, not which models gave them, and say which is better. Your preferences "
            "are stored under your name."
        )
        with st.form("name", border=False):
            name = st.text_input("Your name", max_chars=LONGEST, key="rater-name")
            if st.form_submit_button("Begin", type="primary") and name.strip():
                url.put(rater=name.strip())
                st.rerun()


def compare(run: str, criterion: str) -> None:
    """Draw the next pair for whoever compares."""
    rater = visitors.own_name()
    if not rater:
        if not url.param("rater", "").strip():
            ask_name()
            return
        rater = filters.text("Your name", "rater").strip()
    arena_entry.draw(run, rater[:LONGEST], criterion)


run = frame("Arena", "Which of two answers is better?")
facts = workspace_runs.run_facts(run)
if facts.suite["task"] not in TASKS or len(facts.models) < 2:
    empty(
        "Two models' texts are compared here",
        "Choose a run of texts by two or more models in the sidebar.",
        "See the runs",
        "runs",
    )
    st.stop()
editors_only("compare answers")
view = controls.choice("View", VIEWS, "view")
if view == "judge":
    preference_judge.draw(run, choose_criterion(run))
elif view == "files":
    preference_upload.draw(run)
else:
    compare(run, choose_criterion(run))
counts = preferences.preference_criteria(run)
if counts and st.button("See the ranking", icon=":material/arrow_forward:", key="ranking"):
    chosen = url.param("by", next(iter(counts)))
    own = counts.get(chosen) or next(iter(counts.values()))
    url.go("leaderboard", run=run, form="matches", source="people" if "people" in own else "judge", by=chosen)
