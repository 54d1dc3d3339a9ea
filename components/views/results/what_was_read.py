"""What became of each part of the files: beside their preview, and on a run's leaderboard."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.data import run_reads
from components.viewers import blocks
from components.widgets import column_mapping
from metrics.core.receipt import WORDS, Receipt, short_lines
from metrics.presentation.format import count

KEY = "what-was-read"


def draw_receipt(receipt: Receipt, tokens: Mapping[str, str], folded: DeltaGenerator) -> None:
    """Draw what was decided about uploads; where it is folded a line for each, and what became of every part.

    tokens: of the uploads, by their names.
    """
    if not receipt:
        return
    column_mapping.draw_decided(receipt, tokens)
    with folded:
        st.text("What became of each part")
        for line in short_lines(receipt):
            st.text(line)
        st.dataframe(
            [
                {"file": line.file, "part": line.place, "what became of it": WORDS[line.use],
                 "as what, or why": line.meaning,
                 "count": "" if line.count is None else count(line.count), "such as": line.example}
                for line in receipt
            ],
            hide_index=True,
            column_config={"as what, or why": st.column_config.TextColumn(width="large")},
        )  # fmt: skip


def draw_read(run: str, here: str) -> None:
    """Draw the same of a finished run, folded."""
    folded = st.expander("What was read of the files", key=KEY, on_change="rerun")
    if folded.open:
        with folded:
            found = run_reads.what_was_read(run)
            blocks.draw_blocks(found, run, here, KEY)
            if not found:
                st.text("This run was made from a sample, from stored inputs, or by a version that kept no receipt.")
