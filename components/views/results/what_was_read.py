"""What became of each part of the files: beside their preview, and on a run's leaderboard."""

from __future__ import annotations

import streamlit as st

from components.data import run_reads
from components.viewers import blocks
from metrics.core.receipt import WORDS, Receipt, by_file, short_lines

KEY = "what-was-read"


def draw_receipt(receipt: Receipt) -> None:
    """Draw the receipt of uploads: a line for each that is not used whole, and folded every part."""
    if not receipt:
        return
    files = {file for file, lines in by_file(receipt).items() if any(line.use != "used" for line in lines)}
    for line in short_lines(line for line in receipt if line.file.partition("/")[0] in files):
        st.text(line)
    with st.expander("What became of each part"):
        st.dataframe(
            [
                {"file": line.file, "part": line.place, "what became of it": WORDS[line.use],
                 "as what, or why": line.meaning, "count": line.count, "such as": line.example}
                for line in receipt
            ],
            hide_index=True,
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
