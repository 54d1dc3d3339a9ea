"""Cases as links, walked over by keyboard: as rows with answer, score and reason, or as a table cases × models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.viewers.browser_component import browser_component
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.viewer_files import WITH_CASES


def case_list(rows: Sequence[dict[str, Any]], key: str) -> None:
    """Draw the rows; a click or Enter opens a case."""
    _draw("case_list", {"cases": list(rows)}, colour_css(), key)


def case_table(payload: Mapping[str, Any], key: str) -> None:
    """Draw what metrics.presentation.viewers.case_cells returned; a click or Enter opens a case with its model."""
    _draw("case_table", payload, colour_css(), key)


def _draw(name: str, payload: Mapping[str, Any], css: str, key: str) -> None:
    packed = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    browser_component(name, css, WITH_CASES)(key=key, data=packed)
