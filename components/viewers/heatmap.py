"""The leaderboard's heatmap: models × metrics, coloured by goodness, every number with its interval and n.

An HTML table, not `st.dataframe`: that is a canvas without hover texts per cell or a reading order, and takes seconds
to style. All text goes through `textContent` (see heatmap.js).
"""

from typing import Any, NamedTuple

from components.viewers.browser_component import draw_in_browser, text_of, texts_of
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.viewer_files import WITH_CASES


class Asked(NamedTuple):
    """What was just asked for on the board: a sort (a column's key or NAME), columns (keys), how much a cell shows."""

    sort: str | None
    columns: list[str] | None
    cells: str | None


def heatmap(data: dict[str, Any], key: str = "heatmap") -> Asked:
    """Draw the payload and return what was just asked for. A click on a cell puts `cell` and `of` into the address."""
    drawn = draw_in_browser("heatmap", data, key, colour_css(), WITH_CASES, Asked._fields)
    return Asked(text_of(drawn.get("sort")), texts_of(drawn.get("columns")), text_of(drawn.get("cells")))
