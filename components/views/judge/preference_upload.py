"""Uploading preferences made elsewhere: how a file was read, all its problems; and the sets that there are."""

from functools import partial

import streamlit as st

from components import data
from components.widgets import column_mapping, problem_list, uploads, url
from components.widgets.remove_button import remove_button
from metrics.presentation import format

NAME, PAIRS = "preferences", "preferences_map"
KINDS = tuple(kind for kind in data.TABLES if kind not in data.ARCHIVES)
CANONICAL = ("case_id", "model_a", "model_b", "pair", "winner", "rater", "criterion", "note")
WHO = {"people": "People", "judge": "A judge"}
EXAMPLE = "case_id,model_a,model_b,winner,rater\nc1,atlas,bolt,model_a,ann\nc2,atlas,bolt,tie (bothbad),ann"
WIDE = "case_id,pair,annotator1,annotator2\nc1,atlas_bolt,1,2\nc2,atlas_bolt,0,1"
HOW = {"page": "compared here by", "judge": "judged by", "upload": "file"}


def draw(run: str) -> None:
    """Draw the uploader, what the uploaded file holds, and the sets."""
    left, right = st.columns(2)
    with left:
        st.text("One preference per row: model_a, model_b, tie, tie (bothbad), or a model's name")
        st.code(EXAMPLE, language=None)
    with right:
        st.text("Or a column per rater: 1 the first model, 2 the second, 0 a tie")
        st.code(WIDE, language=None)
    tokens = uploads.draw_uploads(
        "Preferences", NAME, KINDS,
        hint="CSV, JSONL, JSON, Parquet or Excel: case_id, model_a, model_b and winner, or a column for each rater.",
    )  # fmt: skip
    uploads.draw_refused()
    for token in tokens:
        _draw_file(run, token)
    draw_sets(run)


def _draw_file(run: str, token: str) -> None:
    pairs, readings = tuple(url.params(PAIRS)), tuple(url.params("read"))
    by = st.segmented_control(
        "Preferred by", list(WHO), default="people", required=True, format_func=WHO.__getitem__, key="preferences-by"
    )
    a_first = st.checkbox(
        "The first model's answer was shown first (left)", key="preferences-a-first",
        help="Then position bias is measured. Judges' preferences count only in both orders if their order is known.",
    )  # fmt: skip
    column_mapping.draw_reading(data.inspect(token, "outputs", readings=readings))
    found = data.read_preferences(run, token, pairs, by, a_first, readings)
    if found.file is None:
        st.text(f"✗ {problem_list.words(found.problems)} in {found.name}; nothing was added")
        problem_list.draw_problems(found.problems, "preferences")
        if pairs and st.button("Reset the columns", type="tertiary", help="Reads the columns by their names again."):
            url.put(**{PAIRS: None})
            st.rerun()
        return
    file = found.file
    cases = len(file.table["case_id"].unique())
    winners = ", ".join(file.winner_columns)
    st.text(f"✓ {format.plural(len(file.table), 'preference')} on {format.plural(cases, 'case')}, in {winners}")
    for note in file.notes:
        st.text(note)
    if file.ignored:
        st.text(f"Ignored: {', '.join(file.ignored)}")
    read = (f"{name} ← {column}" if name != column else name for name, column in file.columns.items())
    with st.expander("Columns: " + " · ".join(read)):
        column_mapping.draw_mapping(file.columns, CANONICAL, file.file_columns, PAIRS, {"winner": "winner"})
    if st.button("Add these preferences", type="primary", icon=":material/add:"):
        data.add_preferences(run, file.table, file.file)
        url.put(**{NAME: None, PAIRS: None})
        st.rerun()


def draw_sets(run: str) -> None:
    """Draw the sets of preferences, each with a button to remove it."""
    for one in data.preference_sets(run):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            about = f"{format.plural(one.preferences, 'preference')}, for {', '.join(one.criteria)}"
            st.text(f"{HOW[one.kind]} {one.name} · {about} · {format.moment(one.changed)}", width="stretch")
            remove = partial(data.remove_preferences, run, one.id)
            remove_button(f"remove-{one.id}", format.plural(one.preferences, "preference"), remove)
