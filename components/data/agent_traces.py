"""Traces and conversations for the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from metrics.presentation.verdict_rows import VerdictGroup


@st.cache_data(max_entries=64, show_spinner=False)
def trace(text: str, expected: str | None = None, groups: Sequence[VerdictGroup] = ()) -> dict[str, Any]:
    """Return a trace to draw, see metrics.presentation.viewers.trace_view."""
    from metrics.presentation.viewers.trace_view import trace_view

    return trace_view(text, expected, groups)
