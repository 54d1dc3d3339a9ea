"""The parts of the studio that are drawn in the browser by a script of their own."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent


@cache
def browser_component(name: str, css: str = "") -> Any:
    """Return the component made of NAME.html, NAME.css (and `css`) and NAME.js in this folder."""
    html, style, script = (
        (FOLDER / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )  # fmt: skip
    return st.components.v2.component(f"assay_{name}", html=html, css=style + css, js=script)
