"""Everything that is wrong with uploaded files: equal problems as one line, the worst first, each one in a download."""

from collections.abc import Sequence

import streamlit as st

from components.data import uploaded_files
from components.widgets.controls import download
from metrics.core.errors import InputProblem
from metrics.core.input_problems import count_words, grouped
from metrics.presentation import format

SHOWN = 8  # groups


def draw_problems(problems: Sequence[InputProblem], name: str) -> None:
    """Draw the problems in groups; `name` distinguishes several lists of a page."""
    groups = grouped(problems)
    with st.container(border=True, gap="small"):
        for group in groups[:SHOWN]:
            st.text(f"✗ {group.place}\nFound {group.found}.\nExpected {group.expected}.")
        if len(groups) > SHOWN:
            st.text(f"… and {format.plural(len(groups) - SHOWN, 'more kind')} of problems, all of them in the list.")
        if len(problems) > 1:
            download(
                f"Download all {format.count(len(problems))} rows", lambda: uploaded_files.problems_csv(problems),
                "problems.csv", f"problems-{name}", mime="text/csv", type="tertiary",
            )  # fmt: skip


words = count_words  # of how many problems there are, for the pages
