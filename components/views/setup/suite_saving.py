"""The edits of a draft: listed, undone, saved as a new suite, downloaded; and why an edit was refused."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from components.data import suite_drafts, visitors
from components.data.suite_drafts import SuiteFacts
from components.widgets import url
from components.widgets.controls import download
from metrics.core.errors import InputProblem
from metrics.core.input_problems import grouped
from metrics.presentation import format

SHOWN = 3  # edits
FILES = (
    "All cases with edits, ignoring filters. JSONL is exact; in CSV an apostrophe precedes text that a spreadsheet "
    "would run as a formula."
)


def open_suite(suite: str, message: str = "", view: str | None = None) -> None:
    """Show another suite: query parameters about the old one's draft and filters are dropped."""
    st.query_params.clear()
    url.put(suite=suite, view=view, make=None)
    st.session_state["suites-message"] = message


def draw_problems(problems: Sequence[InputProblem | str]) -> None:
    """Draw all that is wrong with an edit."""
    lines = [problem for problem in problems if isinstance(problem, str)]
    lines += [str(group) for group in grouped(each for each in problems if not isinstance(each, str))]
    for line in lines[:8]:
        st.text(f"✗ {line}")
    if len(lines) > 8:
        st.text(f"… and {format.plural(len(lines) - 8, 'more problem', 'more problems')}")


def draw_save(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the edits of the draft with undo and save; without edits, the way to an evaluation."""
    with st.container(border=True, gap="small"):
        if facts.edits and visitors.may("editor"):
            hidden = len(facts.edits) - SHOWN
            lines = ([f"{hidden} earlier"] if hidden > 0 else []) + list(facts.edits[-SHOWN:])
            st.text("\n".join(lines))
            with st.container(horizontal=True):
                if st.button("Undo", icon=":material/undo:", help="Reverts the last edit."):
                    url.put(draft=suite_drafts.undo_edit(suite, draft) or None, page=None)
                    st.rerun()
                if st.button("Discard", type="tertiary", help="Reverts all edits; the stored suite is unchanged."):
                    url.put(draft=None, page=None)
                    st.rerun()
            name = st.text_input("Name of the new suite", f"{facts.name}, edited", key=f"save-name-{suite}").strip()
            if st.button("Save as a new suite", type="primary", disabled=not name, width="stretch"):
                open_suite(*suite_drafts.save_draft(suite, draft, name))
                st.rerun()
        elif visitors.may("editor") and st.button(
            "Evaluate this suite", type="primary", icon=":material/arrow_forward:", width="stretch"
        ):
            url.go("evaluate", **{"from": "stored", "suite": suite})
        if facts.textual:
            with st.container(horizontal=True):
                for kind, mime in {"jsonl": "application/x-ndjson", "csv": "text/csv"}.items():
                    data, file = partial(suite_drafts.draft_bytes, suite, draft, kind), f"{facts.name}.{kind}"
                    download(kind.upper(), data, file, f"save-{kind}", mime=mime, help=FILES)
