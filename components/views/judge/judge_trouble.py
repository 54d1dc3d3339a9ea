"""A banner where a judge's scores are missing: how many, why, and how to get them."""

import streamlit as st

from components.data import judge_settings, visitors, workspace_runs
from components.widgets import url
from components.widgets.unfinished_run import run_of
from metrics.presentation import format

HELP = (
    "Opens the same evaluation again: recorded replies cost nothing, only the missing ones are asked. Replies that "
    "could not be read are recorded, too: another judge or other settings ask again."
)


def draw_trouble(run: str) -> None:
    """Draw how many scores of a run's judge are missing and why; nothing where none is, or no judge was asked."""
    trouble = judge_settings.judge_trouble(run)
    if trouble is None:
        return
    scores = format.plural(trouble.asked, "judge score")
    finished = workspace_runs.run_facts(str(run_of(run))).state == "finished"
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="judge-trouble"):
        st.text(
            f"⚠ {format.count(trouble.missing)} of {scores} {'are missing' if finished else 'are missing so far'}. "
            f"{format.count(trouble.alike)} × {format.shorten(trouble.reason, 300)}",
            width="stretch",
        )
        if not finished or not visitors.may("editor"):
            return
        if trouble.unreadable == trouble.missing:
            url.link("Change the judge", "judge", icon=":material/gavel:")
        elif st.button("Retry", icon=":material/replay:", help=HELP):
            url.go("evaluate", **workspace_runs.asked_of(run))
