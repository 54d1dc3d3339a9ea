"""Uploading preferences made elsewhere, and the sets of preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import given_files, preferences
from components.views.judge import given_rows
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import GivenFile


WHO = {"people": "People", "judge": "A judge"}
EXAMPLE = "case_id,model_a,model_b,winner,rater\nc1,atlas,bolt,model_a,ann\nc2,atlas,bolt,tie (bothbad),ann"
WIDE = "case_id,pair,annotator1,annotator2\nc1,atlas_bolt,1,2\nc2,atlas_bolt,0,1"


def draw(run: str) -> None:
    """Draw the uploader, what the uploaded file holds, and the sets."""
    left, right = st.columns(2)
    with left:
        st.text("One preference per row: model_a, model_b, tie, tie (bothbad), or a model's name")
        st.code(EXAMPLE, language=None)
    with right:
        st.text("Or a column per rater: 1 the first model, 2 the second, 0 a tie")
        st.code(WIDE, language=None)
    given_rows.draw(run, GIVEN)
    given_rows.draw_sets(run, GIVEN)


def _choose() -> dict[str, Any]:
    by = st.segmented_control(
        "Preferred by", list(WHO), default="people", required=True, format_func=WHO.__getitem__, key="preferences-by"
    )
    a_first = st.checkbox(
        "The first model's answer was shown first (left)",
        key="preferences-a-first",
        help="Then position bias is measured. Judges' preferences count only in both orders if their order is known.",
    )
    return {"by": by, "a_first": a_first}


def _describe_file(file: GivenFile) -> str:
    cases = len(file.table["case_id"].unique())
    return f"on {format.plural(cases, 'case')}, in {', '.join(file.value_columns)}"


GIVEN = given_rows.Given(
    "preference",
    "Preferences",
    "CSV, JSONL, JSON, Parquet or Excel: case_id, model_a, model_b and winner, or a column for each rater.",
    ("case_id", "model_a", "model_b", "pair", "winner", "rater", "criterion", "note"),
    "winner",
    "compared here by",
    _choose,
    given_files.read_preferences,
    _describe_file,
    preferences.add_preferences,
    preferences.remove_preferences,
    preferences.preference_sets,
)
