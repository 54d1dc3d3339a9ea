"""How the models of a run were asked, where Assay itself has asked them."""

import json

import streamlit as st

from components.data import run_reads


def draw_asked_models(run: str) -> None:
    """Draw a button that opens the descriptions of the models that were asked; nothing where answers were uploaded."""
    found = run_reads.targets(run)
    if not found:
        return
    with st.popover("How the models were asked", icon=":material/input:"):
        for name, target in found.items():
            st.text(name)
            st.code(json.dumps(target, ensure_ascii=False, indent=1), language=None, wrap_lines=True)
