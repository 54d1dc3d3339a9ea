"""A conversation as a chat, with the verdicts on each turn beside it.

Drawn by chat.js, which inserts every text as text.
"""

import json
from collections.abc import Mapping
from typing import Any

from components.viewers.browser_component import browser_component


def draw(view: Mapping[str, Any], key: str) -> None:
    """Draw what metrics.presentation.viewers.chat_turns.chat returned."""
    packed = json.dumps(view, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    browser_component("chat")(key=key, data=packed)
