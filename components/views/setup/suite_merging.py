"""More cases for a suite: from a file, or from another stored suite; ids that both have are asked about once."""

import streamlit as st

from components.data import suite_versions
from components.data.suite_drafts import SuiteFacts
from components.data.suite_versions import MergeFacts
from components.widgets import column_mapping, controls, problem_list, url
from metrics.presentation import format

SOURCES = {"file": "From a file", "suite": "From a stored suite"}
SHOWN = 8  # ids
HINT = "CSV, JSONL, Parquet, Excel, COCO JSON or a zip, with cases of the same task. Nothing is stored until you save."
ORIGIN_HELP = "Merged cases keep the name of the file or suite they came from in the metadata column origin."


def draw(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw the choice of more cases, what merging them would do, and the button that does it."""
    source = controls.choice("Where from", SOURCES, "more")
    found = _draw_file(suite, draft) if source == "file" else _draw_suites(suite, draft, facts)
    if found is None:
        return
    if found.problems:
        st.text(f"✗ Cannot be merged: {problem_list.words(found.problems)}")
        problem_list.draw_problems(found.problems, "merge")
        return
    same = f" · {format.count(found.same)} already here, skipped" if found.same else ""
    st.text(f"{found.name}: {format.plural(found.new, 'new case')}{same}", help=ORIGIN_HELP)
    conflicts = "skip"
    if found.conflicts:
        ids = ", ".join(format.shorten(id, 30) for id in found.conflicts[:SHOWN])
        more = f" and {format.count(len(found.conflicts) - SHOWN)} more" if len(found.conflicts) > SHOWN else ""
        st.text(f"{format.plural(len(found.conflicts), 'id')} in both, for different cases: {ids}{more}")
        conflicts = str(
            st.radio(
                "For these",
                list(suite_versions.CONFLICTS),
                format_func=suite_versions.CONFLICTS.__getitem__,
                key="merge-conflicts",
            )
        )
    total = found.new + (len(found.conflicts) if conflicts != "skip" else 0)
    label = f"Merge {format.plural(total, 'case')}" if total else "Nothing to merge"
    if st.button(label, type="primary", disabled=not total):
        token, refused = suite_versions.merge_into(suite, draft, found, conflicts)
        if refused:
            st.text(f"✗ {refused}")
            return
        st.session_state["suites-message"] = f"✓ {found.name} merged. Save the draft as a new suite to keep it."
        url.put(draft=token, view=None, make=None, more=None, add=None, amap=None, other=None, page=None)
        st.rerun()


def _draw_file(suite: str, draft: str) -> MergeFacts | None:
    token, fits = column_mapping.draw_cases_file("More test cases", "add", "amap", HINT) or ("", False)
    return suite_versions.upload_to_merge(suite, draft, token, url.params("amap"), url.params("read")) if fits else None


def _draw_suites(suite: str, draft: str, facts: SuiteFacts) -> MergeFacts | None:
    others = suite_versions.suites_of_task(suite)
    if not others:
        st.text(f"The workspace has no other suite of the task {facts.task}. Import a file, or upload another suite.")
        return None
    asked = url.param("other")
    start = list(others).index(asked) if asked in others else None
    other = st.selectbox(
        f"Suite ({len(others)})", list(others), start, others.__getitem__, placeholder="Choose a suite to merge"
    )
    url.put(other=other)
    return None if other is None else suite_versions.suite_to_merge(suite, draft, other)
