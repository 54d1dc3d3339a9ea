"""The metrics that decide which model is chosen, kept with the suite: the headline is then about these."""

import streamlit as st

from components.data.thresholds import mark_decisive
from components.data.visitors import may
from components.widgets.controls import agreed, is_gone
from metrics.analysis import Leaderboard
from metrics.presentation.questions.is_it_better import metric_label

KEY = "decisive-metrics"


def choose_decisive(run: str, board: Leaderboard) -> None:
    """Draw the choice of the metrics that decide, of those with a better end that are shown or chosen already."""
    marked = board.decisive
    offered = {
        column.key: metric_label(column, 60)
        for column in board.columns
        if column.key in marked or (column.direction != "none" and not column.minor)
    }
    st.multiselect(
        "Decisive metrics", list(offered), agreed(KEY, [key for key in marked if key in offered]), offered.__getitem__,
        key=KEY, placeholder="Every main metric counts", on_change=_mark, args=(run,), disabled=not may("editor"),
        width=420, help="The headline then counts wins and losses in these alone. Kept with the suite.",
    )  # fmt: skip


def _mark(run: str) -> None:
    if not is_gone(KEY):
        mark_decisive(run, st.session_state[KEY])
