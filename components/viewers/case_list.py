"""Cases as links, walked over by keyboard: as rows with answer, score and reason, or as a table cases × models."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.viewers.browser_component import draw_in_browser
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.viewer_files import WITH_CASES


def case_list(rows: Sequence[dict[str, Any]], key: str) -> None:
    """Draw the rows; a click or Enter opens a case."""
    draw_in_browser("case_list", {"cases": list(rows)}, key, colour_css(), WITH_CASES)


def case_table(payload: Mapping[str, Any], key: str) -> None:
    """Draw what metrics.presentation.viewers.case_cells returned; a click or Enter opens a case with its model."""
    draw_in_browser("case_table", payload, key, colour_css(), WITH_CASES)
