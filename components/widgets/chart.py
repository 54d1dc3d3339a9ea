"""Charts in a page, whose points can be clicked, and which can be downloaded as pictures."""

import re
from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from components.charts.figure_parts import Figure, selected
from components.widgets.frame import is_dark
from metrics.presentation.palette import INK, MUTED

MARGIN = 8  # pixels beside and below the data
BUTTON_ROOM = 30  # pixels above the data, so that the button covers none
SHARPNESS = 2  # pixels of the picture a pixel of the screen
LONGEST_NAME = 80


def chart(figure: Figure, key: str, alt: str, clicked: Callable[[list[Any]], None] | None = None) -> None:
    """Draw a figure; `clicked` gets the customdata of a clicked point before the next script run.

    `alt` describes the chart to readers who do not see it.
    """

    def hand_on() -> None:
        point = selected(st.session_state[key])
        if clicked and point:
            clicked(point)

    draw(figure, key, alt, hand_on if clicked else "ignore")


def pick(figure: Figure, key: str, alt: str) -> list[Any] | None:
    """Draw a figure; return the customdata of the point just clicked."""
    return selected(draw(figure, key, alt, "rerun"))


def draw(figure: Figure, key: str, alt: str, on_select: Callable[[], None] | Literal["ignore", "rerun"]) -> Any:
    """Draw a figure with one button, that downloads it as a PNG named after `alt`; return what was selected.

    What a figure leaves open is the same in all: narrow margins, no dragging, a legend only where it has a place.
    """
    layout, dark = figure.layout, is_dark()
    figure.update_layout(
        margin={side: MARGIN if layout.margin[side] is None else layout.margin[side] for side in "lrb"},
        margin_t=max(BUTTON_ROOM, layout.margin.t or 0),
        hovermode="closest",
        dragmode=layout.dragmode or False,
        showlegend=layout.showlegend if layout.legend.orientation else False,
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": MUTED[dark], "activecolor": INK[dark]},
    )
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):  # Streamlit's own grey is too pale on white
        axis.tickfont.color = axis.tickfont.color or MUTED[dark]
        axis.title.font.color = axis.title.font.color or MUTED[dark]
    config = {
        "displayModeBar": True, "displaylogo": False, "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "png", "scale": SHARPNESS, "filename": file_name(alt)},
        "locale": "en-US",
        "locales": {"en-US": {"dictionary": {"Download plot as a PNG": "Download picture"}}},
    }  # fmt: skip
    return st.plotly_chart(figure, key=key, config=config, on_select=on_select, selection_mode="points", alt=alt)


def file_name(alt: str) -> str:
    """Return a file's name, without ending, from the words of a description: letters and digits of any script."""
    return "-".join(re.findall(r"\w+", alt.lower()))[:LONGEST_NAME].strip("-_") or "chart"
