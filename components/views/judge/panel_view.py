"""How far the judges of a panel, or the draws of one judge, agree with each other."""

import streamlit as st

from components.data import agreements
from components.viewers import blocks
from metrics.presentation.questions.can_the_judge_be_trusted import panel_blocks

ABOUT = "Judges that contradict each other cannot all be right: look at the cases where they differ first."


def show(run: str) -> None:
    """Draw a row an evaluator and pair of judges; a click opens the evaluator's cases, the most disputed first."""
    found = agreements.panel_agreement(run)
    if not found:
        st.info("Fewer than three cases have values of two judges, too few for a figure of their agreement.")
        return
    st.text(ABOUT)
    blocks.draw_blocks(panel_blocks(found), run, "judge_agreement", "panel")
    st.caption("95 % intervals from 1,000 bootstrap samples of the cases. Click a row for its most disputed cases.")
