"""More cases for a suite: from a file, or from another stored suite; ids that both have are asked about once;
and cases that a suite has twice, that stand in its contexts, or that another suite has too.
"""

import streamlit as st

from components.data import evaluation_inputs, suite_versions, visitors
from components.data.suite_drafts import SuiteFacts
from components.data.suite_versions import CONFLICTS, MergeFacts
from components.widgets import column_mapping, controls, problem_list, url
from components.widgets.tables import draw_columns, header, numeric
from metrics.presentation import format

SOURCES = {"file": "From a file", "suite": "From a stored suite"}
MAX_IDS = 8  # ids
HINT = "CSV, JSONL, Parquet, Excel, COCO JSON or a zip, with cases of the same task. Nothing is stored until you save."
ORIGIN_HELP = "Merged cases keep the name of the file or suite they came from in the metadata column origin."
KINDS = {"same": "same words", "near": "nearly the same", "in context": "in a context"}
HELP = (
    "Same words: but for case and marks. Nearly the same: of the runs of three words in either question at least 80 % "
    "are in both. In a context: at least 80 % of a question's runs of three words stand in a context of another case."
)
LIKENESS = "Shared runs of three words: of both questions together, or of the question in the context."
SHOWN = 500


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
        ids = ", ".join(format.shorten(id, 30) for id in found.conflicts[:MAX_IDS])
        more = f" and {format.count(len(found.conflicts) - MAX_IDS)} more" if len(found.conflicts) > MAX_IDS else ""
        st.text(f"{format.plural(len(found.conflicts), 'id')} in both, for different cases: {ids}{more}")
        conflicts = str(
            st.radio("For these", list(CONFLICTS), format_func=CONFLICTS.__getitem__, key="merge-conflicts")
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


def draw_duplicates(suite: str, facts: SuiteFacts) -> None:
    """Draw the pairs of alike cases within a suite, or between it and another one, and the texts of the one clicked."""
    others = {one: name for one, name in evaluation_inputs.stored_suites().items() if one != suite}
    against = st.selectbox(
        "Compare with", [None, *others], format_func=lambda one: others[one] if one else "itself", key="against",
        help="Another part of the data, such as what was used for training or prompts: a case in both leaks.",
    )  # fmt: skip
    found = suite_versions.suite_duplicates(suite, against)
    if isinstance(found, str):
        st.text(f"✗ {found}")
        return
    if not found.pairs:
        st.text("✓ No two cases ask the same, or nearly so, and no question stands in another case's context.")
        return
    pairs = format.plural(len(found.pairs), "pair")
    worth = "" if against else (
        f" Of {format.count(facts.cases)} cases {format.count(found.independent)} are independent: put those that are "
        "alike into one group, so that intervals do not count them twice."
    )  # fmt: skip
    st.text(f"{pairs} of cases {'is' if len(found.pairs) == 1 else 'are'} alike.{worth}")
    shown = found.pairs[:SHOWN]
    columns = {
        "kind": (header("Alike", 150, HELP), [KINDS[one.kind] for one in shown]),
        "likeness": (numeric("Likeness", 90, LIKENESS), [f"{one.likeness:.2f}" for one in shown]),
        "case_id": (header("Case", 330), [one.case_id for one in shown]),
        "other": (header("Other case", 330), [one.other for one in shown]),
    }
    if (clicked := draw_columns(columns, f"duplicates-{suite}", 380)) is not None:
        url.put(pair=clicked)
    place = int(url.number("pair", 0, 0, len(found.pairs) - 1))
    left, right = st.columns(2)
    pair = found.pairs[place]
    sides = ((left, pair.case_id, suite), (right, pair.other, against or suite))
    for (column, case_id, of), text in zip(sides, pair.texts, strict=True):
        with column:
            where = {"case": case_id} if visitors.may("editor") else {"search": case_id}
            url.link(f"Open {case_id}", "suites", icon=":material/open_in_new:", suite=of, **where)
            st.text(text)
    if len(found.pairs) > SHOWN:
        st.caption(f"The {SHOWN} most alike are shown; `python -m metrics suites duplicates` prints all.")
