"""Charts in a page, whose points can be clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.charts.figure_parts import selected

if TYPE_CHECKING:
    import plotly.graph_objects as go


def chart(figure: go.Figure, key: str, alt: str, clicked: Callable[[list[Any]], None] | None = None) -> None:
    """Draw a figure without its tool bar; `clicked` gets the customdata of a clicked point before the next script run.

    `alt` describes the chart to readers who do not see it.
    """

    def hand_on() -> None:
        point = selected(st.session_state[key])
        if clicked and point:
            clicked(point)

    st.plotly_chart(
        figure, key=key, config={"displayModeBar": False}, on_select=hand_on if clicked else "ignore",
        selection_mode="points", alt=alt,
    )  # fmt: skip
