"""The parts of the studio that are drawn in the browser by a script of their own."""

import json
from collections.abc import Mapping, Sequence
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
    name: str,
    data: Mapping[str, Any],
    key: str,
    css: str = "",
    shared: tuple[str, ...] = (),
    sends: Sequence[str] = (),
    **options: Any,
) -> Any:
    """Draw the data by a viewer's script and return its state, to be read by `text_of` and `texts_of`.

    `sends` names what the script sends back, `options` are those of the component.
    """
    # as bytes: Streamlit looks into dicts for data frames
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    changes = {f"on_{name}_change": _nothing for name in sends}
    return browser_component(name, css, shared)(key=key, data=packed, **changes, **options)


def _nothing() -> None:
    """Streamlit keeps what a script sends only where a callback is given; it is read from the component's state."""


def text_of(sent: object) -> str | None:
    """Return what a script sent, None where it is no text: a browser can send anything."""
    return sent if isinstance(sent, str) else None


def texts_of(sent: object) -> list[str] | None:
    """Return the texts of a list that a script sent, None where it is none."""
    return [one for one in sent if isinstance(one, str)] if isinstance(sent, list) else None
