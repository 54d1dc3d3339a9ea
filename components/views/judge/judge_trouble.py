"""A banner where a judge's scores are missing: how many, why, and how to get them."""

from urllib.parse import urlencode

import streamlit as st

from components.data import judge_settings, visitors, workspace_runs
from components.widgets import url
from components.widgets.damaged_run import draw_leave
from components.widgets.unfinished_run import run_of
from metrics.presentation import format

AGAIN = "Retry makes a new run with the same choices. Replies in the cache cost nothing; only what is missing is asked."
RECORDED = "These replies are recorded: the same judge would answer the same. Choose another judge or other settings."


def draw_trouble(run: str) -> None:
    """Draw how many scores of a run's judge are missing and why; nothing where none is, or no judge was asked."""
    trouble = judge_settings.judge_trouble(run)
    if trouble is None:
        return
    scores = format.plural(trouble.asked, "judge score")
    finished = workspace_runs.run_facts(str(run_of(run))).state == "finished"
    recorded = trouble.recorded == trouble.missing
    offers = finished and visitors.may("editor")
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="judge-trouble"):
        st.text(
            f"⚠ {format.count(trouble.missing)} of {scores} {'are missing' if finished else 'are missing so far'}. "
            f"{format.count(trouble.alike)} × {format.shorten(trouble.reason, 300)}"
            + f"\n{RECORDED if recorded else AGAIN}"
            * offers,
            width="stretch",
        )
        if offers and recorded:
            back = urlencode(workspace_runs.asked_of(run), doseq=True)
            url.link("Change the judge", "judge", icon=":material/gavel:", back=back)
        elif offers and draw_leave(run) and st.button("Retry", type="primary", icon=":material/replay:"):
            url.go("leaderboard", run=workspace_runs.repeat_run(run))
