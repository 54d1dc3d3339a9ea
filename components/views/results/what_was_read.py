"""What became of each part of the files: beside their preview, and on a run's leaderboard."""

from collections.abc import Mapping

import streamlit as st

from components.data import run_reads
from components.viewers import blocks
from components.widgets import column_mapping
from metrics.core.file_kinds import upload_of
from metrics.core.receipt import WORDS, Receipt, by_file, short_lines
from metrics.presentation.format import count

KEY = "what-was-read"


def draw_receipt(receipt: Receipt, tokens: Mapping[str, str]) -> None:
    """Draw the receipt of uploads: a line for each that is not used whole, what was decided, and folded every part.

    tokens: of the uploads, by their names.
    """
    if not receipt:
        return
    files = {file for file, lines in by_file(receipt).items() if any(line.use != "used" for line in lines)}
    for line in short_lines(line for line in receipt if upload_of(line.file) in files):
        st.text(line)
    column_mapping.draw_decided(receipt, tokens)
    with st.expander("What became of each part"):
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
