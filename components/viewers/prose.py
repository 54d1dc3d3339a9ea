"""Texts of people and models, drawn by prose.js: words with marks, or their Markdown as elements.

Every text is inserted as text, and no element of a rendered text can load or lead anywhere.
"""

from collections.abc import Sequence
from typing import Any

from components.viewers.browser_component import draw_in_browser
from metrics.presentation.viewers.prose_blocks import TINTS


def draw(blocks: Sequence[dict[str, Any]], key: str, height: int = 420) -> None:
    """Draw texts below each other in a box that scrolls beyond `height` pixels."""
    draw_in_browser("prose", {"blocks": blocks, "height": height}, key, TINTS)
