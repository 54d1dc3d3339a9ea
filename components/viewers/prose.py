"""Texts of people and models, drawn by prose.js: words with marks, or their Markdown as elements.

Every text is inserted as text, and no element of a rendered text can load or lead anywhere.
"""

import json
from collections.abc import Sequence
from typing import Any

from components.viewers.browser_component import browser_component
from metrics.presentation.markdown_tree import Node
from metrics.presentation.marked_text import Part
from metrics.presentation.palette import MARKS

TINTS = "".join(
    f".{name} {{ --tint: {MARKS[kind].colour}; }}"
    for name, kind in {"yes": "tp", "added": "tp", "no": "fp", "removed": "fp", "unknown": "ignored"}.items()
)


def block(content: Sequence[Part] | Sequence[Node], title: str = "", rendered: bool = False) -> dict[str, Any]:
    """Return a text to draw: its parts, or where `rendered` the elements of its Markdown; and its title."""
    return {"title": title, "tree" if rendered else "parts": list(content)}


def draw(blocks: Sequence[dict[str, Any]], key: str, height: int = 420) -> None:
    """Draw texts below each other in a box that scrolls beyond `height` pixels."""
    packed = json.dumps({"blocks": blocks, "height": height}, ensure_ascii=False, separators=(",", ":"))
    browser_component("prose", TINTS)(key=key, data=packed.encode("utf-8", "replace"))
