"""The parts of the studio that are drawn in the browser by a script of their own."""

from functools import cache
from typing import Any

import streamlit as st

from metrics.presentation.viewers.viewer_files import viewer_parts


@cache
def browser_component(name: str, css: str = "", shared: tuple[str, ...] = ()) -> Any:
    """Return the component made of a viewer's files (see metrics.presentation.viewers.viewer_files.viewer_parts)."""
    html, style, script = viewer_parts(name, css, shared)
    return st.components.v2.component(f"assay_{name}", html=html, css=style, js=script)
