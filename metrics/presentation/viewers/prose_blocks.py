"""What prose.js draws: texts of people and models, words with marks or their Markdown as elements."""

from collections.abc import Sequence
from typing import Any

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
