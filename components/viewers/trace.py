"""A trace: the messages, reasoning and tool calls of an agent, step by step; arguments and results on demand.

Drawn by trace.js, which inserts every text as text.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.viewers.browser_component import draw_in_browser
from metrics.presentation.viewers.trace_steps import payload


def draw(view: Mapping[str, Any], key: str) -> None:
    """Draw a trace; if it cannot be read, the reason and its beginning."""
    if view["problem"]:
        st.text(view["problem"])
        st.code(view["raw"], language=None, wrap_lines=True, height=220)
        return
    draw_in_browser("trace", payload(view), key)
