"""A conversation as a chat, with the verdicts on each turn beside it.

Drawn by chat.js, which inserts every text as text.
"""

from collections.abc import Mapping
from typing import Any

from components.viewers.browser_component import draw_in_browser


def draw(view: Mapping[str, Any], key: str) -> None:
    """Draw what metrics.presentation.viewers.chat_turns.chat returned."""
    draw_in_browser("chat", view, key)
