"""The image viewer: an image with true positives, false positives and missed objects, the models side by side.

Drawn by image_viewer.js, because Streamlit remounts plotly charts, losing the zoom, whenever a slider moves.
Every kind of object is one path, so that 500 objects stay smooth; kinds differ in colour and in dash. It draws what
was compared: boxes, polygons, or masks as translucent surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.viewers.browser_component import draw_in_browser
from metrics.presentation.palette import mark

if TYPE_CHECKING:
    from components.data.pictures import Detail


def viewer(data: Mapping[str, Any], detail: Detail | None = None) -> None:
    """Draw the payload: zoom with buttons, the wheel after a click, or Ctrl and the wheel; drag to move.

    With `detail` the browser asks for the full resolution when it is zoomed into more than the first picture shows.
    """
    if detail is not None:
        asked = st.session_state.get("viewer", {}).get("sharp") == data["key"]
        data = {**data, "sent": detail.sent, "tiles": detail.tiles() if asked else None}
    draw_in_browser("image_viewer", data, "viewer", sends=("sharp",))


def legend_html() -> str:
    """Return the legend as HTML: a sample of each line, in its colour and dash, with its glyph."""
    samples = []
    for kind in ("tp", "fp", "fp_misclassification", "fn", "annotation"):
        style = mark(kind)
        box = f"display:inline-block;width:1.5em;height:.8em;border:2px {style.line} {style.colour};margin-right:.35em"
        samples.append(
            f'<span style="white-space:nowrap"><span style="{box}"></span>{style.title} {style.glyph}</span>'
        )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:.85em">{"".join(samples)}</div>'
