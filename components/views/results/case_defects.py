"""Defects of single cases: a list of files that are not intact and answers too short to compare."""

import pandas as pd
import streamlit as st

from components.viewers import blocks
from components.widgets import filters
from metrics.presentation.questions.what_is_broken import answer, defects_table


def show_defects(run: str, found: pd.DataFrame) -> None:
    """Draw the defects; a click opens the case, or the first of several."""
    if found.empty:
        st.info(
            "No broken file and no empty answer was found. Agent sanity checks files; evaluators that compare by "
            "embeddings report answers without a sentence."
        )
        return
    models = filters.many("Models", list(found["model"].unique()), "model")
    filters.reset(["model"])
    shown = found[found["model"].isin(models)] if models else found
    st.text(answer(shown))
    blocks.draw_table(defects_table(shown), run, "problems", 430, "defects")
    st.caption("Click a defect to see its case.")
