import streamlit as st

from components.data import preferences, workspace_runs
from components.views.judge import arena_entry, rating_queue
from components.widgets import controls, filters, url
from components.widgets.frame import editors_only, empty, frame

VIEWS = {"compare": "Compare", "judge": "Let the judge compare", "files": "From a file"}
TASKS = ("text", "agent")
QUALITY = "quality"
WHO = (
    "You see two answers to a question, not which models gave them, and say which is better. Your preferences "
    "are stored under your name."
)


def choose_criterion(run: str) -> str:
    """Return what answers are compared by: one of the criteria there are, or the user's own."""
    asked = filters.pick("Criterion", list(dict.fromkeys([QUALITY, *preferences.preference_criteria(run)])), "by")
    return (filters.text("Another criterion", "own").strip() or asked)[: rating_queue.LONGEST]


run = frame("arena", "Which of two answers is better?", of_boards=False)
facts = workspace_runs.run_facts(run)
if facts.suite["task"] not in TASKS or len(facts.models) < 2:
    why = "Choose a run of texts by two or more models in the sidebar."
    empty("Two models' texts are compared here", why, "See the runs", "runs")
    st.stop()
editors_only("compare answers")
view = controls.choice("View", VIEWS, "view")
if view == "judge":
    arena_entry.draw_judging(run, choose_criterion(run))
elif view == "files":
    arena_entry.draw_upload(run)
else:
    criterion = choose_criterion(run)
    if (rater := rating_queue.rater(WHO)) is not None:
        arena_entry.draw_match(run, rater, criterion)
counts = preferences.preference_criteria(run)
if counts and st.button("See the ranking", icon=":material/arrow_forward:", key="ranking"):
    chosen = url.param("by", next(iter(counts)))
    own = counts.get(chosen) or next(iter(counts.values()))
    url.go("leaderboard", run=run, form="matches", source="people" if "people" in own else "judge", by=chosen)
