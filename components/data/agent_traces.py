"""Traces for the pages."""

from typing import Any

import streamlit as st


@st.cache_data(max_entries=64, show_spinner=False)
def trace(text: str) -> dict[str, Any]:
    """Return a trace to draw, see metrics.presentation.viewers.trace_view."""
    from metrics.presentation.viewers.trace_view import trace_view

    return trace_view(text)
