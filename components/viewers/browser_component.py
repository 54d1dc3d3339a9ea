"""The parts of the studio that are drawn in the browser by a script of their own."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent
# More below shows as a fade until one has scrolled there; without an overflow the timeline is idle and nothing fades.
FADE = """@keyframes fade { 0%, 99% { mask-image: linear-gradient(#000 calc(100% - 28px), transparent); }
  100% { mask-image: none; } }
"""


@cache
def browser_component(name: str, css: str = "", shared: tuple[str, ...] = ()) -> Any:
    """Return the component made of NAME.html, NAME.css (and `css`) and NAME.js in this folder.

    The styles and scripts of the `shared` names come before its own, which use them.
    """
    html = _text(f"{name}.html")
    style, script = ("\n".join(_text(f"{each}.{kind}") for each in (*shared, name)) for kind in ("css", "js"))
    return st.components.v2.component(f"assay_{name}", html=html, css=FADE + style + css, js=script)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
