"""Fields of a case that are compared with ids or choices: the relevant context ids with grades, and the choices."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.widgets.tables import header
from components.widgets.text_list import text_list
from metrics.core.fields import FIELDS


def draw_ids(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the relevant ids and their grades as a table; return both columns."""
    ids = list(values.get("reference_context_ids") or [])
    grades = values.get("reference_grades") or [None] * len(ids)
    st.text(FIELDS["reference_context_ids"].title, help=FIELDS["reference_context_ids"].help)
    edited = st.data_editor(
        pd.DataFrame({"id": pd.Series(ids, dtype="string"), "grade": pd.Series(grades, dtype="Float64")}),
        hide_index=True, num_rows="dynamic", key=f"{key}-ids", height="content" if len(ids) < 8 else 300,
        column_config={
            "id": header("Id", 300),
            "grade": st.column_config.NumberColumn("Grade", width=90, help=FIELDS["reference_grades"].help),
        },
    )  # fmt: skip
    kept = edited[edited["id"].fillna("").str.strip() != ""]
    graded = kept["grade"].notna().any()
    return {
        "reference_context_ids": [str(one).strip() for one in kept["id"]],
        "reference_grades": [float(grade) for grade in kept["grade"].fillna(1.0)] if graded else None,
    }


def draw_choices(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the choices and which of them is correct; return both columns."""
    found = text_list("Choice", values.get("choices") or [], f"{key}-choices", FIELDS["choices"].help)
    start = values.get("correct_choice")
    correct = st.selectbox(
        FIELDS["correct_choice"].title, range(len(found)), start if start is not None and start < len(found) else None,
        format_func=lambda place: f"{_letter(place)}: {found[place]}", key=f"{key}-correct", placeholder="none",
    )  # fmt: skip
    return {"choices": found, "correct_choice": correct}


def _letter(place: int) -> str:
    return string.ascii_uppercase[place] if place < len(string.ascii_uppercase) else str(place + 1)
