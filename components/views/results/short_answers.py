"""What the other questions about a run answer, a sentence each, with a button to the page of each."""

import streamlit as st

from components.data import run_reads
from components.viewers import blocks

KEY = "short-answers"


def draw_answers(run: str, here: str) -> None:
    """Draw the answers, folded: some take seconds, and the first page of a visit must not wait for them."""
    folded = st.expander("Other answers about this run", key=KEY, on_change="rerun")
    if not folded.open:
        return
    with folded:
        sentences = run_reads.short_answers(run)
        for place, sentence in enumerate(sentences):
            blocks.draw_sentence(sentence, run, here, f"{KEY}-{place}")
        if not sentences:
            st.text("Nothing else is answered without being asked: see the pages.")
