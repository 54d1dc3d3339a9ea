"""Cases as rows that link to their examples: id, answer, score bar and reason, walked over by keyboard."""

import json
from collections.abc import Sequence
from typing import Any

from components.viewers.browser_component import browser_component
from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.viewer_files import WITH_CASES


def case_list(rows: Sequence[dict[str, Any]], key: str) -> None:
    """Draw the rows; a click or Enter opens a case."""
    packed = json.dumps({"cases": list(rows)}, separators=(",", ":")).encode()
    browser_component("case_list", colour_css(), WITH_CASES)(key=key, data=packed)
