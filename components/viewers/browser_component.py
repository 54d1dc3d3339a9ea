"""The parts of the studio that are drawn in the browser by a script of their own."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st

from metrics.presentation.viewers.viewer_files import viewer_parts


@cache
def browser_component(name: str, css: str = "", shared: tuple[str, ...] = ()) -> Any:
    """Return the component made of a viewer's files (see metrics.presentation.viewers.viewer_files.viewer_parts)."""
    html, style, script = viewer_parts(name, css, shared)
    return st.components.v2.component(f"assay_{name}", html=html, css=style, js=script)


def draw_in_browser(
    name: str, data: Mapping[str, Any], key: str, css: str = "", shared: tuple[str, ...] = (), **options: Any
) -> Any:
    """Draw the data by a viewer's script; `options` are those of the component, whose state is returned."""
    # as bytes: Streamlit looks into dicts for data frames
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return browser_component(name, css, shared)(key=key, data=packed, **options)
