"""Cases that a suite has twice, that stand in its contexts, or that another suite has too."""

import streamlit as st

from components.data import evaluation_inputs, suite_versions, visitors
from components.data.suite_drafts import SuiteFacts
from components.widgets import url
from components.widgets.tables import draw_columns, header, numeric
from metrics.presentation import format

KINDS = {"same": "same words", "near": "nearly the same", "in context": "in a context"}
HELP = (
    "Same words: but for case and marks. Nearly the same: of the runs of three words in either question at least 80 % "
    "are in both. In a context: at least 80 % of a question's runs of three words stand in a context of another case."
)
LIKENESS = "Shared runs of three words: of both questions together, or of the question in the context."
SHOWN = 500


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
    clicked = draw_columns(columns, f"duplicates-{suite}", 380)
    if clicked is not None:
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
